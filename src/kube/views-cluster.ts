import type { KubeObject } from './api.ts';
import { arr, conditionIn, type ConditionView, type Identity, identityIn, obj, specIn, statusIn, str, timeMs } from './raw.ts'; // prettier-ignore

export interface NodeView extends Identity {
  /** undefined: it has not said anything yet. */
  ready?: ConditionView;
  /** Cordoned, or about to be removed by the autoscaler: somebody is at work on it. */
  isLeaving: boolean;
}

/** https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md (taints the autoscaler sets) */
const removalTaint = 'ToBeDeletedByClusterAutoscaler';

export function viewNode(object: KubeObject): NodeView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const spec = specIn(object);
  const ready = conditionIn(object, 'Ready');
  const isLeaving = spec['unschedulable'] === true || arr(spec['taints']).some(({ key }) => key === removalTaint);
  return { ...who, isLeaving, ...(ready && { ready }) };
}

export interface StorageClassView extends Identity {
  /** Volumes are made when a pod that wants them is scheduled: until then a claim waits, and that is as it should be. */
  waitsForConsumer: boolean;
}

export function viewStorageClass(object: KubeObject): StorageClassView | undefined {
  const who = identityIn(object);
  return who && { ...who, waitsForConsumer: obj(object)['volumeBindingMode'] === 'WaitForFirstConsumer' };
}

export interface ClaimView extends Identity {
  phase: string;
  /** undefined: it names none. Empty: it wants none. */
  storageClass?: string;
  createdAtMs: number;
}

export function viewClaim(object: KubeObject): ClaimView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const { storageClassName } = specIn(object);
  return {
    ...who,
    phase: str(statusIn(object)['phase']),
    createdAtMs: timeMs(object.metadata.creationTimestamp),
    ...(typeof storageClassName === 'string' && { storageClass: storageClassName }),
  };
}
