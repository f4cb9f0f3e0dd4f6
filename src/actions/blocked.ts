import type { KubeObject, Reader } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import type { Kind } from '../kube/resources.ts';
import type { EventView, ReplicaSetView } from '../kube/views.ts';
import { viewEvent, viewReplicaSet } from '../kube/views.ts';

/** An owner of pods other than a ReplicaSet, and whether it still has fewer pods than it wants. */
export interface Owner extends Blocked {
  short: boolean;
}

const mostBlocked = 200;
const otherKinds: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet', 'Job']);

/** "exceeded quota: NAME, requested: ..." and no other quota whose name merely begins like it. */
export function saysQuota(message: string, quotaName: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quotaName);
}

const refusedOwner = (event: EventView, quotaName: string): boolean =>
  event.reason === 'FailedCreate' && otherKinds.has(event.object.kind) && saysQuota(event.message, quotaName);

/** Pure: the owners whose pods this quota refuses, in a fixed order. */
export function blockedBy(
  quotaName: string,
  replicaSets: readonly ReplicaSetView[],
  events: readonly EventView[],
  others: readonly Owner[],
): Blocked[] {
  const refused = new Set(events.filter((event) => refusedOwner(event, quotaName)).map(({ object }) => object.uid));
  const sets = replicaSets
    .filter((rs) => rs.desired > 0 && saysQuota(rs.createFailure ?? '', quotaName))
    .map(({ name, uid }) => ({ kind: 'ReplicaSet', name, uid }));
  const rest = others
    .filter((owner) => owner.short && refused.has(owner.uid))
    .map(({ kind, name, uid }) => ({ kind, name, uid }));
  return [...sets, ...rest]
    .sort((a, b) => `${a.kind}/${a.name}`.localeCompare(`${b.kind}/${b.name}`))
    .slice(0, mostBlocked);
}

interface OwnerObject extends KubeObject {
  spec?: { replicas?: number; suspend?: boolean };
  status?: Record<string, unknown> & { conditions?: { type: string; status: string }[] };
}

/** Whether this owner still has fewer pods than it wants. */
export function isShort(kind: string, object: KubeObject): boolean {
  const { spec = {}, status = {} } = object as OwnerObject;
  const count = (field: string): number => Number(status[field] ?? 0);
  const has = (type: string): boolean =>
    status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
  switch (kind) {
    case 'ReplicaSet':
    case 'StatefulSet':
      return count('replicas') < (spec.replicas ?? 1);
    case 'DaemonSet':
      return count('currentNumberScheduled') < count('desiredNumberScheduled');
    case 'Job':
      return !has('Complete') && !has('Failed') && spec.suspend !== true && count('active') === 0;
    default:
      return false;
  }
}

export async function readBlocked(reader: Reader, namespace: string, quotaName: string): Promise<Blocked[]> {
  const [sets, allEvents] = await Promise.all([
    reader.list('ReplicaSet', namespace),
    reader.list('Event', namespace, { fieldSelector: 'reason=FailedCreate' }),
  ]);
  const events = allEvents.flatMap((event) => viewEvent(event) ?? []).filter((event) => refusedOwner(event, quotaName));
  const named = new Map(events.map(({ object }) => [object.uid, object]));
  const others: Owner[] = [];
  for (const { kind, name, uid } of [...named.values()].slice(0, mostBlocked)) {
    const object = await reader.get({ kind: kind as Kind, namespace, name });
    if (object?.metadata.uid === uid) others.push({ kind, name, uid, short: isShort(kind, object) });
  }
  const replicaSets = sets.flatMap((set) => viewReplicaSet(set) ?? []);
  return blockedBy(quotaName, replicaSets, events, others);
}
