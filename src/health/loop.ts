import type { ContainerView, PodView } from '../kube/views.ts';
import { spokenDuration } from '../lib/duration.ts';

/**
 * Whether a container restarts in a loop. kubelet 1.36 often never writes CrashLoopBackOff: it notes the back-off in
 * one sync and reports it in the next, which may come only when the back-off is over
 * (https://github.com/kubernetes/kubernetes/issues/123602). A container that failed again and is down says the same.
 */
export const isLooping = ({ waiting, isDown, restarts, ended }: ContainerView): boolean =>
  waiting === 'CrashLoopBackOff' || (isDown && restarts > 0 && ended?.exitCode !== 0);

const isLiving = (pod: PodView): boolean => !pod.deleting && !isFinished(pod);

/** The longest back-off between two starts is five minutes. */
const latelyMs = 600_000;

/** Of another clock than ours, which may be ahead; further than this it is wrong. */
const mostAheadMs = 300_000;
export const isLately = (atMs: number, nowMs: number): boolean => nowMs - atMs < latelyMs && atMs - nowMs < mostAheadMs;

const hasEndedLately = ({ restarts, ended }: ContainerView, nowMs: number): boolean =>
  restarts > 0 && isLately(ended?.finishedAtMs ?? 0, nowMs);

/** It loops, or was started again lately, not for the first time, and is not ready. A restart of last week is no crash of now. */
export const isCrashingContainer = (it: ContainerView, nowMs: number): boolean =>
  isLooping(it) || (!it.ready && !isCompleted(it) && it.restarts > 1 && hasEndedLately(it, nowMs));

export const isCrashing = (pod: PodView, nowMs: number): boolean =>
  isLiving(pod) && pod.containers.some((it) => isCrashingContainer(it, nowMs));

/**
 * Killed for memory twice within ten minutes. Kubernetes keeps the last end only (and while it is down the one before):
 * that the run which ended so was short, and not the first one, says the same.
 */
export function isKilledForMemory(it: ContainerView, nowMs: number): boolean {
  const { ended, endedBefore, restarts, runningSinceMs } = it;
  if (ended?.reason !== 'OOMKilled' || !isLately(ended.finishedAtMs, nowMs)) return false;
  const ends = restarts + (runningSinceMs === undefined ? 1 : 0);
  return ends > 1 && ended.uptimeMs < latelyMs && (endedBefore ?? ended.reason) === ended.reason;
}

/** The same, or up again after an end a moment ago: without a readiness probe that is how it looks between two crashes. */
export const hasCrashedLately = (pod: PodView, nowMs: number): boolean =>
  isCrashing(pod, nowMs) ||
  (isLiving(pod) && pod.containers.some((it) => !isCompleted(it) && hasEndedLately(it, nowMs)));

/** Up just now, but not for the first time: one restart may happen to anybody. */
export const keepsCrashing = (pod: PodView, nowMs: number): boolean =>
  hasCrashedLately(pod, nowMs) && pod.containers.some(({ restarts }) => restarts > 1);

/** As an init container is, however many tries it took. */
export const isCompleted = ({ isDown, ended }: ContainerView): boolean => isDown && ended?.exitCode === 0;

/** Nothing restarts it any more: an evicted pod stays for hours, its last exits on it, beside its replacement. */
export const isFinished = ({ phase }: PodView): boolean => phase === 'Failed' || phase === 'Succeeded';

/** "container app exits 1 after 42 s". Kubernetes keeps whole seconds, so nothing finer is claimed. */
export function crashInWords({ name, ended }: ContainerView): string {
  if (!ended) return `container ${name} does not stay up`;
  const how = ended.reason === 'OOMKilled' ? 'is killed for memory' : `exits ${ended.exitCode}`;
  return `container ${name} ${how} ${ended.uptimeMs < 1000 ? 'within a second' : `after ${spokenDuration(ended.uptimeMs)}`}`;
}
