import { isReady, readySinceMs } from '../common/pods.ts';
import type { PodObject } from '../common/shapes.ts';
import { millis } from '../common/stamp.ts';

const phaseRank: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

const restartsOf = ({ status }: PodObject): number =>
  Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));

const costOf = ({ metadata }: PodObject): number =>
  Number(metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0) || 0;

/** Smaller goes first. */
type Rank = (pod: PodObject, neighbours: number) => number;

/**
 * Whom a ReplicaSet lets go first, as the real one ranks them: unassigned, pending, not ready, cheap, crowded, ready
 * for a short time, often restarted, young. https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#scaling-a-replicaset
 * It compares ages by their order of magnitude only; here the younger one goes in any case.
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
