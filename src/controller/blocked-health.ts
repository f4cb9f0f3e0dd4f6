import { readAffected } from '../diagnosis/health.ts';
import { createSnapshot } from '../diagnosis/snapshot.ts';
import type { LiveHealth } from '../health/live.ts';
import { gone } from '../health/workload.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import { controllerOf } from '../kube/views.ts';

/** After the quota is gone: are the workloads that it blocked as they should be? One of several that is gone is no trouble. */
export async function readBlockedHealth(
  reader: Reader,
  namespace: string,
  blocked: readonly Blocked[],
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): Promise<LiveHealth> {
  if (blocked.length === 0) return { ...gone, gone: false, healthy: false, why: 'whom it blocked is not known' };
  const from = createSnapshot(reader, namespace);
  const workloads = await Promise.all(blocked.map((owner) => workloadOf(from, namespace, owner)));
  return readAffected(reader, namespace, [...new Set(workloads)], nowMs, sinceMs);
}

/** A ReplicaSet may be scaled down or gone because its Deployment rolled on: the Deployment is what counts. */
async function workloadOf(reader: Reader, namespace: string, { kind, name, uid }: Blocked): Promise<string> {
  if (kind !== 'ReplicaSet') return `${kind}/${name}`;
  const live = await reader.get<KubeObject>({ kind, namespace, name });
  if (live?.metadata.uid !== uid) return `Deployment/${name.replace(/-[^-]+$/, '')}`;
  const owner = controllerOf(live.metadata);
  return owner?.kind === 'Deployment' ? `Deployment/${owner.name}` : `ReplicaSet/${name}`;
}
