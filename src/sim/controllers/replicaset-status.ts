import { conditionOf, without } from '../common/conditions.ts';
import { nonZero } from '../common/patch.ts';
import { isAvailable, isReady } from '../common/pods.ts';
import type { Condition, PodObject, ReplicaSetObject } from '../common/shapes.ts';
import { stamp } from '../common/stamp.ts';
import { sizeOf } from './rollout.ts';

/** Pure. `trouble` is why pods could not be created or deleted just now. */
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

/** The words of the first failure stay until a pass without any: that is how the real one keeps them. */
function conditionsOf(set: ReplicaSetObject, pods: number, trouble: string | undefined, nowMs: number): Condition[] {
  const conditions = set.status?.conditions ?? [];
  if (trouble === undefined) return without(conditions, 'ReplicaFailure');
  if (conditionOf(conditions, 'ReplicaFailure')) return conditions;
  const reason = pods < sizeOf(set) ? 'FailedCreate' : 'FailedDelete';
  return [
    ...conditions,
    { type: 'ReplicaFailure', status: 'True', reason, message: trouble, lastTransitionTime: stamp(nowMs) },
  ];
}
