import {
  type BlockedOwner,
  isShort,
  otherOwners,
  refusalBy,
  refusalsIn,
  refusalsOf,
  type RefusedOwner,
  standingRefusals,
  wouldFit,
} from '../health/refusals.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import { type ReplicaSetView, viewDeployment, viewEvent, viewReplicaSet } from '../kube/views.ts';

export interface QuotaObject extends KubeObject {
  spec?: { hard?: Record<string, string> } & Record<string, unknown>;
  status?: { used?: Record<string, string> };
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

const mostBlocked = 200;

/** The owners whose pods this quota refuses, from a fresh reading, in a fixed order. */
export async function readBlocked(reader: Reader, namespace: string, quota: QuotaObject): Promise<BlockedOwner[]> {
  const { metadata, spec, status } = quota;
  const events = await reader.list<KubeObject>('Event', namespace, { fieldSelector: 'reason=FailedCreate' });
  const refusals = refusalsIn(events.flatMap((event) => viewEvent(event) ?? []));
  const fits = (refusal: string): boolean => wouldFit(refusal, { ...spec, ...status });
  const refusal = (words: readonly string[]): string | undefined => refusalBy(metadata.name, words, fits);
  const refused = otherOwners(refusals);
  const podNames = refused.length > 0 ? await readPodNames(reader, namespace) : new Set<string>();
  const [sets, ...others] = await Promise.all([
    blockedReplicaSets(reader, namespace, (rs) => refusal(refusalsOf(rs, refusals))),
    ...refused.map((owner) => readOther(reader, namespace, owner, refusal(standingRefusals(owner, podNames)))),
  ]);
  return [...sets, ...others.filter((owner) => owner !== undefined)]
    .map((owner) => ({ ...owner, fits: fits(owner.refusal) }))
    .sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1))
    .slice(0, mostBlocked);
}

async function readPodNames(reader: Reader, namespace: string): Promise<Set<string>> {
  const pods = await reader.list<KubeObject>('Pod', namespace);
  return new Set(pods.map(({ metadata }) => metadata.name));
}

type Refused = Omit<BlockedOwner, 'fits'>;

async function blockedReplicaSets(
  reader: Reader,
  namespace: string,
  refusalOf: (rs: ReplicaSetView) => string | undefined,
): Promise<Refused[]> {
  const all = await reader.list<KubeObject>('ReplicaSet', namespace);
  const blocked = all
    .flatMap((object) => viewReplicaSet(object) ?? [])
    .flatMap((rs) => {
      const refusal = refusalOf(rs);
      return refusal === undefined ? [] : [{ rs, refusal }];
    });
  if (blocked.length === 0) return [];
  const deployments = await reader.list<KubeObject>('Deployment', namespace);
  const byUid = new Map(deployments.map((object) => [object.metadata.uid, viewDeployment(object)!]));
  return blocked.map(({ rs, refusal }) => {
    const deployment = rs.owner ? byUid.get(rs.owner.uid) : undefined;
    const workload = rs.owner ? `${rs.owner.kind}/${rs.owner.name}` : `ReplicaSet/${rs.name}`;
    const { ready, desired } = deployment ?? { ready: rs.available, desired: rs.desired };
    const since = rs.refusedSinceMs === undefined ? {} : { refusedSinceMs: rs.refusedSinceMs };
    return { kind: 'ReplicaSet', name: rs.name, uid: rs.uid, workload, ready, desired, refusal, ...since };
  });
}

interface Counted extends KubeObject {
  spec?: { replicas?: number; parallelism?: number };
  status?: { readyReplicas?: number; numberReady?: number; ready?: number; desiredNumberScheduled?: number };
}

async function readOther(
  reader: Reader,
  namespace: string,
  { kind, name, uid }: RefusedOwner,
  refusal: string | undefined,
): Promise<Refused | undefined> {
  if (refusal === undefined) return undefined;
  const live = isKnownKind(kind) ? await reader.get<Counted>({ kind, namespace, name }) : undefined;
  if (live?.metadata.uid !== uid || !isShort(kind, live)) return undefined;
  const { spec = {}, status = {} } = live;
  const ready = status.readyReplicas ?? status.numberReady ?? status.ready ?? 0;
  const desired = status.desiredNumberScheduled ?? spec.parallelism ?? spec.replicas ?? 1;
  return { kind, name, uid, workload: `${kind}/${name}`, ready, desired, refusal };
}
