import { conditionOf } from '../common/conditions.ts';
import type { Condition, NodeObject, PodObject, Taint } from '../common/shapes.ts';
import { millis, stamp } from '../common/stamp.ts';
import { toleratedSeconds } from './fits.ts';

const unreachable = 'node.kubernetes.io/unreachable';
const notReady = 'node.kubernetes.io/not-ready';

/** What kubelet alone can know; without it nobody does. */
const kubeletTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a node that has fallen silent; undefined when they already say so. */
export function silenced({ metadata, status }: NodeObject, nowMs: number): Condition[] | undefined {
  const conditions = status?.conditions ?? [];
  const at = stamp(nowMs);
  const unknown = (type: string): Condition => {
    const now = conditionOf(conditions, type);
    const kept = { lastHeartbeatTime: now?.lastHeartbeatTime ?? metadata.creationTimestamp, lastTransitionTime: at };
    return now
      ? {
          type,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          ...kept,
        }
      : {
          type,
          status: 'Unknown',
          reason: 'NodeStatusNeverUpdated',
          message: 'Kubelet never posted node status.',
          ...kept,
        };
  };
  const isKnown = (type: string): boolean => conditionOf(conditions, type)?.status !== 'Unknown';
  if (!kubeletTypes.some(isKnown)) return undefined;
  const others = conditions.filter(({ type }) => !kubeletTypes.includes(type));
  return [...others, ...kubeletTypes.map((type) => (isKnown(type) ? unknown(type) : conditionOf(conditions, type)!))];
}

/** The taints that its Ready condition calls for, beside those that others gave it; undefined when it has them. */
export function taintsFor(node: NodeObject, nowMs: number): Taint[] | undefined {
  const ready = conditionOf(node.status?.conditions, 'Ready')?.status;
  const wanted = ready === 'True' ? undefined : ready === 'False' ? notReady : unreachable;
  const taints = node.spec?.taints ?? [];
  const isOurs = ({ key }: Taint): boolean => key === unreachable || key === notReady;
  const ours = taints.filter(isOurs);
  const isRight = wanted ? ours.length === 2 && ours.every(({ key }) => key === wanted) : ours.length === 0;
  if (isRight) return undefined;
  const others = taints.filter((taint) => !isOurs(taint));
  if (!wanted) return others;
  const timeAdded = stamp(nowMs);
  return [...others, { key: wanted, effect: 'NoSchedule', timeAdded }, { key: wanted, effect: 'NoExecute', timeAdded }];
}

/** What the API server gives every pod that does not say: five minutes on a node that is not there. */
const usualPatience = [unreachable, notReady].map((key) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** When a pod is to be evicted from a node because of its taints; undefined: it may stay. */
export function evictAtMs(pod: PodObject, taints: readonly Taint[] = []): number | undefined {
  const own = pod.spec?.tolerations ?? [];
  const ends = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map((taint) => {
      const seconds = toleratedSeconds(taint, own) ?? toleratedSeconds(taint, usualPatience) ?? 0;
      return (millis(taint.timeAdded) || 0) + seconds * 1000;
    });
  const first = Math.min(...ends);
  return Number.isFinite(first) ? first : undefined;
}
