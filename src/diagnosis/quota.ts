import { type ContainerDefaults, defaultsIn } from '../health/pod-charge.ts';
import { type Demand, needsDefaults, type Room, roomFor } from '../health/quota-room.ts';
import {
  type BlockedOwner,
  isShort,
  otherOwners,
  type Refusals,
  refusalsIn,
  refusalsOf,
  type RefusedOwner,
  saysQuota,
} from '../health/refusals.ts';
import { hasCode, isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { arr, num, obj, type Raw, specIn, statusIn, str } from '../kube/raw.ts';
import { isKnownKind, type Kind } from '../kube/resources.ts';
import { viewDeployment, viewEvent, viewPod, viewReplicaSet } from '../kube/views.ts';
import { createOnce, createSnapshot } from './readers.ts';

export interface QuotaObject extends KubeObject {
  spec?: { hard?: Record<string, string> } & Record<string, unknown>;
  status?: { hard?: Record<string, string>; used?: Record<string, string> };
}

/** undefined if it is gone or being deleted, or another quota has its name now. */
export async function readQuota(
  reader: Reader,
  namespace: string,
  target: { name: string; uid: string },
): Promise<QuotaObject | undefined> {
  const quota = await reader.get<QuotaObject>({ kind: 'ResourceQuota', namespace, name: target.name });
  if (!quota || quota.metadata.deletionTimestamp) return undefined;
  return !target.uid || quota.metadata.uid === target.uid ? quota : undefined;
}

/**
 * If only an Event of the last hour names an owner, and its pods would fit now, it is short of pods for other reasons.
 */
export const isWaiting = ({ kind, fits }: BlockedOwner): boolean => kind === 'ReplicaSet' || !fits;

/** One more of its pods does not fit: the template and the quota's counts prove it. Only these justify a fix. */
export const isProven = ({ shortfalls }: BlockedOwner): boolean => shortfalls.length > 0;

const mostBlocked = 200;
/** More than this many are read from whole lists. */
const mostSingly = 3;

/**
 * The owners whose pods this quota refuses, from a fresh reading, in a fixed order. Conditions and Events only say where
 * to look. Whether an owner is short of pods is in its own status, and whether one more pod fits is computed from its
 * template and the quota's counts. An owner that the quota is merely said to refuse is listed without shortfalls.
 */
export async function readBlocked(reader: Reader, namespace: string, quota: QuotaObject): Promise<BlockedOwner[]> {
  const events = await reader.list<KubeObject>('Event', namespace, { fieldSelector: 'reason=FailedCreate' });
  const refusals = refusalsIn(events.flatMap((event) => viewEvent(event) ?? []));
  const refused = otherOwners(refusals);
  const once = createOnce(refused.length > mostSingly ? createSnapshot(reader, namespace) : reader);
  const [sets, ...others] = await Promise.all([
    readReplicaSets(once, namespace, refusals),
    ...refused.map((owner) => readOther(once, namespace, owner)),
  ]);
  const short = [...sets, ...others.filter((owner) => owner !== undefined)];
  const judged = await Promise.all(short.map((owner) => judge(once, namespace, quota, owner)));
  return judged
    .filter((owner) => owner !== undefined)
    .sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1))
    .slice(0, mostBlocked);
}

/** An owner that has fewer pods than it wants, and creates one more as soon as nobody refuses it. */
interface ShortOwner extends Omit<BlockedOwner, 'shortfalls' | 'fits'> {
  demand: Demand;
  /** The messages with which it was refused, newest first: a claim, not a fact. */
  claims: readonly string[];
}

async function judge(
  reader: Reader,
  namespace: string,
  quota: QuotaObject,
  { demand, claims: [newest = ''], ...owner }: ShortOwner,
): Promise<BlockedOwner | undefined> {
  const defaults = needsDefaults(quota, demand) ? await readDefaults(reader, namespace) : undefined;
  const room: Room = roomFor(quota, demand, defaults);
  if (room.is === 'short') return { ...owner, shortfalls: room.shortfalls, fits: false };
  if (!saysQuota(newest, quota.metadata.name)) return undefined;
  if (room.is === 'enough') return { ...owner, shortfalls: [], fits: true };
  return { ...owner, shortfalls: [], fits: false, unknown: room.why };
}

/** undefined if they may not be read: an older installation's rights lack this list. */
async function readDefaults(reader: Reader, namespace: string): Promise<ContainerDefaults | undefined> {
  try {
    return defaultsIn(await reader.list<KubeObject>('LimitRange', namespace));
  } catch (error) {
    if (isForbidden(error) || hasCode(error, 404)) return undefined;
    throw error;
  }
}

const podSpecIn = (object: KubeObject): Raw => obj(obj(specIn(object)['template'])['spec']);

/** A ReplicaSet's own condition says that its last try failed; that is what keeps it from having its pods. */
async function readReplicaSets(reader: Reader, namespace: string, refusals: Refusals): Promise<ShortOwner[]> {
  const all = await reader.list<KubeObject>('ReplicaSet', namespace);
  const refused = all
    .filter((object) => !object.metadata.deletionTimestamp && isShort('ReplicaSet', object))
    .flatMap((object) => {
      const rs = viewReplicaSet(object);
      return rs?.createFailure === undefined ? [] : [{ rs, object }];
    });
  if (refused.length === 0) return [];
  const deployments = await reader.list<KubeObject>('Deployment', namespace);
  const byUid = new Map(deployments.map((object) => [object.metadata.uid, viewDeployment(object)!]));
  return refused.map(({ rs, object }) => {
    const deployment = rs.owner ? byUid.get(rs.owner.uid) : undefined;
    const workload = rs.owner ? `${rs.owner.kind}/${rs.owner.name}` : `ReplicaSet/${rs.name}`;
    const { ready, desired } = deployment ?? { ready: rs.available, desired: rs.desired };
    const demand = { pod: podSpecIn(object) };
    const claims = refusalsOf(rs, refusals);
    const since = rs.refusedSinceMs === undefined ? {} : { refusedSinceMs: rs.refusedSinceMs };
    return { kind: 'ReplicaSet', name: rs.name, uid: rs.uid, workload, ready, desired, ...since, demand, claims };
  });
}

async function readOther(
  reader: Reader,
  namespace: string,
  { kind, name, uid, refusals: claims }: RefusedOwner,
): Promise<ShortOwner | undefined> {
  const live = isKnownKind(kind) ? await reader.get<KubeObject>({ kind, namespace, name }) : undefined;
  if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp || !isShort(kind, live)) return undefined;
  const demand = await demandOf(reader, kind as Kind, live);
  if (!demand) return undefined;
  const [spec, status] = [specIn(live), statusIn(live)];
  const ready = num(status['readyReplicas'] ?? status['numberReady'] ?? status['ready']);
  const desired = num(status['desiredNumberScheduled'] ?? spec['parallelism'] ?? spec['replicas'], 1);
  return { kind, name, uid, workload: `${kind}/${name}`, ready, desired, demand, claims };
}

/** undefined if it would create nothing now, whoever refuses it or not. */
async function demandOf(reader: Reader, kind: Kind, object: KubeObject): Promise<Demand | undefined> {
  if (kind === 'CronJob') return { counted: 'count/jobs.batch' };
  if (kind !== 'StatefulSet') return { pod: podSpecIn(object) };
  const { namespace = '', name } = object.metadata;
  const ordinal = nextOrdinal(object, await reader.list<KubeObject>('Pod', namespace));
  if (ordinal === undefined) return undefined;
  const templates = arr(specIn(object)['volumeClaimTemplates']);
  const existing = templates.length === 0 ? [] : await reader.list<KubeObject>('PersistentVolumeClaim', namespace);
  const names = new Set(existing.map(({ metadata }) => metadata.name));
  const claims = templates.filter(({ metadata }) => !names.has(`${str(obj(metadata)['name'])}-${name}-${ordinal}`));
  return { pod: podSpecIn(object), claims };
}

/**
 * Pure. The number of the pod that a StatefulSet creates next. It creates them in order, each when those before it are
 * ready, unless it is told to create them in parallel. undefined if it waits for a pod that exists.
 */
export function nextOrdinal(set: KubeObject, pods: readonly KubeObject[]): number | undefined {
  const { replicas, ordinals, podManagementPolicy } = specIn(set);
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const first = num(obj(ordinals)['start']);
  for (let ordinal = first; ordinal < first + num(replicas, 1); ordinal++) {
    const pod = byName.get(`${set.metadata.name}-${ordinal}`);
    if (!pod) return ordinal;
    const view = viewPod(pod);
    if (podManagementPolicy !== 'Parallel' && (view?.deleting || !view?.ready)) return undefined;
  }
  return undefined;
}
