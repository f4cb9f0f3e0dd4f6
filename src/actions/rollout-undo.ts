import { z } from 'zod';
import type { KubeObject } from '../kube/api.ts';
import { controllerOf } from '../kube/raw.ts';
import { objectName, uid } from '../kube/remediation.ts';
import { legibleAt, type Position, withoutSecrets } from '../kube/template-secrets.ts';
import { type PodTemplate, viewDeployment, viewReplicaSet } from '../kube/views.ts';
import { hashOf, sameValue } from '../lib/hash.ts';
import { line, plain } from '../lib/text.ts';
import { type Action, type ActionContext, longestDiff, longestSnapshot, no, rolledOutKinds } from './action.ts';
import { offLimits } from './ownership.ts';
import { readInTheWay, rolloutRights, shortKind, wouldNotRollOut } from './rollout.ts';
import { essence, mergeTemplate, withoutRestart } from './template.ts';
import {
  createMemory,
  markedPatch,
  readMeant,
  refOf,
  targetGone,
  type LiveWorkload,
  type WorkloadTarget,
} from './workload-patch.ts';

interface Kept {
  revision: number;
  template: PodTemplate;
}

interface ReplicaSet extends KubeObject {
  spec: { template: PodTemplate };
}

interface ControllerRevision extends KubeObject {
  revision?: number;
  /** A patch of its owner that contains only the template. */
  data?: { spec?: { template?: PodTemplate & { $patch?: string } } };
}

/** The revisions that are still kept: a Deployment's in ReplicaSets, the others' in ControllerRevisions. */
async function readRevisions({ kind, uid }: WorkloadTarget, { reader, namespace }: ActionContext) {
  const isIts = ({ metadata }: KubeObject): boolean => controllerOf(metadata)?.uid === uid;
  if (kind === 'Deployment') {
    const sets = await reader.list<ReplicaSet>('ReplicaSet', namespace);
    return sets
      .filter(isIts)
      .map((set): Kept => ({ revision: viewReplicaSet(set)?.revision ?? 0, template: set.spec.template }));
  }
  const all = await reader.list<ControllerRevision>('ControllerRevision', namespace);
  return all.filter(isIts).flatMap(({ revision = 0, data }): Kept[] => {
    const { $patch: _, ...template } = data?.spec?.template ?? {};
    return template.spec ? [{ revision, template }] : [];
  });
}

/** undefined if there is none, or more than one, because we do not guess which was meant. */
function templateOf(kept: readonly Kept[], wanted: number): PodTemplate | undefined {
  const [only, ...others] = kept.filter(({ revision }) => revision === wanted);
  return others.length === 0 ? only?.template : undefined;
}

/** The number of the live revision; 0 if its controller has not assigned one yet. */
function currentRevision(kind: string, live: LiveWorkload, kept: readonly Kept[]): number {
  if (kind === 'Deployment') return viewDeployment(live)?.revision ?? 0;
  const own = kept.filter(({ template }) => sameValue(essence(template), essence(live.spec.template)));
  return Math.max(0, ...own.map(({ revision }) => revision));
}

/** The values of a template by the path that people read, each with its position. */
type Leaves = Map<string, { value: unknown; at: Position }>;

const linesShown = 20;
const valueLength = 120;
const none = '(none)';

/** Lists of named things (containers, env, volumes) are compared by name, so that moving one is not a change. */
function collect(value: unknown, path: string, at: Position, into: Leaves): Leaves {
  if (value === null || value === undefined) return into;
  if (typeof value !== 'object') return into.set(path, { value, at });
  const named =
    Array.isArray(value) && value.every((item) => typeof (item as { name?: unknown } | null)?.name === 'string');
  for (const [key, inner] of Object.entries(value)) {
    const step = named ? (inner as { name: string }).name : key;
    const separator = path === '' || path.endsWith(' ') ? '' : '.';
    collect(named ? omitName(inner as object) : inner, `${path}${separator}${step}`, [...at, key], into);
  }
  return into;
}

const omitName = (item: object): object => Object.fromEntries(Object.entries(item).filter(([key]) => key !== 'name'));

function leavesOf({ metadata, spec = {} }: PodTemplate): Leaves {
  const leaves: Leaves = new Map();
  const { containers = [], initContainers = [], ...rest } = spec;
  for (const container of [...(initContainers as { name: string }[]), ...containers]) {
    leaves.set(`${container.name} `, { value: 'container', at: ['kind'] });
    collect(omitName(container), `${container.name} `, ['spec', 'containers', '0'], leaves);
  }
  collect(rest, 'pod ', ['spec'], leaves);
  collect(metadata?.labels, 'pod label ', ['metadata', 'labels'], leaves);
  collect(metadata?.annotations, 'pod annotation ', ['metadata', 'annotations'], leaves);
  return leaves;
}

/** undefined if it may not be read: this text goes to a chat. */
function shown(leaf: { value: unknown; at: Position } | undefined): string | undefined {
  if (leaf === undefined) return none;
  const text = legibleAt(leaf.at, leaf.value);
  return text === undefined ? undefined : line(text, valueLength) || '""';
}

function sentence(path: string, before: Leaves, after: Leaves): string {
  const name = line(path, 160);
  const [from, to] = [before.get(path), after.get(path)].map(shown);
  // Two values that differ only in what is hidden must not look like no change.
  if (from !== undefined && to !== undefined && from !== to) return `${name}  ${from} → ${to}`;
  const what = !before.has(path) ? 'added' : !after.has(path) ? 'removed' : 'changed';
  return `${name.replace(/\.value$/, '')}  ${what} (value not shown)`;
}

const isImage = (path: string): boolean => path.endsWith(' image');

/** For people: one line per change, images first, and never more than fits on a phone. */
export function templateDiff(current: PodTemplate, next: PodTemplate): string {
  const before = leavesOf(current);
  const after = leavesOf(next);
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path)?.value !== after.get(path)?.value,
  );
  paths.sort((a, b) => Number(isImage(b)) - Number(isImage(a)) || (a < b ? -1 : 1));
  const lines = paths.map((path) => sentence(path, before, after));
  const more = lines.length > linesShown ? [`and ${lines.length - linesShown} more changes`] : [];
  return plain([...lines.slice(0, linesShown), ...more].join('\n'), 8192);
}

const params = z.strictObject({
  kind: z.enum(rolledOutKinds),
  name: objectName,
  uid,
  toRevision: z.number().int().min(1),
});
type Params = z.infer<typeof params>;

/** Enough to compare and to read. Not everyone who may read Remediations may read what templates hold. */
const memory = createMemory<Params>(
  (params) => params,
  ({ spec: { template } }) => ({ exactly: { template }, readable: { template: withoutSecrets(template) } }),
);

/**
 * Covers both the old and the new template: an old revision's template can be edited, and nobody was shown that edit.
 */
const targetHash = (uid: string, current: PodTemplate, next: PodTemplate): string =>
  hashOf({ uid, template: current, next: essence(next) });

/** A revision that is not kept cannot be restored, and the snapshot has no free text of the template. */
function putBack({ kind, name }: Params, namespace: string, { spec }: LiveWorkload, revision: number): string {
  if (spec.revisionHistoryLimit === 0)
    return '# what it runs now will not be kept (revisionHistoryLimit is 0): to have it back, apply its manifest again';
  const to = revision > 0 ? ` --to-revision=${revision}` : '';
  return `kubectl -n ${namespace} rollout undo ${shortKind[kind]}/${name}${to}`;
}

export const rolloutUndo: Action<Params> = {
  type: 'RolloutUndo',
  block: 'rolloutUndo',
  params,
  role: 'tapfix-writer-workloads',
  rights: rolloutRights,
  noun: 'undo',
  target: ({ kind, name, uid }) => ({ kind, name, uid }),
  summary: ({ name, toRevision }) => `undo the rollout of ${name}, back to revision ${toRevision}`,
  consequence: ({ name, toRevision }) => `undo ${name} to revision ${toRevision}`,
  inspect: memory.inspect,
  snapshot: memory.snapshot,

  async prepare(params, context) {
    const { kind, name, toRevision } = params;
    const live = await readMeant(params, context);
    if (!live) return targetGone(params);
    const refusal = wouldNotRollOut(params, live, 'an undo') ?? offLimits(`${kind} ${name}`, live.metadata);
    if (refusal) return refusal;
    const kept = await readRevisions(params, context);
    const older = templateOf(kept, toRevision);
    if (!older) return no('RevisionGone', `Revision ${toRevision} of ${name} is no longer kept.`);
    const current = live.spec.template;
    const next = mergeTemplate(older, current);
    if (sameValue(withoutRestart(next), withoutRestart(current))) {
      return no('AlreadyThere', `${name} already runs what revision ${toRevision} ran.`);
    }
    const before = memory.remember(live, params);
    if (before.length > longestSnapshot)
      return no('TooLarge', `The template of ${name} is too large to keep a copy of.`);
    const inTheWay = await readInTheWay(params, live, context);
    if ('ok' in inTheWay) return inTheWay;
    return {
      ok: true,
      targetHash: targetHash(params.uid, current, next),
      before,
      diff: plain([templateDiff(current, next), ...inTheWay.lines].join('\n'), longestDiff),
      undo: putBack(params, context.namespace, live, currentRevision(kind, live, kept)),
      write: {
        do: 'patch',
        ref: refOf(params, context.namespace),
        body: markedPatch(live, [{ op: 'replace', path: '/spec/template', value: next }], context.fixUid),
      },
      blocked: inTheWay.pods,
    };
  },
};
