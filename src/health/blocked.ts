import type { EventView, ReplicaSetView } from '../kube/views.ts';

/** Whether a controller's words say that this very quota refused its pods. */
export const isRefusedBy = (quota: string, message: string): boolean => {
  const at = message.indexOf(`exceeded quota: ${quota}`);
  if (at < 0) return false;
  const next = message[at + `exceeded quota: ${quota}`.length];
  return next === undefined || next === ','; // "team" must not match "team-b"
};

/** A ReplicaSet keeps its refusal as a condition, cleared by itself with the first pod that gets through. */
export const isReplicaSetBlocked = (quota: string, rs: ReplicaSetView): boolean =>
  rs.desired > 0 && rs.createFailure !== undefined && isRefusedBy(quota, rs.createFailure);

/** The other owners keep no such condition: their events name them, and their counts tell whether it still holds. */
export function ownersNamedBy(quota: string, events: readonly EventView[]): EventView['object'][] {
  const named = new Map<string, EventView['object']>();
  for (const { reason, message, object } of events) {
    const isOther = object.kind !== 'ReplicaSet' && object.uid !== '';
    if (isOther && reason === 'FailedCreate' && isRefusedBy(quota, message)) named.set(object.uid, object);
  }
  return [...named.values()];
}

/** Pods that are there and pods that should be, of a StatefulSet, DaemonSet or Job. */
export function podCounts(kind: string, spec: Counts, status: Counts): { there: number; wanted: number } {
  if (kind === 'DaemonSet')
    return { there: status['currentNumberScheduled'] ?? 0, wanted: status['desiredNumberScheduled'] ?? 0 };
  if (kind === 'Job') {
    const there = (status['active'] ?? 0) + (status['succeeded'] ?? 0) + (status['failed'] ?? 0);
    return { there, wanted: Math.min(spec['parallelism'] ?? 1, spec['completions'] ?? 1) };
  }
  return { there: status['replicas'] ?? 0, wanted: spec['replicas'] ?? 1 };
}

export type Counts = Record<string, number | undefined>;
