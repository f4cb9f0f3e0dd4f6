import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { arr, obj, specIn, statusIn, str } from '../kube/raw.ts';
import { claimTroubles } from '../health/cluster.ts';
import { viewClaim } from '../kube/views-cluster.ts';
import { readEvents } from './events.ts';
import { claimInWords } from './words/volume.ts';

/** What went wrong, and what shows that it goes on after all. */
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

export interface ClaimFacts {
  object: KubeObject;
  /** Why it has no volume; empty when nobody said. */
  why: string;
  /** "10Gi of StorageClass fast" */
  asks: string;
  /** Pods that cannot start without it. */
  waiting: string[];
}

const classOf = (claim: KubeObject): string => str(specIn(claim)['storageClassName']);

/** undefined: it is gone, or another one has its name. */
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
  return {
    object,
    why: trouble ? claimInWords(trouble.message) : '',
    asks: [size, classOf(object) && `of StorageClass ${classOf(object)}`].filter(Boolean).join(' '),
    waiting: pods.filter((pod) => mounts(pod, name)).map(({ metadata }) => metadata.name),
  };
}

const mounts = (pod: KubeObject, claim: string): boolean =>
  arr(specIn(pod)['volumes']).some((volume) => obj(volume['persistentVolumeClaim'])['claimName'] === claim);

/** The claims of the whole cluster that wait for this StorageClass; undefined when they may not be listed. */
export async function readClaimsOf(reader: Reader, storageClass: string): Promise<KubeObject[] | undefined> {
  try {
    const all = await reader.list<KubeObject>('PersistentVolumeClaim');
    return all.filter((claim) => classOf(claim) === storageClass && statusIn(claim)['phase'] !== 'Bound');
  } catch (error) {
    if (isForbidden(error)) return undefined; // rights in a few namespaces only
    throw error;
  }
}
