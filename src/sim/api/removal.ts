import type { OwnerReference } from '../../kube/api.ts';
import { sameValue } from '../../lib/hash.ts';
import type { KindRow } from '../kinds/kinds.ts';
import { parseJson } from './decoding.ts';
import { conflict, invalid, problem, unsupported } from './http-refusals.ts';
import { tidy } from './metadata.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  count,
  type Meta,
  type Obj,
  type ServerCore,
  stamp,
  text,
  type Tree,
  tree,
} from './model.ts';
import type { StoredChange } from './object-store.ts';

export interface RemovalOptions {
  dryRun: boolean;
  gracePeriodSeconds?: number;
  preconditions: { uid?: string; resourceVersion?: string };
  policy?: 'Background' | 'Orphan';
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;
const subject = { kind: 'DeleteOptions', group: 'meta.k8s.io', name: '' };

/** Reads the options from the body alone if there is one, as the real server does. */
export function deleteOptionsOf({ body: raw, query }: ApiRequest): RemovalOptions {
  const body = raw ? tree(parseJson(raw, (why) => `couldn't get version/kind; json parse error: ${why}`)) : undefined;
  return deleteOptionsIn(body ?? fromQuery(query));
}

function fromQuery(query: ApiRequest['query']): Tree {
  return {
    ...(query['dryRun'] && { dryRun: [query['dryRun']] }),
    ...(query['gracePeriodSeconds'] && { gracePeriodSeconds: Number(query['gracePeriodSeconds']) }),
    ...(query['propagationPolicy'] && { propagationPolicy: query['propagationPolicy'] }),
  };
}

export function deleteOptionsIn(asked: Tree): RemovalOptions {
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
  const values = Array.isArray(asked) ? (asked as unknown[]) : asked === undefined ? [] : [asked];
  if (values.some((value) => value !== 'All')) throw invalid(subject, [unsupported('dryRun', values, ['All'])]);
  return values.length > 0;
}

export function mustBeTheOne(
  { kind }: KindRow,
  { metadata }: Obj,
  { uid, resourceVersion }: RemovalOptions['preconditions'],
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

/** Deletes one object, or marks it as being deleted. `collect` takes care of its dependents. */
export function remove(core: ServerCore, row: KindRow, current: Obj, options: RemovalOptions): Obj {
  mustBeTheOne(row, current, options.preconditions);
  const ended = withEnd(core, row, current, options);
  const waits = ended.metadata.deletionGracePeriodSeconds! > 0 || (ended.metadata.finalizers ?? []).length > 0;
  if (options.dryRun) return ended;
  // The real server writes the end of a pod before it removes the pod.
  if (!waits) return core.store.remove(row, row.kind === 'Pod' ? core.store.put(row, ended) : current);
  const { deletionTimestamp, deletionGracePeriodSeconds } = current.metadata;
  const isNews = !deletionTimestamp || deletionGracePeriodSeconds! > ended.metadata.deletionGracePeriodSeconds!;
  return isNews ? core.store.put(row, ended) : current;
}

/** The object with the time of its end: now, unless a kubelet has to stop it first. */
function withEnd({ clock }: ServerCore, row: KindRow, current: Obj, { gracePeriodSeconds }: RemovalOptions): Obj {
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

/** The answer to a DELETE: the object while it still exists, otherwise a Status. */
export function removedAnswer(row: KindRow, before: Obj, after: Obj, isThere: boolean): ApiAnswer {
  if (isThere || row.kind === 'Pod') return { status: 200, body: after };
  const { name, uid } = before.metadata;
  const details = { name, ...(row.group && { group: row.group }), kind: row.plural, uid };
  return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

const background = { dryRun: false, preconditions: {}, policy: 'Background' } as const;

/** Garbage collection: an object is deleted with its last owner, and also if its owners never existed. */
export function collect(core: ServerCore, { row, before, after }: StoredChange): void {
  if (before && !after) for (const [of, object] of dependentsOf(core, before)) review(core, of, object);
  else if (after && !sameValue(before?.metadata.ownerReferences, after.metadata.ownerReferences))
    review(core, row, after);
}

/** The objects that name this one as an owner. */
function* dependentsOf({ store, rows }: ServerCore, { metadata: { uid, namespace } }: Obj): Generator<[KindRow, Obj]> {
  for (const row of rows) {
    if (row.review) continue;
    for (const object of store.all(row, row.namespaced ? namespace : undefined)) {
      if (object.metadata.ownerReferences?.some((owner) => owner.uid === uid)) yield [row, object];
    }
  }
}

function review(core: ServerCore, row: KindRow, object: Obj): void {
  if (row.kind === 'Namespace') return; // namespace-lifecycle.ts ends it
  const owners = object.metadata.ownerReferences ?? [];
  const remaining = owners.filter((owner) => !isGone(core, owner, object.metadata.namespace));
  if (owners.length === remaining.length) return;
  if (remaining.length > 0) core.store.put(row, withOwners(object, remaining));
  else if (!object.metadata.deletionTimestamp) remove(core, row, object, background);
}

/** An owner of a kind that is not served counts as present. */
function isGone({ store, rowOf }: ServerCore, owner: OwnerReference, namespace: string | undefined): boolean {
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
  const row = rowOf(owner.kind, group);
  if (!row) return false;
  return store.get(row, row.namespaced ? namespace : undefined, owner.name)?.metadata.uid !== owner.uid;
}

const withOwners = (object: Obj, ownerReferences: OwnerReference[]): Obj => ({
  ...object,
  metadata: tidy({ ...object.metadata, ownerReferences }),
});

/** The dependents stay, without the reference to this owner. */
export function orphan(core: ServerCore, owner: Obj): void {
  for (const [row, object] of dependentsOf(core, owner)) {
    const remaining = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    core.store.put(row, withOwners(object, remaining));
  }
}
