import type { ContainerView, PodView } from '../kube/views.ts';
import { spokenDuration } from '../lib/duration.ts';
import { imageReasons, missingConfigIn, waitsForClaims } from './event-words.ts';
import { distinct, type Trouble } from './trouble.ts';

/**
 * Whether a container restarts in a loop. kubelet 1.36 often never writes CrashLoopBackOff: it notes the back-off in
 * one sync and reports it in the next, which may come only when the back-off is over
 * (https://github.com/kubernetes/kubernetes/issues/123602). A container that failed again and is down means the same.
 */
export const isLooping = ({ waiting, isDown, restarts, ended }: ContainerView): boolean =>
  waiting === 'CrashLoopBackOff' || (isDown && restarts > 0 && ended?.exitCode !== 0);

const isLiving = (pod: PodView): boolean => !pod.deleting && !isFinished(pod);

/** The longest back-off between two starts is five minutes. */
const latelyMs = 600_000;

/** The time comes from another clock, which may be ahead of ours. If it is ahead by more than this, it is wrong. */
const mostAheadMs = 300_000;
const isLately = (atMs: number, nowMs: number): boolean => nowMs - atMs < latelyMs && atMs - nowMs < mostAheadMs;

const hasEndedLately = ({ restarts, ended }: ContainerView, nowMs: number): boolean =>
  restarts > 0 && isLately(ended?.finishedAtMs ?? 0, nowMs);

/**
 * It loops; or it was restarted recently, more than once, and is not ready. A restart of last week is not a crash of
 * now.
 */
const isCrashingContainer = (it: ContainerView, nowMs: number): boolean =>
  isLooping(it) || (!it.ready && !isCompleted(it) && it.restarts > 1 && hasEndedLately(it, nowMs));

export const isCrashing = (pod: PodView, nowMs: number): boolean =>
  isLiving(pod) && pod.containers.some((it) => isCrashingContainer(it, nowMs));

/**
 * Killed for memory twice within ten minutes. Kubernetes keeps only the last end (and, while the container is down, the
 * one before). But if the run that ended so was short, and not the first one, that means the same.
 */
function isKilledForMemory(it: ContainerView, nowMs: number): boolean {
  const { ended, endedBefore, restarts, runningSinceMs } = it;
  if (ended?.reason !== 'OOMKilled' || !isLately(ended.finishedAtMs, nowMs)) return false;
  const ends = restarts + (runningSinceMs === undefined ? 1 : 0);
  return ends > 1 && ended.uptimeMs < latelyMs && (endedBefore ?? ended.reason) === ended.reason;
}

/**
 * Crashes now, or is up again after a recent end: without a readiness probe, it looks like that between two crashes.
 */
export const hasCrashedLately = (pod: PodView, nowMs: number): boolean =>
  isCrashing(pod, nowMs) ||
  (isLiving(pod) && pod.containers.some((it) => !isCompleted(it) && hasEndedLately(it, nowMs)));

/** Up at the moment, but after several restarts. A single restart can happen to any pod. */
export const keepsCrashing = (pod: PodView, nowMs: number): boolean =>
  hasCrashedLately(pod, nowMs) && pod.containers.some(({ restarts }) => restarts > 1);

/** An init container is completed when it is done, however many tries it took. */
export const isCompleted = ({ isDown, ended }: ContainerView): boolean => isDown && ended?.exitCode === 0;

/**
 * Nothing restarts it any more. An evicted pod stays for hours beside its replacement, and still shows its last exits.
 */
export const isFinished = ({ phase }: PodView): boolean => phase === 'Failed' || phase === 'Succeeded';

/** "container app exits 1 after 42 s". Kubernetes keeps whole seconds, so nothing finer is claimed. */
export function crashInWords({ name, ended }: ContainerView): string {
  if (!ended) return `container ${name} does not stay up`;
  const how = ended.reason === 'OOMKilled' ? 'is killed for memory' : `exits ${ended.exitCode}`;
  return `container ${name} ${how} ${ended.uptimeMs < 1000 ? 'within a second' : `after ${spokenDuration(ended.uptimeMs)}`}`;
}

/**
 * Pure. Everything that a pod's own status says is wrong with it now. The watch makes signals from it, and the fresh
 * reading before anything is posted uses it too, so both mean the same thing.
 *
 * Some troubles become a failure only with time (a pod that is not ready, or waits for a node). They are listed from
 * their first moment, with `sinceMs`, because no watch event will come when they have lasted long enough. Every rollout
 * has them for a while; the class's patience and `lastingMs` of the fresh reading keep that quiet.
 *
 * Not included: a pod that is being deleted (somebody decided that), one that is done, one whose readiness gates are
 * not met or whose startup probe has not passed yet (no probe has failed yet), and one that waits in ContainerCreating:
 * its status does not say what it waits for, but its events do (setupTroubles in event-words.ts).
 */
export function podTroubles(pod: PodView, nowMs: number): Trouble[] {
  if (pod.deleting) return [];
  if (isFinished(pod)) return isEvicted(pod) ? [evicted(pod)] : [];
  return distinct([
    ...placement(pod),
    ...pod.containers.flatMap((container) => containerTroubles(pod, container, nowMs)),
  ]);
}

/** Evicted by the node, because it lacked memory or disk, or to make room for a critical pod. */
const evictions: ReadonlySet<string> = new Set(['Evicted', 'Preempting']);
export const isEvicted = ({ phase, reason }: PodView): boolean => phase === 'Failed' && evictions.has(reason ?? '');
const evicted = ({ reason, message, unreadySinceMs: sinceMs }: PodView): Trouble => ({
  class: 'Evicted',
  reason: reason ?? 'Evicted',
  message: message ?? 'the node evicted it',
  ...(sinceMs !== undefined && { sinceMs }),
});

/** A scheduling gate is not a failure, because somebody decided it: its reason is SchedulingGated. */
function placement({ unscheduled, claims = [] }: PodView): Trouble[] {
  if (unscheduled?.reason !== 'Unschedulable') return [];
  const { message, sinceMs } = unscheduled;
  if (!waitsForClaims(message)) return [{ class: 'Unschedulable', reason: 'FailedScheduling', message, sinceMs }];
  // If there are several claims, their own status says which one it is.
  return claims.map((name) => ({
    class: 'StorageFailed',
    cause: { kind: 'PersistentVolumeClaim', name },
    reason: 'FailedScheduling',
    message,
    sinceMs,
  }));
}

function containerTroubles(pod: PodView, container: ContainerView, nowMs: number): Trouble[] {
  const { name, waiting = '', waitingMessage = '', ended } = container;
  const found: Trouble[] = [];
  const add = (failureClass: string, reason: string, message: string, sinceMs?: number): void =>
    void found.push({ class: failureClass, reason, message, ...(sinceMs !== undefined && { sinceMs }) });
  if (imageReasons.has(waiting)) add('ImagePull', waiting, waitingMessage || `container ${name} gets no image`);
  if (waiting === 'CreateContainerConfigError' || waiting === 'CreateContainerError')
    add(isConfigMissing(container) ? 'ConfigMissing' : 'SandboxFailed', waiting, waitingMessage);
  if (isKilledForMemory(container, nowMs)) add('OOMKilled', 'OOMKilled', crashInWords(container));
  if (isCrashingContainer(container, nowMs))
    add('CrashLoop', waiting || ended?.reason || 'CrashLoopBackOff', crashInWords(container));
  if (isUnready(pod, container))
    add('ProbeFailing', 'Unready', `container ${name} runs and is not ready`, unreadySince(pod, container));
  return found;
}

/** True if kubelet's message says so. Without a message, the reason alone is enough. */
const isConfigMissing = ({ waiting, waitingMessage = '' }: ContainerView): boolean =>
  missingConfigIn(waitingMessage) !== undefined || (waiting === 'CreateContainerConfigError' && !waitingMessage);

/**
 * It runs, but its readiness probe fails. While its node is silent, a pod is not ready either, but its containers are.
 */
const isUnready = ({ phase, ready }: PodView, container: ContainerView): boolean =>
  phase === 'Running' &&
  !ready &&
  !container.isInit &&
  !container.isStarting &&
  !container.ready &&
  container.runningSinceMs !== undefined;

const unreadySince = ({ unreadySinceMs = 0 }: PodView, { runningSinceMs = 0 }: ContainerView): number =>
  Math.max(unreadySinceMs, runningSinceMs);
