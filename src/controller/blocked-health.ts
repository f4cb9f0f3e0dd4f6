import type { LiveHealth } from '../health/live.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import { controllerOf, viewDeployment } from '../kube/views.ts';

interface Count {
  workload: string;
  ready: number;
  desired: number;
  healthy: boolean;
}

interface Counted extends KubeObject {
  spec?: { replicas?: number; suspend?: boolean };
  status?: Record<string, unknown> & { conditions?: { type: string; status: string }[] };
}

/** After the quota is gone: are the workloads that it blocked as they should be? One that is gone is no trouble. */
export async function readBlockedHealth(
  reader: Reader,
  namespace: string,
  blocked: readonly Blocked[],
): Promise<LiveHealth> {
  const counts = new Map<string, Count>();
  for (const owner of blocked) {
    const count = await read(reader, namespace, owner);
    if (count) counts.set(count.workload, count);
  }
  const all = [...counts.values()];
  const bad = all.filter(({ healthy }) => !healthy);
  return {
    healthy: bad.length === 0,
    why: bad.map(({ workload, ready, desired }) => `${workload} has ${ready}/${desired} ready`).slice(0, 3).join(', '), // prettier-ignore
    ready: all.reduce((sum, { ready }) => sum + ready, 0),
    desired: all.reduce((sum, { desired }) => sum + desired, 0),
    restarts: 0,
    longestUptimeMs: 0,
    affected: all.map(({ workload }) => workload),
    gone: false,
  };
}

async function read(reader: Reader, namespace: string, owner: Blocked): Promise<Count | undefined> {
  const { kind, name, uid } = owner;
  if (!isKnownKind(kind)) return undefined;
  const found = await reader.get<Counted>({ kind, namespace, name });
  const live = found?.metadata.uid === uid ? found : undefined;
  if (kind === 'ReplicaSet') return readReplicaSet(reader, namespace, name, live);
  return live && count(`${kind}/${name}`, kind, live);
}

/** A ReplicaSet of a Deployment may be scaled down or gone because the Deployment rolled on: that one counts. */
async function readReplicaSet(
  reader: Reader,
  namespace: string,
  name: string,
  live: Counted | undefined,
): Promise<Count | undefined> {
  const owner = live && controllerOf(live.metadata);
  if (live && owner?.kind !== 'Deployment') return count(`ReplicaSet/${name}`, 'ReplicaSet', live);
  const deploymentName = owner?.name ?? name.replace(/-[^-]+$/, '');
  const found = await reader.get({ kind: 'Deployment', namespace, name: deploymentName });
  const view = found && viewDeployment(found);
  if (!view) return undefined;
  const { desired, replicas, updated, available, ready, generation, observedGeneration } = view;
  const healthy =
    observedGeneration >= generation && replicas === updated && replicas === available && available >= desired;
  return { workload: `Deployment/${deploymentName}`, ready, desired, healthy };
}

function count(workload: string, kind: string, { metadata, spec = {}, status = {} }: Counted): Count {
  const number = (field: string): number => Number(status[field] ?? 0);
  const has = (type: string): boolean =>
    status.conditions?.some((c) => c.type === type && c.status === 'True') ?? false;
  if (kind === 'Job') {
    const ready = has('Complete') || spec.suspend === true ? 1 : Math.min(number('active'), 1);
    return { workload, ready, desired: 1, healthy: ready > 0 && !has('Failed') };
  }
  const daemon = kind === 'DaemonSet';
  const ready = number(daemon ? 'numberReady' : 'readyReplicas');
  const desired = daemon ? number('desiredNumberScheduled') : (spec.replicas ?? 1);
  const observed = number('observedGeneration') >= (metadata.generation ?? 0);
  return { workload, ready, desired, healthy: observed && ready >= desired };
}
