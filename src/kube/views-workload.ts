import type { KubeObject, OwnerReference } from './api.ts';
import { conditionIn, type ConditionView, controllerOf, type Identity, identityIn, num, specIn, statusIn } from './raw.ts'; // prettier-ignore

/** A StatefulSet or DaemonSet: how many pods it wants, and how many there are, ready or not. */
export interface SetView extends Identity {
  kind: 'StatefulSet' | 'DaemonSet';
  desired: number;
  pods: number;
  /** Its controller has caught up, and no rollout is under way: it is not between two pods of one. */
  settled: boolean;
}

export function viewSet(kind: SetView['kind']): (object: KubeObject) => SetView | undefined {
  return (object) => {
    const who = identityIn(object);
    if (!who) return undefined;
    const status = statusIn(object);
    const isCaughtUp = num(status['observedGeneration']) >= num(object.metadata.generation);
    if (kind === 'DaemonSet') {
      const [desired, pods] = [num(status['desiredNumberScheduled']), num(status['currentNumberScheduled'])];
      return { ...who, kind, desired, pods, settled: isCaughtUp && num(status['updatedNumberScheduled']) >= pods };
    }
    const desired = num(specIn(object)['replicas'], 1);
    const isOneRevision = status['currentRevision'] === status['updateRevision'];
    return { ...who, kind, desired, pods: num(status['replicas']), settled: isCaughtUp && isOneRevision };
  };
}

export interface JobView extends Identity {
  owner?: OwnerReference;
  /** It failed for good. */
  failed?: ConditionView;
}

export function viewJob(object: KubeObject): JobView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const owner = controllerOf(object.metadata);
  const failed = conditionIn(object, 'Failed');
  return { ...who, ...(owner && { owner }), ...(failed?.status === 'True' && { failed }) };
}

export interface AutoscalerView extends Identity {
  ableToScale?: ConditionView;
  scalingActive?: ConditionView;
}

export function viewAutoscaler(object: KubeObject): AutoscalerView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const ableToScale = conditionIn(object, 'AbleToScale');
  const scalingActive = conditionIn(object, 'ScalingActive');
  return { ...who, ...(ableToScale && { ableToScale }), ...(scalingActive && { scalingActive }) };
}
