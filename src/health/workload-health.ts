import type { ContainerView, PodView } from '../kube/views.ts';
import { isCompleted, isFinished, isLooping, podTroubles } from './pod.ts';
import { type LiveHealth, summed, type Trouble } from './trouble.ts';

/** A workload's own counts, for every kind. */
export interface WorkloadCounts {
  desired: number;
  ready: number;
  /** The controller has caught up with the spec, and old and new pods are not mixed. */
  settled: boolean;
  /** See LiveHealth. */
  ended?: string;
  /** The trouble that it has although the counts are right. */
  trouble?: string;
}

export const gone: LiveHealth = {
  healthy: true,
  why: '',
  ready: 0,
  desired: 0,
  troubles: [],
  hasRoom: false,
  restarts: 0,
  longestUptimeMs: 0,
  affected: [],
  gone: true,
};

/** An evicted pod stays for hours beside its replacement. */
const evictionCountsMs = 3_600_000;

/**
 * Whether a pod's trouble is also the workload's. A pod that is not ready while as many as wanted are ready is only
 * part of a rollout in progress.
 */
function isFelt({ class: failureClass, sinceMs }: Trouble, { ready, desired }: WorkloadCounts, nowMs: number): boolean {
  const isShort = ready < desired;
  if (failureClass === 'Evicted') return isShort && nowMs - (sinceMs ?? nowMs) < evictionCountsMs;
  return failureClass !== 'ProbeFailing' || isShort;
}

/** The troubles of its pods, unless it was switched off, and its own. */
function allTroubles(
  counts: WorkloadCounts,
  pods: readonly PodView[],
  own: readonly Trouble[],
  nowMs: number,
): Trouble[] {
  const ofPods = counts.ended ? [] : pods.flatMap((pod) => podTroubles(pod, nowMs));
  return [...ofPods.filter((trouble) => isFelt(trouble, counts, nowMs)), ...own];
}

/** Pure. A pod of a crash loop that is in its back-off is not healthy, whatever the counts say. */
export function workloadHealth(
  counts: WorkloadCounts,
  pods: readonly PodView[],
  nowMs: number,
  own: readonly Trouble[] = [],
): LiveHealth {
  const living = pods.filter((pod) => !pod.deleting && !isFinished(pod));
  const containers = living.flatMap((pod) => pod.containers);
  const why = firstTrouble(counts, living);
  const unreadySince = living.flatMap(({ ready, unreadySinceMs }) =>
    ready || !unreadySinceMs ? [] : [unreadySinceMs],
  );
  return {
    healthy: why === '',
    why,
    ready: counts.ready,
    desired: counts.desired,
    ...summed(allTroubles(counts, pods, own, nowMs), nowMs),
    ...(unreadySince.length > 0 && { brokenSinceMs: Math.min(...unreadySince) }),
    hasRoom: false,
    restarts: containers.reduce((sum, container) => sum + container.restarts, 0),
    longestUptimeMs: longestUptimeMs(containers),
    affected: [],
    gone: false,
    ...(counts.ended && { ended: counts.ended }),
  };
}

/** Counts only containers that ended in a failure: an init container that is done has not crashed. */
export const longestUptimeMs = (containers: readonly ContainerView[]): number =>
  Math.max(0, ...containers.filter((it) => !isCompleted(it)).map(({ ended }) => ended?.uptimeMs ?? 0));

function firstTrouble(counts: WorkloadCounts, pods: readonly PodView[]): string {
  const stuck = pods.flatMap((pod) => pod.containers).find(isLooping);
  if (stuck) return `container ${stuck.name} keeps crashing`;
  if (counts.ready < counts.desired) return `${counts.ready}/${counts.desired} ready`;
  if (counts.trouble) return counts.trouble;
  if (!counts.settled) return 'the rollout has not finished';
  return '';
}
