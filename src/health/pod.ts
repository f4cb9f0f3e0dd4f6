import type { ContainerView, PodView } from '../kube/views.ts';
import { crashInWords, isCrashingContainer, isFinished, isKilledForMemory } from './loop.ts';
import { distinct, type Trouble } from './trouble.ts';
import { imageReasons, missingConfigIn, waitsForClaims } from './words.ts';

/**
 * Pure. Everything that a pod's own status says is wrong with it now. The watch makes signals of it, the fresh reading
 * before anyone is told asks the same: both mean the same thing.
 *
 * What time alone makes a failure (a pod that is not ready, or waits for a node) is a trouble from its first moment, with
 * `sinceMs`: no watch event will come when it has lasted long enough. Every rollout has it for a while; the class's
 * patience and `lastingMs` of the fresh reading keep that quiet.
 *
 * Not among them: a pod that is being deleted (somebody's decision), one that is done, one whose readiness gates are not
 * met or whose startup probe is not through (no probe has failed yet), and one that waits in ContainerCreating: its
 * status does not say what for, its events do (setup.ts).
 */
export function podTroubles(pod: PodView, nowMs: number): Trouble[] {
  if (pod.deleting) return [];
  if (isFinished(pod)) return isEvicted(pod) ? [evicted(pod)] : [];
  return distinct([
    ...placement(pod),
    ...pod.containers.flatMap((container) => containerTroubles(pod, container, nowMs)),
  ]);
}

/** By the node, for want of memory or disk, or to make room for a critical pod. */
const evictions: ReadonlySet<string> = new Set(['Evicted', 'Preempting']);
export const isEvicted = ({ phase, reason }: PodView): boolean => phase === 'Failed' && evictions.has(reason ?? '');
const evicted = ({ reason, message, unreadySinceMs: sinceMs }: PodView): Trouble => ({
  class: 'Evicted',
  reason: reason ?? 'Evicted',
  message: message ?? 'the node evicted it',
  ...(sinceMs !== undefined && { sinceMs }),
});

/** A scheduling gate is somebody's decision: its reason is SchedulingGated. */
function placement({ unscheduled, claims = [] }: PodView): Trouble[] {
  if (unscheduled?.reason !== 'Unschedulable') return [];
  const { message, sinceMs } = unscheduled;
  if (!waitsForClaims(message)) return [{ class: 'Unschedulable', reason: 'FailedScheduling', message, sinceMs }];
  // Which of several it is the claims say themselves.
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
  if (isUnready(pod, container)) add('ProbeFailing', 'Unready', `container ${name} runs and is not ready`, unreadySince(pod, container)); // prettier-ignore
  return found;
}

/** Kubelet says so; without a word of it the reason alone is as good as. */
const isConfigMissing = ({ waiting, waitingMessage = '' }: ContainerView): boolean =>
  missingConfigIn(waitingMessage) !== undefined || (waiting === 'CreateContainerConfigError' && !waitingMessage);

/** Up, and found wanting by its readiness probe. While its node is silent a pod is not ready either, but its containers are. */
const isUnready = ({ phase, ready }: PodView, container: ContainerView): boolean =>
  phase === 'Running' &&
  !ready &&
  !container.isInit &&
  !container.isStarting &&
  !container.ready &&
  container.runningSinceMs !== undefined;

const unreadySince = ({ unreadySinceMs = 0 }: PodView, { runningSinceMs = 0 }: ContainerView): number =>
  Math.max(unreadySinceMs, runningSinceMs);
