import type { EventView, PodView } from '../kube/views.ts';
import type { Trouble } from './trouble.ts';

/*
 * What the words of kubelet, scheduler and controllers name. They are no contract: what is not recognised is not
 * guessed, and the object's own status decides.
 */

/** "ConfigMap missing": what a container or a volume was told to use, and is not there. */
export function missingConfigIn(message: string): string | undefined {
  const object = /\b(configmap|secret)s? "([^"]{1,253})" not found/i.exec(message);
  if (object) return `${kindOf(object[1]!)} ${object[2]}`;
  const key = /couldn't find key (\S{1,253}) in (ConfigMap|Secret) \S*?([^/\s]{1,253})(?:\s|$)/i.exec(message);
  if (key) return `${kindOf(key[2]!)} ${key[3]} (key ${key[1]})`;
  const volume = /references non-existent (config|secret) key: (\S{1,253})/i.exec(message);
  return volume ? `${kindOf(volume[1]!)} key ${volume[2]}` : undefined;
}

const kindOf = (word: string): string => (/^secret/i.test(word) ? 'Secret' : 'ConfigMap');

/** The class in `storageclass.storage.k8s.io "fast" not found`. */
export const missingStorageClassIn = (message: string): string | undefined =>
  /\bstorageclass(?:es)?(?:\.storage\.k8s\.io)? "([a-z0-9][a-z0-9.-]{0,252})" not found/i.exec(message)?.[1];

/** The scheduler waits for volumes, not for a node. */
export const waitsForClaims = (message: string): boolean => /unbound immediate PersistentVolumeClaims/i.test(message);

/** Nothing can be created in a namespace that somebody is deleting. */
export const isBecauseTerminating = (message: string): boolean => /because it is being terminated/.test(message);

/** Waiting reasons of kubelet that mean the image: https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/images/types.go */
export const imageReasons: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** The same in the message of an event, which has the reason Failed, BackOff or InspectFailed for it. */
export const saysImage = (message: string): boolean =>
  /pull(?:ing)? image|Failed to inspect image|default image tag|is not present with pull policy of Never/i.test(
    message,
  ) || imageReasons.has(/^Error: (\w+)/.exec(message)?.[1] ?? '');

/** A container that was made and could not be started: it ends at once, and is started again. */
export const saysNotStarted = (message: string): boolean =>
  /containerd task|start container|OCI runtime|RunContainerError|StartError/i.test(message);

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
  const named = own.find(
    (event) => setupClassOf(event) === 'ConfigMissing' && newest.lastSeenMs - event.lastSeenMs < togetherMs,
  );
  const isVolume = volumeReasons.has(newest.reason);
  const { reason, message } = isVolume && named ? named : newest;
  const failureClass = setupClassOf({ reason, message })!;
  const { unreadySinceMs: sinceMs } = pod;
  return [{ class: failureClass, reason, message, ...(sinceMs !== undefined && { sinceMs }) }];
}
