import type { OwnerReference } from '../../kube/api.ts';
import { controllerOf } from '../../kube/raw.ts';
import { conditionOf } from './conditions.ts';
import type { PodObject } from './shapes.ts';
import { millis } from './stamp.ts';

export const isFinished = ({ status }: PodObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

export const isDeleting = ({ metadata }: PodObject): boolean => Boolean(metadata.deletionTimestamp);

/** One that counts as a replica. */
export const isActive = (pod: PodObject): boolean => !isFinished(pod) && !isDeleting(pod);

export const isReady = ({ status }: PodObject): boolean => conditionOf(status?.conditions, 'Ready')?.status === 'True';

export const readySinceMs = ({ status }: PodObject): number =>
  millis(conditionOf(status?.conditions, 'Ready')?.lastTransitionTime);

/** Ready for as long as its owner asks. */
export const isAvailable = (pod: PodObject, minReadySeconds: number, nowMs: number): boolean =>
  isReady(pod) && (minReadySeconds === 0 || readySinceMs(pod) + minReadySeconds * 1000 <= nowMs);

/** When the next ready pod will have been ready for long enough; undefined when there is none to wait for. */
export function nextAvailableInMs(pods: readonly PodObject[], minReadySeconds: number, nowMs: number) {
  const waits = pods
    .filter((pod) => isReady(pod) && !isAvailable(pod, minReadySeconds, nowMs))
    .map((pod) => readySinceMs(pod) + minReadySeconds * 1000 - nowMs);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

export const ownedBy =
  (uid: string) =>
  ({ metadata }: { metadata: PodObject['metadata'] }): boolean =>
    controllerOf(metadata)?.uid === uid;

export const controllerRef = (apiVersion: string, kind: string, name: string, uid: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});
