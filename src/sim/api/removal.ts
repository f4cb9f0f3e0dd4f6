import type { Core } from './core.ts';
import { parseJson } from './decode.ts';
import type { KindRow } from './kinds.ts';
import { type Answer, count, type Meta, type Obj, type Request, stamp, text, type Tree, tree } from './model.ts';
import { conflict, invalid, problem, unsupported } from './refusal.ts';

export interface DeleteOptions {
  dryRun: boolean;
  gracePeriodSeconds?: number;
  preconditions: { uid?: string; resourceVersion?: string };
  policy?: 'Background' | 'Orphan';
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;
const subject = { kind: 'DeleteOptions', group: 'meta.k8s.io', name: '' };

/** From the body alone, once there is one: so does the real one. */
export function deleteOptionsOf({ body: raw, query }: Request): DeleteOptions {
  const body = raw ? tree(parseJson(raw, (why) => `couldn't get version/kind; json parse error: ${why}`)) : undefined;
  return deleteOptionsIn(body ?? fromQuery(query));
}

function fromQuery(query: Request['query']): Tree {
  return {
    ...(query['dryRun'] && { dryRun: [query['dryRun']] }),
    ...(query['gracePeriodSeconds'] && { gracePeriodSeconds: Number(query['gracePeriodSeconds']) }),
    ...(query['propagationPolicy'] && { propagationPolicy: query['propagationPolicy'] }),
  };
}

export function deleteOptionsIn(asked: Tree): DeleteOptions {
  const { uid, resourceVersion } = tree(asked['preconditions']);
  const policy = policies.find((one) => one === asked['propagationPolicy']);
  if (asked['propagationPolicy'] && !policy)
    throw invalid(subject, [unsupported('propagationPolicy', asked['propagationPolicy'], [...policies, 'nil'])]);
  if (policy === 'Foreground')
    throw invalid(subject, [problem('propagationPolicy', 'Forbidden', 'the simulated API server has no Foreground')]);
  return {
    dryRun: isDryRun(asked['dryRun'], subject),
    ...(typeof asked['gracePeriodSeconds'] === 'number' && { gracePeriodSeconds: asked['gracePeriodSeconds'] }),
    preconditions: {
      ...(text(uid) && { uid: text(uid) }),
      ...(text(resourceVersion) && { resourceVersion: text(resourceVersion) }),
    },
    ...(policy && { policy }),
  };
}

export function isDryRun(asked: unknown, subject: { kind: string; group: string; name: string }): boolean {
  const words = Array.isArray(asked) ? (asked as unknown[]) : asked === undefined ? [] : [asked];
  if (words.some((word) => word !== 'All')) throw invalid(subject, [unsupported('dryRun', words, ['All'])]);
  return words.length > 0;
}

export function mustBeTheOne(
  { kind }: KindRow,
  { metadata }: Obj,
  { uid, resourceVersion }: DeleteOptions['preconditions'],
): void {
  const { name } = metadata;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(kind, name, why);
  }
  if (resourceVersion === undefined || resourceVersion === metadata.resourceVersion) return;
  const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
  throw conflict(kind, name, why);
}

/** Deletes one object, or begins to. What depends on it is the collector's business. */
export function remove(core: Core, row: KindRow, current: Obj, options: DeleteOptions): Obj {
  mustBeTheOne(row, current, options.preconditions);
  const ended = withEnd(core, row, current, options);
  const waits = ended.metadata.deletionGracePeriodSeconds! > 0 || (ended.metadata.finalizers ?? []).length > 0;
  if (options.dryRun) return ended;
  // Of a pod the real one writes down its end before it is gone.
  if (!waits) return core.store.remove(row, row.kind === 'Pod' ? core.store.put(row, ended) : current);
  const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
  const isNews = !deletionTimestamp || deletionGracePeriodSeconds! > ended.metadata.deletionGracePeriodSeconds!;
  return isNews ? core.store.put(row, ended) : current;
}

/** When it will be over: at once, unless a kubelet has to stop it first. */
function withEnd({ clock }: Core, row: KindRow, current: Obj, { gracePeriodSeconds }: DeleteOptions): Obj {
  const { metadata } = current;
  const seconds = graceOf(row, current, gracePeriodSeconds);
  const askedAtMs = metadata.deletionTimestamp
    ? Date.parse(metadata.deletionTimestamp) - count(metadata.deletionGracePeriodSeconds) * 1000
    : clock.now();
  const next: Meta = {
    ...metadata,
    ...(metadata.generation && !metadata.deletionTimestamp && { generation: metadata.generation + 1 }),
    deletionTimestamp: stamp(askedAtMs + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
  };
  return { ...current, metadata: next };
}

const defaultGraceSeconds = 30;

function graceOf({ kind }: KindRow, { metadata, spec, status }: Obj, asked: number | undefined): number {
  const isRunning = kind === 'Pod' && spec?.['nodeName'] && !['Succeeded', 'Failed'].includes(text(status?.['phase']));
  if (!isRunning) return 0;
  const wanted = Math.max(asked ?? count(spec?.['terminationGracePeriodSeconds'], defaultGraceSeconds), 0);
  return metadata.deletionTimestamp ? Math.min(wanted, count(metadata.deletionGracePeriodSeconds)) : wanted;
}

/** What a DELETE answers: the object while it is still there, or a word about its end. */
export function removedAnswer(row: KindRow, before: Obj, after: Obj, isThere: boolean): Answer {
  if (isThere || row.kind === 'Pod') return { status: 200, body: after };
  const { name, uid } = before.metadata;
  const details = { name, ...(row.group && { group: row.group }), kind: row.plural, uid };
  return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}
