import { isReplicaSetBlocked, isShort, ownersNamedBy, type RefusedOwner, wouldFit } from '../health/blocked.ts';
import type { BlockedOwner } from '../health/quota.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import { viewDeployment, viewEvent, viewReplicaSet } from '../kube/views.ts';

export interface QuotaObject extends KubeObject {
  spec?: { hard?: Record<string, string> } & Record<string, unknown>;
  status?: { used?: Record<string, string> };
}

/** undefined: it is gone or going, or another quota has its name now. */
export async function readQuota(
  reader: Reader,
  namespace: string,
  target: { name: string; uid: string },
): Promise<QuotaObject | undefined> {
  const quota = await reader.get<QuotaObject>({ kind: 'ResourceQuota', namespace, name: target.name });
  if (!quota || quota.metadata.deletionTimestamp) return undefined;
  return !target.uid || quota.metadata.uid === target.uid ? quota : undefined;
}

const mostBlocked = 200;

/** Whose pods this quota refuses, by a fresh reading, in a fixed order. */
export async function readBlocked(
  reader: Reader,
  namespace: string,
  { metadata, spec, status }: QuotaObject,
): Promise<BlockedOwner[]> {
  const quota = metadata.name;
  const [replicaSets, events] = await Promise.all([
    blockedReplicaSets(reader, namespace, quota),
    reader.list<KubeObject>('Event', namespace, { fieldSelector: 'reason=FailedCreate' }),
  ]);
  const views = events.flatMap((event) => viewEvent(event) ?? []);
  // An event is an hour's memory: what it refused may have room by now.
  const named = ownersNamedBy(quota, views).filter(({ refusal }) => !wouldFit(refusal, { ...spec, ...status }));
  const others = await Promise.all(named.map((owner) => readOther(reader, namespace, owner)));
  return [...replicaSets, ...others.filter((owner) => owner !== undefined)]
    .sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1))
    .slice(0, mostBlocked);
}

async function blockedReplicaSets(reader: Reader, namespace: string, quota: string): Promise<BlockedOwner[]> {
  const all = await reader.list<KubeObject>('ReplicaSet', namespace);
  const blocked = all.flatMap((object) => viewReplicaSet(object) ?? []).filter((rs) => isReplicaSetBlocked(quota, rs));
  if (blocked.length === 0) return [];
  const deployments = await reader.list<KubeObject>('Deployment', namespace);
  const byUid = new Map(deployments.map((object) => [object.metadata.uid, viewDeployment(object)!]));
  return blocked.map((rs) => {
    const deployment = rs.owner ? byUid.get(rs.owner.uid) : undefined;
    const workload = rs.owner ? `${rs.owner.kind}/${rs.owner.name}` : `ReplicaSet/${rs.name}`;
    const counts = deployment ?? { ready: rs.available, desired: rs.desired };
    const { name, uid, createFailure: refusal = '' } = rs;
    return { kind: 'ReplicaSet', name, uid, workload, ready: counts.ready, desired: counts.desired, refusal };
  });
}

interface Counted extends KubeObject {
  spec?: { replicas?: number; parallelism?: number };
  status?: { readyReplicas?: number; numberReady?: number; ready?: number; desiredNumberScheduled?: number };
}

async function readOther(
  reader: Reader,
  namespace: string,
  { kind, name, uid, refusal }: RefusedOwner,
): Promise<BlockedOwner | undefined> {
  const live = isKnownKind(kind) ? await reader.get<Counted>({ kind, namespace, name }) : undefined;
  if (live?.metadata.uid !== uid || !isShort(kind, live)) return undefined;
  const { spec = {}, status = {} } = live;
  const ready = status.readyReplicas ?? status.numberReady ?? status.ready ?? 0;
  const desired = status.desiredNumberScheduled ?? spec.parallelism ?? spec.replicas ?? 1;
  return { kind, name, uid, workload: `${kind}/${name}`, ready, desired, refusal };
}
