import type { OwnerReference } from '../../kube/api.ts';
import { controllerOf } from '../../kube/raw.ts';
import type { PodObject } from './shapes.ts';
import { conditionOf, millis } from './status-writing.ts';

export const isFinished = ({ status }: PodObject): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

export const isDeleting = ({ metadata }: PodObject): boolean => Boolean(metadata.deletionTimestamp);

/** Whether the pod counts as a replica. */
export const isActive = (pod: PodObject): boolean => !isFinished(pod) && !isDeleting(pod);

export const isReady = ({ status }: PodObject): boolean => conditionOf(status?.conditions, 'Ready')?.status === 'True';

export const readySinceMs = ({ status }: PodObject): number =>
  millis(conditionOf(status?.conditions, 'Ready')?.lastTransitionTime);

/** Whether the pod has been ready for as long as its owner requires. */
export const isAvailable = (pod: PodObject, minReadySeconds: number, nowMs: number): boolean =>
  isReady(pod) && (minReadySeconds === 0 || readySinceMs(pod) + minReadySeconds * 1000 <= nowMs);

/** The time until the next ready pod becomes available; undefined when there is none to wait for. */
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

/** The part of a workload's selector that `list` understands. A selector with expressions lists more pods, and the owner reference decides. */
export function podSelector(selector: { matchLabels?: Record<string, string> } | undefined) {
  const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  return terms.length > 0 ? { labelSelector: terms.join(',') } : {};
}
