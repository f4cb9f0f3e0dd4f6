import type { KubeObject } from '../kube/api.ts';
import type { EventView, ReplicaSetView } from '../kube/views.ts';

/** "exceeded quota: NAME, requested: ..." and no other quota whose name merely begins like it. */
export function saysQuota(message: string, quota: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quota);
}

/** A ReplicaSet keeps its refusal as a condition, cleared by itself with the first pod that gets through. */
export const isReplicaSetBlocked = (quota: string, rs: ReplicaSetView): boolean =>
  rs.desired > 0 && saysQuota(rs.createFailure ?? '', quota);

const otherKinds: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet', 'Job']);

/** The other owners keep no such condition: their events name them, and `isShort` tells whether it still holds. */
export function ownersNamedBy(quota: string, events: readonly EventView[]): EventView['object'][] {
  const named = new Map<string, EventView['object']>();
  for (const { reason, message, object } of events)
    if (otherKinds.has(object.kind) && reason === 'FailedCreate' && saysQuota(message, quota))
      named.set(object.uid, object);
  return [...named.values()];
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
