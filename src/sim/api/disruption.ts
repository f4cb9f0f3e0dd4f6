import { sameValue } from '../../lib/hash.ts';
import { ApiRefusal, badRequest, internal, success } from './http-refusals.ts';
import {
  type ApiAnswer,
  count,
  type Obj,
  objectsOf,
  type RequestTarget,
  type ServerCore,
  serverItself,
  stamp,
  text,
  type Tree,
  tree,
  trees,
} from './model.ts';
import type { StoredChange } from './object-store.ts';
import { deleteOptionsIn, mustBeTheOne, remove } from './removal.ts';
import { picks } from './selectors.ts';
import { change, mustFind } from './writing.ts';

/** Deletes a pod, if its disruption budget allows it. */
export function evict(core: ServerCore, target: RequestTarget, body: Tree, isDryRun: boolean): ApiAnswer {
  const { name } = tree(body['metadata']);
  if (name !== undefined && name !== target.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const pod = mustFind(core, target);
  const asked = deleteOptionsIn(tree(body['deleteOptions']));
  const options = { ...asked, dryRun: asked.dryRun || isDryRun };
  if (!needsNoBudget(pod)) mustBeWithinBudget(core, pod, options.dryRun);
  mustBeTheOne(target.row, pod, options.preconditions);
  const marked = options.dryRun ? pod : markAsDisrupted(core, target, pod);
  // The mark is a write of its own, so the caller's resourceVersion is no longer the pod's.
  remove(core, target.row, marked, { ...options, preconditions: {} });
  return success(201);
}

/** A pod that never ran, has ended or is already being deleted serves nobody. */
const needsNoBudget = ({ metadata, status }: Obj): boolean =>
  metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(text(status?.['phase']));

function mustBeWithinBudget(core: ServerCore, pod: Obj, dryRun: boolean): void {
  const [budget, ...others] = budgetsOf(core, pod);
  if (!budget) return;
  if (others.length > 0)
    throw internal('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  const { spec = {}, status = {} } = budget;
  const [healthy, desired] = [count(status['currentHealthy']), count(status['desiredHealthy'])];
  const mayGoUnhealthy = spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow' || (healthy >= desired && desired > 0);
  if (!isReady(pod) && mayGoUnhealthy) return;
  const allowed = count(status['disruptionsAllowed']);
  if (allowed === 0) throw exhausted(budget.metadata.name, healthy, desired);
  if (dryRun) return;
  const disruptedPods = { ...tree(status['disruptedPods']), [pod.metadata.name]: stamp(core.clock.now()) };
  writeBudget(core, budget, { ...status, disruptionsAllowed: allowed - 1, disruptedPods });
}

function exhausted(name: string, healthy: number, desired: number): ApiRefusal {
  const why =
    healthy <= desired
      ? `needs ${desired} healthy pods and has ${healthy} currently`
      : 'does not allow evicting pods currently';
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: 'DisruptionBudget', message: `The disruption budget ${name} ${why}` }];
  return new ApiRefusal(429, 'TooManyRequests', message, { causes });
}

function markAsDisrupted(core: ServerCore, target: RequestTarget, pod: Obj): Obj {
  const mark = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: stamp(core.clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const conditions = [...trees(pod.status?.['conditions']).filter(({ type }) => type !== mark.type), mark];
  const to = { ...target, subresource: 'status' };
  return change(core, to, pod, { ...pod, status: { ...pod.status, conditions } }, serverItself);
}

/** An eviction that did not happen within this time no longer counts against the budget. */
const longestEvictionMs = 2 * 60_000;

const isReady = ({ status }: Obj): boolean =>
  trees(status?.['conditions']).some(({ type, status }) => type === 'Ready' && status === 'True');

const budgetsOf = (core: ServerCore, { metadata }: Obj): Obj[] =>
  objectsOf(core, 'PodDisruptionBudget', metadata.namespace).filter(({ spec }) =>
    picks(spec?.['selector'], metadata.labels ?? {}),
  );

const matters = new Set(['Pod', 'PodDisruptionBudget', 'ReplicaSet', 'Deployment', 'StatefulSet']);

/** Updates the status of the budgets in the namespace of a change. */
export function tendBudgets(core: ServerCore, { row, before, after }: StoredChange): void {
  const namespace = (after ?? before)?.metadata.namespace;
  if (!matters.has(row.kind) || namespace === undefined) return;
  for (const budget of objectsOf(core, 'PodDisruptionBudget', namespace)) {
    const status = statusOf(core, budget);
    if (!sameValue(budget.status, status)) writeBudget(core, budget, status);
  }
}

function writeBudget(core: ServerCore, budget: Obj, status: Tree): void {
  const { name, namespace } = budget.metadata;
  const target = { row: core.rowOf('PodDisruptionBudget')!, namespace, name, subresource: 'status' };
  change(core, target, budget, { ...budget, status }, serverItself);
}

function statusOf(core: ServerCore, { metadata, spec = {}, status = {} }: Obj): Tree {
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

/** A minimum given as a number counts the existing pods; every other demand counts the pods that their controllers want. */
function demandsOf(core: ServerCore, { minAvailable, maxUnavailable }: Tree, pods: readonly Obj[]) {
  if (maxUnavailable === undefined && typeof minAvailable === 'number') {
    return { expected: pods.length, desired: minAvailable };
  }
  const expected = wantedBy(core, pods);
  const part = (value: unknown): number =>
    typeof value === 'string' ? Math.ceil((Number.parseInt(value, 10) * expected) / 100) : count(value);
  if (maxUnavailable === undefined) return { expected, desired: part(minAvailable) };
  return { expected, desired: Math.max(expected - part(maxUnavailable), 0) };
}

/** Pods without a controller do not count. */
function wantedBy(core: ServerCore, pods: readonly Obj[]): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    const top = controllerOf(core, controllerOf(core, pod)) ?? controllerOf(core, pod);
    if (top) wanted.set(top.metadata.uid, count(top.spec?.['replicas'], 1));
  }
  return [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function controllerOf(core: ServerCore, object: Obj | undefined): Obj | undefined {
  const owner = object?.metadata.ownerReferences?.find(({ controller }) => controller);
  const row = owner && core.rowOf(owner.kind);
  const found = row && core.store.get(row, object?.metadata.namespace, owner.name);
  return found?.metadata.uid === owner?.uid ? found : undefined;
}
