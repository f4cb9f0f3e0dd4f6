import { isReplicaSetBlocked, ownersNamedBy, podCounts, type Counts } from '../health/blocked.ts';
import type { BlockedOwner } from '../health/quota.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import { viewDeployment, viewEvent, viewReplicaSet } from '../kube/views.ts';

export interface QuotaObject extends KubeObject {
  spec?: { hard?: Record<string, string> } & Record<string, unknown>;
  status?: { used?: Record<string, string> };
}

/** undefined: it is gone, or another quota has its name now. */
export async function readQuota(
  reader: Reader,
  namespace: string,
  target: { name: string; uid: string },
): Promise<QuotaObject | undefined> {
  const quota = await reader.get<QuotaObject>({ kind: 'ResourceQuota', namespace, name: target.name });
  return quota && (!target.uid || quota.metadata.uid === target.uid) ? quota : undefined;
}

/** Whose pods this quota refuses, by a fresh reading. */
export async function readBlocked(reader: Reader, namespace: string, quota: string): Promise<BlockedOwner[]> {
  const [replicaSets, events] = await Promise.all([
    blockedReplicaSets(reader, namespace, quota),
    reader.list<KubeObject>('Event', namespace, { fieldSelector: 'reason=FailedCreate' }),
  ]);
  const views = events.map(viewEvent).filter((event) => event !== undefined);
  const others = await Promise.all(ownersNamedBy(quota, views).map((owner) => readOther(reader, namespace, owner)));
  return [...replicaSets, ...others.filter((owner) => owner !== undefined)];
}

async function blockedReplicaSets(reader: Reader, namespace: string, quota: string): Promise<BlockedOwner[]> {
  const all = await reader.list<KubeObject>('ReplicaSet', namespace);
  const blocked = all.map((object) => viewReplicaSet(object)!).filter((rs) => isReplicaSetBlocked(quota, rs));
  if (blocked.length === 0) return [];
  const deployments = await reader.list<KubeObject>('Deployment', namespace);
  const byUid = new Map(deployments.map((object) => [object.metadata.uid, viewDeployment(object)!]));
  return blocked.map((rs) => {
    const deployment = rs.owner ? byUid.get(rs.owner.uid) : undefined;
    const workload = rs.owner ? `${rs.owner.kind}/${rs.owner.name}` : `ReplicaSet/${rs.name}`;
    const counts = deployment ?? { ready: rs.available, desired: rs.desired };
    return { kind: 'ReplicaSet', name: rs.name, uid: rs.uid, workload, ready: counts.ready, desired: counts.desired };
  });
}

async function readOther(
  reader: Reader,
  namespace: string,
  { kind, name, uid }: { kind: string; name: string; uid: string },
): Promise<BlockedOwner | undefined> {
  if (!isKnownKind(kind)) return undefined;
  const live = await reader.get<KubeObject & { spec?: Counts; status?: Counts }>({ kind, namespace, name });
  if (live?.metadata.uid !== uid) return undefined;
  const { there, wanted } = podCounts(kind, live.spec ?? {}, live.status ?? {});
  if (there >= wanted) return undefined;
  return { kind, name, uid, workload: `${kind}/${name}`, ready: live.status?.['readyReplicas'] ?? 0, desired: wanted };
}
