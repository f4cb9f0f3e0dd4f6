import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../common/controller-runtime.ts';
import { createEventRecorder } from '../common/event-recorder.ts';
import {
  isActive,
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  nextAvailableInMs,
  ownedBy,
  podSelector,
  readySinceMs,
} from '../common/pod-facts.ts';
import type { PodObject, ReplicaSetObject, StatusCondition } from '../common/shapes.ts';
import { conditionOf, millis, nonZero, stamp, without, writeStatus } from '../common/status-writing.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf, serverMessage } from './pod-control.ts';
import { sizeOf } from './replica-sizes.ts';

/** The most pods that one pass creates or deletes. */
const mostAtOnce = 500;

/** The controller of ReplicaSets keeps the wanted number of pods of one template. It does not adopt pods without an owner. */
export function runReplicaSets(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'replicaset-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'replicaset-controller', sync);
  informers.on('ReplicaSet', (set) => loop.add(keyOf(set)));
  informers.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'ReplicaSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<ReplicaSetObject>({ kind: 'ReplicaSet', namespace, name });
    if (!set) return undefined;
    const all = await api.list<PodObject>('Pod', namespace, podSelector(set.spec?.selector));
    const own = all.filter(ownedBy(set.metadata.uid));
    const active = own.filter(isActive);
    const failure = set.metadata.deletionTimestamp ? undefined : await manage(set, active);
    const terminating = own.filter((pod) => isDeleting(pod) && !isFinished(pod)).length;
    const trouble = failure === undefined ? undefined : serverMessage(failure);
    const nowMs = clock.now();
    await writeStatus(api, 'ReplicaSet', set, replicaSetStatus(set, active, terminating, trouble, nowMs));
    if (failure !== undefined) throw failure;
    const againInMs = nextAvailableInMs(active, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  /** Creates or deletes pods, and resolves to the failure if there was one. The status of this pass counts the pods before it, as in the real controller. */
  async function manage(set: ReplicaSetObject, active: readonly PodObject[]): Promise<unknown> {
    const missing = Math.min(sizeOf(set) - active.length, mostAtOnce);
    if (missing > 0) {
      const body = podOf(set, set.spec?.template ?? {}, { generateName: `${set.metadata.name}-` });
      const failure = await inSlowStart(missing, () => pods.create(set, body));
      return isNamespaceGoing(failure) ? undefined : failure;
    }
    const surplus = surplusOf(active, Math.min(-missing, mostAtOnce));
    const results = await Promise.allSettled(surplus.map((pod) => pods.remove(set, pod)));
    return results.find((result) => result.status === 'rejected')?.reason;
  }
}

/** `trouble` is why pods could not be created or deleted in this pass. Pure. */
export function replicaSetStatus(
  set: ReplicaSetObject,
  active: readonly PodObject[],
  terminating: number,
  trouble: string | undefined,
  nowMs: number,
): NonNullable<ReplicaSetObject['status']> {
  const labels = Object.entries(set.spec?.template?.metadata?.labels ?? {});
  const isFullyLabeled = ({ metadata }: PodObject): boolean =>
    labels.every(([key, value]) => metadata.labels?.[key] === value);
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const conditions = conditionsOf(set, active.length, trouble, nowMs);
  return {
    replicas: active.length,
    ...nonZero({
      fullyLabeledReplicas: active.filter(isFullyLabeled).length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
      observedGeneration: set.metadata.generation ?? 0,
    }),
    terminatingReplicas: terminating,
    ...(conditions.length > 0 && { conditions }),
  };
}

/** The message of the first failure stays until a pass succeeds, as in the real controller. */
function conditionsOf(
  set: ReplicaSetObject,
  pods: number,
  trouble: string | undefined,
  nowMs: number,
): StatusCondition[] {
  const conditions = set.status?.conditions ?? [];
  if (trouble === undefined) return without(conditions, 'ReplicaFailure');
  if (conditionOf(conditions, 'ReplicaFailure')) return conditions;
  const reason = pods < sizeOf(set) ? 'FailedCreate' : 'FailedDelete';
  return [
    ...conditions,
    { type: 'ReplicaFailure', status: 'True', reason, message: trouble, lastTransitionTime: stamp(nowMs) },
  ];
}

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const restartsOf = ({ status }: PodObject): number =>
  Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));

const costOf = ({ metadata }: PodObject): number =>
  Number(metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0) || 0;

/** The pod with the smaller rank is deleted first. */
type Rank = (pod: PodObject, neighbours: number) => number;

/**
 * The order in which a ReplicaSet deletes its pods: unassigned, pending, not ready, cheap, on a crowded node, ready for a short time,
 * often restarted, young. https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#scaling-a-replicaset
 * The real controller compares ages only by their order of magnitude; here the younger pod always goes.
 */
const ranks: readonly Rank[] = [
  ({ spec }) => (spec?.nodeName ? 1 : 0),
  ({ status }) => phaseRank[status?.phase ?? 'Pending'] ?? 0,
  (pod) => (isReady(pod) ? 1 : 0),
  costOf,
  (_pod, neighbours) => -neighbours,
  (pod) => (isReady(pod) ? -readySinceMs(pod) : 0),
  (pod) => -restartsOf(pod),
  ({ metadata }) => -millis(metadata.creationTimestamp),
];

export function surplusOf(pods: readonly PodObject[], tooMany: number): PodObject[] {
  const onNode = (name: string | undefined): number =>
    pods.filter((pod) => name && isReady(pod) && pod.spec?.nodeName === name).length;
  const keyed = pods.map((pod) => ({ pod, key: ranks.map((rank) => rank(pod, onNode(pod.spec?.nodeName))) }));
  return keyed
    .sort((a, b) => compare(a.key, b.key) || (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1))
    .slice(0, tooMany)
    .map(({ pod }) => pod);
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
