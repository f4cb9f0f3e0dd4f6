import type { EventView, PodView } from '../kube/views.ts';
import type { Trouble } from './trouble.ts';
import { missingConfigIn } from './words.ts';

const volumeReasons: ReadonlySet<string> = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume']);
const sandboxReasons: ReadonlySet<string> = new Set([
  'FailedCreatePodSandBox',
  'FailedCreatePodContainer',
  'NetworkNotReady',
  'FailedPrepareDynamicResources',
]);

/** What an event says that a pod waits for before any of its containers can be made. */
export function setupClassOf({ reason, message }: Pick<EventView, 'reason' | 'message'>): string | undefined {
  if (volumeReasons.has(reason)) return missingConfigIn(message) ? 'ConfigMissing' : 'VolumeStuck';
  return sandboxReasons.has(reason) ? 'SandboxFailed' : undefined;
}

const beforeContainers: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/** Its node has it, and has made neither its network nor its volumes. Once these are there it waits for an image. */
export const waitsForSetup = (pod: PodView): boolean =>
  !pod.deleting &&
  pod.phase !== 'Failed' &&
  pod.hasSandbox !== true &&
  pod.containers.some(({ waiting }) => beforeContainers.has(waiting ?? ''));

/** kubelet tries again and again, and says so at least every five minutes. */
const standingMs = 900_000;
/** It also says that it still waits, without saying for what: then the words before these are meant. */
const togetherMs = 300_000;

/** Pure. What a pod that waits in ContainerCreating waits for, by the newest of its own events; nothing when they do not say. */
export function setupTroubles(pod: PodView, events: readonly EventView[], nowMs: number): Trouble[] {
  if (!waitsForSetup(pod)) return [];
  const own = events
    .filter((event) => event.object.uid === pod.uid && setupClassOf(event) && nowMs - event.lastSeenMs < standingMs)
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs);
  const [newest] = own;
  if (!newest) return [];
  const named = own.find((event) => setupClassOf(event) === 'ConfigMissing' && newest.lastSeenMs - event.lastSeenMs < togetherMs); // prettier-ignore
  const isVolume = volumeReasons.has(newest.reason);
  const { reason, message } = isVolume && named ? named : newest;
  const failureClass = setupClassOf({ reason, message })!;
  const { unreadySinceMs: sinceMs } = pod;
  return [{ class: failureClass, reason, message, ...(sinceMs !== undefined && { sinceMs }) }];
}
