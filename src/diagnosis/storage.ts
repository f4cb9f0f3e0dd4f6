import { claimTroubles } from '../health/cluster.ts';
import { missingStorageClassIn } from '../health/event-words.ts';
import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { arr, controllerOf, obj, specIn, statusIn, str } from '../kube/raw.ts';
import { viewClaim } from '../kube/views.ts';
import { counted, line } from '../lib/text.ts';
import { readEvents } from './events.ts';
import { missingIn, missingInWords } from './words/references.ts';

/** The error of a remote call has the driver's own message at its end. */
const bare = (text: string): string => line(text.replace(/^.*?\bdesc = /s, ''), 240);

/** "pod(s) web-0 and 2 pod(s) in different namespaces" */
const users = (text: string): string => line(text.replace(/(?<!\d )pod\(s\) /g, '').replaceAll('pod(s)', 'pods'), 120);

type Rule = [RegExp, (match: RegExpExecArray) => string];

const rules: readonly Rule[] = [
  [
    /Multi-Attach error for volume "([^"]+)" Volume is already used by ([^\n]+)/,
    ([, volume, by]) => `volume ${volume} is still in use on another node, by ${users(by!)}`,
  ],
  [
    /Multi-Attach error for volume "([^"]+)" Volume is already exclusively attached/,
    ([, volume]) => `volume ${volume} is still attached to another node`,
  ],
  [
    /AttachVolume\.\w+ failed for volume "([^"]+)" : ([\s\S]+)$/,
    ([, volume, why]) => `volume ${volume} cannot be attached: ${bare(why!)}`,
  ],
  [
    /(?:MountVolume|MapVolume)\.NodeAffinity check failed for volume "([^"]+)"/,
    ([, volume]) => `volume ${volume} cannot be used on this node`,
  ],
  [
    /driver name (\S+) not found in the list of registered CSI drivers/,
    ([, driver]) => `storage driver ${driver} is not running on the node`,
  ],
  [
    /hostPath type check failed: (\S+) is not (?:a |an )?([^\n]+)$/,
    ([, path, what]) => `host path ${path} is not a ${line(what!, 40)}`,
  ],
  [
    /failed to sync (configmap|secret) cache: timed out/,
    ([, kind]) => `kubelet could not read a ${kind === 'secret' ? 'Secret' : 'ConfigMap'} in time`,
  ],
  [
    /(?:MountVolume|MapVolume)(?:\.\w+)?(?: initialization| check)? failed(?: while [^"]*)? for volume "([^"]+)" : ([\s\S]+)$/,
    ([, volume, why]) => `volume ${volume} cannot be mounted: ${bare(why!)}`,
  ],
  [
    /error processing PVC [^/]+\/(\S+): failed to fetch PVC from API server: persistentvolumeclaims? "[^"]+" not found/,
    ([, claim]) => `volume claim ${claim} does not exist`,
  ],
  [
    /unmounted volumes=\[([^\]]*)\][\s\S]*failed to process volumes=\[[^\]]*\]: (?!timed out|context deadline)([\s\S]+)$/,
    ([, volumes, why]) => `volume ${volumes} cannot be mounted: ${bare(why!)}`,
  ],
  [
    /unmounted volumes=\[([^\]]*)\]/,
    ([, volumes]) => `volume ${volumes!.trim().replaceAll(' ', ', ')} was not mounted in time`,
  ],
];

/** Pure. Why a pod waits for a volume, from the message of an Event. */
export function volumeInWords(message: string): string {
  const missing = missingIn(message);
  if (missing.length > 0) return missing.map(missingInWords).join('; ');
  for (const [pattern, words] of rules) {
    const match = pattern.exec(message);
    if (match) return words(match);
  }
  return bare(message);
}

const claimRules: readonly Rule[] = [
  [
    /no persistent volumes available for this claim and no storage class is set/,
    () => 'it names no StorageClass, there is no default one, and no volume fits it',
  ],
  [/Bound claim has lost (?:its|reference to) PersistentVolume/, () => 'the volume it was bound to is gone'],
  [/Two claims are bound to the same volume/, () => 'another claim is bound to the same volume'],
  [
    /Cannot bind to requested volume "([^"]+)": ([\s\S]+)$/,
    ([, volume, why]) => `volume ${volume} does not fit it: ${bare(why!)}`,
  ],
  [
    /failed to provision volume with StorageClass "([^"]+)": ([\s\S]+)$/,
    ([, name, why]) => `StorageClass ${name} makes no volume: ${bare(why!)}`,
  ],
];

/** Pure. Why a claim has no volume, from the message of an Event. */
export function claimInWords(message: string): string {
  const missing = missingStorageClassIn(message);
  if (missing) return `StorageClass ${missing} does not exist`;
  for (const [pattern, words] of claimRules) {
    const match = pattern.exec(message);
    if (match) return words(match);
  }
  return bare(message);
}

const mostNamed = 6;

/** Pure. "3 claims wait for it: shop/data, shop/logs, pay/db" */
export function claimsInWords(claims: readonly KubeObject[]): string {
  const names = claims.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
  const others = names.length > mostNamed ? ` and ${names.length - mostNamed} others` : '';
  return `${counted(names.length, 'claim')} ${names.length === 1 ? 'waits' : 'wait'} for it: ${names.slice(0, mostNamed).join(', ')}${others}`;
}

/** Reasons for a failure, and reasons that show that it continues after all. */
const claimReasons = [
  'ProvisioningFailed',
  'FailedBinding',
  'ClaimLost',
  'ClaimMisbound',
  'VolumeMismatch',
  'WaitForFirstConsumer',
  'WaitForPodScheduled',
  'ProvisioningSucceeded',
];

interface ClaimFacts {
  object: KubeObject;
  /** Why it has no volume; empty if no Event says so. */
  why: string;
  /** "10Gi of StorageClass fast" */
  asks: string;
  /** Pods that cannot start without it. */
  waiting: string[];
  /** The StatefulSet that made it from its volumeClaimTemplates, by the pod that it was made for. */
  madeBy?: string;
}

const classOf = (claim: KubeObject): string => str(specIn(claim)['storageClassName']);

/** undefined if it is gone, or another one has its name. */
export async function readClaim(
  reader: Reader,
  namespace: string,
  { name, uid }: { name: string; uid: string },
): Promise<ClaimFacts | undefined> {
  const object = await reader.get<KubeObject>({ kind: 'PersistentVolumeClaim', namespace, name });
  if (!object || (uid && object.metadata.uid !== uid)) return undefined;
  const [events, pods] = await Promise.all([
    readEvents(reader, namespace, claimReasons, [object.metadata.uid]),
    reader.list<KubeObject>('Pod', namespace),
  ]);
  const view = viewClaim(object);
  const [trouble] = view ? claimTroubles(view, 'unknown', events) : [];
  const size = String(obj(obj(specIn(object)['resources'])['requests'])['storage'] ?? '');
  const madeFor = pods.find((pod) => mounts(pod, name) && isMadeFor(name, pod));
  const madeBy = madeFor && controllerOf(madeFor.metadata)?.name;
  return {
    object,
    ...(madeBy !== undefined && { madeBy }),
    why: trouble ? claimInWords(trouble.message) : '',
    asks: [size, classOf(object) && `of StorageClass ${classOf(object)}`].filter(Boolean).join(' '),
    waiting: pods.filter((pod) => mounts(pod, name)).map(({ metadata }) => metadata.name),
  };
}

/** A claim of a StatefulSet is named after its template and its pod, in this order. */
const isMadeFor = (claim: string, { metadata }: KubeObject): boolean =>
  controllerOf(metadata)?.kind === 'StatefulSet' && claim.endsWith(`-${metadata.name}`);

const mounts = (pod: KubeObject, claim: string): boolean =>
  arr(specIn(pod)['volumes']).some((volume) => obj(volume['persistentVolumeClaim'])['claimName'] === claim);

/** The claims of the whole cluster that wait for this StorageClass; undefined if they may not be listed. */
export async function readClaimsOf(reader: Reader, storageClass: string): Promise<KubeObject[] | undefined> {
  // Forbidden where tapfix has rights in a few namespaces only.
  const all = await reader.list<KubeObject>('PersistentVolumeClaim').catch(ifForbidden(undefined));
  return all?.filter((claim) => classOf(claim) === storageClass && statusIn(claim)['phase'] !== 'Bound');
}
