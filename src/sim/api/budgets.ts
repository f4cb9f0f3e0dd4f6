import { sameValue } from '../../lib/hash.ts';
import { type Core, objectsOf, serverItself } from './core.ts';
import { count, type Obj, stamp, type Tree, tree, trees } from './model.ts';
import { picks } from './selector.ts';
import type { Change } from './store.ts';
import { change } from './writing.ts';

/** After so long an eviction that did not happen is given back. */
const longestEvictionMs = 2 * 60_000;

export const isReady = ({ status }: Obj): boolean =>
  trees(status?.['conditions']).some(({ type, status }) => type === 'Ready' && status === 'True');

export const budgetsOf = (core: Core, { metadata }: Obj): Obj[] =>
  objectsOf(core, 'PodDisruptionBudget', metadata.namespace).filter(({ spec }) =>
    picks(spec?.['selector'], metadata.labels ?? {}),
  );

const matters = new Set(['Pod', 'PodDisruptionBudget', 'ReplicaSet', 'Deployment', 'StatefulSet']);

/** Keeps every budget's status as its pods are now. */
export function tendBudgets(core: Core, { row, before, after }: Change): void {
  const namespace = (after ?? before)?.metadata.namespace;
  if (!matters.has(row.kind) || namespace === undefined) return;
  for (const budget of objectsOf(core, 'PodDisruptionBudget', namespace)) {
    const status = statusOf(core, budget);
    if (!sameValue(budget.status, status)) writeBudget(core, budget, status);
  }
}

export function writeBudget(core: Core, budget: Obj, status: Tree): void {
  const { name, namespace } = budget.metadata;
  const target = { row: core.rowOf('PodDisruptionBudget')!, namespace, name, subresource: 'status' };
  change(core, target, budget, { ...budget, status }, serverItself);
}

function statusOf(core: Core, { metadata, spec = {}, status = {} }: Obj): Tree {
  const nowMs = core.clock.now();
  const pods = objectsOf(core, 'Pod', metadata.namespace).filter((pod) =>
    picks(spec['selector'], pod.metadata.labels ?? {}),
  );
  const evicted = Object.entries(tree(status['disruptedPods'])).filter(([name, at]) => {
    const pod = pods.find((one) => one.metadata.name === name);
    return pod && !pod.metadata.deletionTimestamp && nowMs - Date.parse(String(at)) < longestEvictionMs;
  });
  const isLeaving = ({ metadata: { name, deletionTimestamp } }: Obj): boolean =>
    deletionTimestamp !== undefined || evicted.some(([other]) => other === name);
  const healthy = pods.filter((pod) => !isLeaving(pod) && isReady(pod)).length;
  const { expected, desired } = demandsOf(core, spec, pods);
  const allowed = expected > 0 ? Math.max(healthy - desired, 0) : 0;
  return {
    observedGeneration: metadata.generation,
    ...(evicted.length > 0 && { disruptedPods: Object.fromEntries(evicted) }),
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: [condition(status, allowed > 0, metadata.generation, stamp(nowMs))],
  };
}

function condition(status: Tree, isAllowed: boolean, observedGeneration: number | undefined, now: string): Tree {
  const [before] = trees(status['conditions']);
  const next = isAllowed ? 'True' : 'False';
  return {
    type: 'DisruptionAllowed',
    status: next,
    observedGeneration,
    lastTransitionTime: before?.['status'] === next ? before['lastTransitionTime'] : now,
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
}

/** A plain minimum counts the pods there are; all else counts those that their controllers want. */
function demandsOf(core: Core, { minAvailable, maxUnavailable }: Tree, pods: readonly Obj[]) {
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desired: minAvailable };
  }
  const expected = wantedBy(core, pods);
  const part = (value: unknown): number =>
    typeof value === 'string' ? Math.ceil((Number.parseInt(value, 10) * expected) / 100) : count(value);
  if (maxUnavailable === undefined) return { expected, desired: part(minAvailable) };
  return { expected, desired: Math.max(expected - part(maxUnavailable), 0) };
}

/** Pods that nobody controls do not count. */
function wantedBy(core: Core, pods: readonly Obj[]): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const top = controllerOf(core, controllerOf(core, pod)) ?? controllerOf(core, pod);
    if (top) wanted.set(top.metadata.uid, count(top.spec?.['replicas'], 1));
  }
  return [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function controllerOf(core: Core, object: Obj | undefined): Obj | undefined {
  const owner = object?.metadata.ownerReferences?.find(({ controller }) => controller);
  const row = owner && core.rowOf(owner.kind);
  const found = row && core.store.get(row, object?.metadata.namespace, owner.name);
  return found?.metadata.uid === owner?.uid ? found : undefined;
}
