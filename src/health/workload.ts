import type { ContainerView, PodView } from '../kube/views.ts';
import type { LiveHealth } from './live.ts';
import { isCompleted, isCrashing, isFinished, isLooping } from './loop.ts';

/** A workload's own counts, whatever its kind. */
export interface WorkloadCounts {
  desired: number;
  ready: number;
  /** The controller has caught up with the spec, and old and new pods are not mixed. */
  settled: boolean;
  /** See LiveHealth. */
  ended?: string;
  /** What is wrong with it, though the numbers are right. */
  trouble?: string;
}

export const gone: LiveHealth = {
  healthy: true,
  why: '',
  ready: 0,
  desired: 0,
  crashing: false,
  hasRoom: false,
  restarts: 0,
  longestUptimeMs: 0,
  affected: [],
  gone: true,
};

/** Pure. A crash loop's pod in its back-off is not healthy, whatever the counts say. */
export function workloadHealth(counts: WorkloadCounts, pods: readonly PodView[], nowMs: number): LiveHealth {
  const living = pods.filter((pod) => !pod.deleting && !isFinished(pod));
  const containers = living.flatMap((pod) => pod.containers);
  const why = firstTrouble(counts, living);
  return {
    healthy: why === '',
    why,
    ready: counts.ready,
    desired: counts.desired,
    crashing: living.some((pod) => isCrashing(pod, nowMs)),
    hasRoom: false,
    restarts: containers.reduce((sum, container) => sum + container.restarts, 0),
    longestUptimeMs: longestUptimeMs(containers),
    affected: [],
    gone: false,
    ...(counts.ended && { ended: counts.ended }),
  };
}

/** Of those that ended otherwise than they should: an init container that is done has not crashed. */
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
