import type { EventView, PodView } from '../kube/views.ts';
import type { Trouble } from './trouble.ts';

/*
 * Facts read from the messages of kubelet, scheduler and controllers. These texts are not a contract: a text that is
 * not recognised is not guessed at, and the object's own status decides.
 */

/** "ConfigMap missing": the object that a container or a volume refers to and that does not exist. */
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

/** True if the scheduler waits for volumes, not for a node. */
export const waitsForClaims = (message: string): boolean => /unbound immediate PersistentVolumeClaims/i.test(message);

/** Nothing can be created in a namespace that somebody is deleting. */
export const isBecauseTerminating = (message: string): boolean => /because it is being terminated/.test(message);

/**
 * Waiting reasons of kubelet that mean the image:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/images/types.go
 */
export const imageReasons: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

/** The same from the message of an event, whose reason is then Failed, BackOff or InspectFailed. */
export const saysImage = (message: string): boolean =>
  /pull(?:ing)? image|Failed to inspect image|default image tag|is not present with pull policy of Never/i.test(
    message,
  ) || imageReasons.has(/^Error: (\w+)/.exec(message)?.[1] ?? '');

/** A container that was created but could not be started: it ends at once, and is started again. */
export const saysNotStarted = (message: string): boolean =>
  /containerd task|start container|OCI runtime|RunContainerError|StartError/i.test(message);

const volumeReasons: ReadonlySet<string> = new Set(['FailedMount', 'FailedAttachVolume', 'FailedMapVolume']);
const sandboxReasons: ReadonlySet<string> = new Set([
  'FailedCreatePodSandBox',
  'FailedCreatePodContainer',
  'NetworkNotReady',
  'FailedPrepareDynamicResources',
]);

/** The class of what a pod waits for before any of its containers can be created, according to an event. */
export function setupClassOf({ reason, message }: Pick<EventView, 'reason' | 'message'>): string | undefined {
  if (volumeReasons.has(reason)) return missingConfigIn(message) ? 'ConfigMissing' : 'VolumeStuck';
  return sandboxReasons.has(reason) ? 'SandboxFailed' : undefined;
}

const beforeContainers: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Its node has accepted it, but has created neither its network nor its volumes yet. Once these exist, it waits for an
 * image.
 */
export const waitsForSetup = (pod: PodView): boolean =>
  !pod.deleting &&
  pod.phase !== 'Failed' &&
  pod.hasSandbox !== true &&
  pod.containers.some(({ waiting }) => beforeContainers.has(waiting ?? ''));

/** kubelet retries again and again, and reports it at least every five minutes. */
const standingMs = 900_000;
/** kubelet also reports that it still waits, without the reason. Then the message just before gives the reason. */
const togetherMs = 300_000;

/** Pure. The reason why a pod waits in ContainerCreating, by the newest of its own events; empty when unknown. */
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
