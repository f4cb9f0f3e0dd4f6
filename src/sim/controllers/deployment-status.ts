import type { DeploymentObject, DeploymentStatus, ReplicaSetObject, StatusCondition } from '../common/shapes.ts';
import { conditionOf, millis, nonZero, stamp, withCondition, without } from '../common/status-writing.ts';
import { availableOf, rolloutBounds, sizeOf, sum, wantedBy } from './replica-sizes.ts';

const count = (
  status: DeploymentStatus,
  field: 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas',
) => status[field] ?? 0;

/** The largest int32 means "no deadline". */
export const deadlineMsOf = ({ spec }: DeploymentObject): number | undefined => {
  const seconds = spec?.progressDeadlineSeconds ?? 600;
  return seconds === 2_147_483_647 ? undefined : seconds * 1000;
};

/** The status with new counts and a new condition Available. Other conditions stay as they are. */
export function countedStatus(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
  nowMs: number,
): DeploymentStatus {
  const all = fresh ? [...old, fresh] : [...old];
  const available = sum(all, availableOf);
  const counts = nonZero({
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sum(all, ({ status }) => status?.replicas ?? 0),
    updatedReplicas: fresh?.status?.replicas ?? 0,
    readyReplicas: sum(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(sum(all, sizeOf) - available, 0),
  });
  const isEnough = available >= wantedBy(deployment) - rolloutBounds(deployment).unavailable;
  return {
    ...counts,
    terminatingReplicas: sum(all, ({ status }) => status?.terminatingReplicas ?? 0),
    conditions: setUpdated(deployment.status?.conditions, isEnough ? enough : tooFew, nowMs),
  };
}

const enough = {
  type: 'Available',
  status: 'True',
  reason: 'MinimumReplicasAvailable',
  message: 'Deployment has minimum availability.',
} as const;
const tooFew = {
  type: 'Available',
  status: 'False',
  reason: 'MinimumReplicasUnavailable',
  message: 'Deployment does not have minimum availability.',
} as const;

/** A Deployment's conditions also hold the time of their last update. */
export const setUpdated = (
  conditions: readonly StatusCondition[] | undefined,
  next: Omit<StatusCondition, 'lastTransitionTime' | 'lastUpdateTime'>,
  nowMs: number,
): StatusCondition[] => withCondition(conditions, { ...next, lastUpdateTime: stamp(nowMs) }, nowMs);

export const isComplete = (deployment: DeploymentObject, status: DeploymentStatus): boolean =>
  [count(status, 'updatedReplicas'), count(status, 'replicas'), count(status, 'availableReplicas')].every(
    (it) => it === wantedBy(deployment),
  ) && (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);

function hasProgressed({ status: before = {} }: DeploymentObject, now: DeploymentStatus): boolean {
  const leftover = (status: DeploymentStatus): number => count(status, 'replicas') - count(status, 'updatedReplicas');
  const grew = (['updatedReplicas', 'readyReplicas', 'availableReplicas'] as const).some(
    (field) => count(now, field) > count(before, field),
  );
  return grew || leftover(now) < leftover(before);
}

const progressing = (status: 'True' | 'False', reason: string, message: string) =>
  ({ type: 'Progressing', status, reason, message }) as const;

/** When a rollout without progress exceeds its deadline; undefined when no deadline runs. */
export function timesOutAtMs(deployment: DeploymentObject, status: DeploymentStatus): number | undefined {
  const condition = conditionOf(status.conditions, 'Progressing');
  const deadlineMs = deadlineMsOf(deployment);
  const isOver = ['NewReplicaSetAvailable', 'ProgressDeadlineExceeded'].includes(condition?.reason ?? '');
  if (!condition || deadlineMs === undefined || isOver || isComplete(deployment, status)) return undefined;
  return millis(condition.lastUpdateTime) + deadlineMs;
}

/** Like countedStatus, but with the condition Progressing, which describes the rollout, and with the failure of a ReplicaSet if there is one. */
export function rolloutStatus(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
  nowMs: number,
): DeploymentStatus {
  const status = countedStatus(deployment, fresh, old, nowMs);
  const conditions = judged(deployment, status, fresh?.metadata.name, nowMs);
  return { ...status, conditions: withFailure(conditions, fresh, old, nowMs) };
}

function judged(deployment: DeploymentObject, status: DeploymentStatus, name: string | undefined, nowMs: number) {
  const conditions = status.conditions ?? [];
  if (deadlineMsOf(deployment) === undefined) return without(conditions, 'Progressing');
  const current = conditionOf(conditions, 'Progressing');
  const wasDone = current?.reason === 'NewReplicaSetAvailable' && status.replicas === status.updatedReplicas;
  const subject = name === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${name}"`;
  if (wasDone) return conditions;
  if (isComplete(deployment, status)) {
    const done = progressing('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
    return setUpdated(conditions, done, nowMs);
  }
  if (hasProgressed(deployment, status)) {
    const moving = progressing('True', 'ReplicaSetUpdated', `${subject} is progressing.`);
    // Every progress renews the update time, because the deadline counts from there.
    const since = current?.status === 'True' ? current.lastTransitionTime : undefined;
    return [
      ...without(conditions, 'Progressing'),
      { ...moving, lastUpdateTime: stamp(nowMs), lastTransitionTime: since ?? stamp(nowMs) },
    ];
  }
  if (nowMs <= (timesOutAtMs(deployment, status) ?? Number.POSITIVE_INFINITY)) return conditions;
  const late = progressing('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`);
  return setUpdated(conditions, late, nowMs);
}

function withFailure(
  conditions: readonly StatusCondition[],
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
  nowMs: number,
): StatusCondition[] {
  const failure = [...(fresh ? [fresh] : []), ...old]
    .map(({ status }) => conditionOf(status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition !== undefined);
  if (!failure) return without(conditions, 'ReplicaFailure');
  const { lastTransitionTime = stamp(nowMs), ...rest } = failure;
  const current = conditionOf(conditions, 'ReplicaFailure');
  if (current?.status === rest.status && current.reason === rest.reason) return [...conditions];
  return [
    ...without(conditions, 'ReplicaFailure'),
    { ...rest, lastTransitionTime, lastUpdateTime: lastTransitionTime },
  ];
}
