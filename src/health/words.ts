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
