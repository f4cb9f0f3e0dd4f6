import type { KubeObject } from '../kube/api.ts';
import type { EventView, ReplicaSetView } from '../kube/views.ts';
import { quantity } from '../lib/quantity.ts';

/** "exceeded quota: NAME, requested: ..." and no other quota whose name merely begins like it. */
export function saysQuota(message: string, quota: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quota);
}

/** One limit that a pod did not fit in. */
export interface Excess {
  resource: string;
  asked: string;
  used: string;
  limit: string;
}

/** "requested: requests.memory=128Mi, used: requests.memory=0, limited: requests.memory=50Mi": only limits that were exceeded are named. */
export function excessIn(message: string): Excess[] {
  const [, asked, used, limited] = /requested: (\S+), used: (\S+), limited: (\S+)/.exec(message) ?? [];
  const amounts = (list = ''): Map<string, string> =>
    new Map(list.split(',').map((pair) => pair.split('=') as [string, string]));
  return [...amounts(limited)].flatMap(([resource, limit]) =>
    limit
      ? [{ resource, limit, asked: amounts(asked).get(resource) ?? '', used: amounts(used).get(resource) ?? '' }]
      : [],
  );
}

export interface QuotaCounts {
  hard?: Record<string, string> | undefined;
  used?: Record<string, string> | undefined;
}

/** Whether what was refused would be let through now: the limit was raised, or others left room. In doubt it would not. */
export function wouldFit(refusal: string, { hard = {}, used = {} }: QuotaCounts): boolean {
  const excess = excessIn(refusal);
  return (
    excess.length > 0 &&
    excess.every(({ resource, asked }) => {
      const limit = hard[resource];
      if (limit === undefined) return true; // the quota no longer limits this at all
      const total = (quantity(used[resource] ?? '') ?? Number.NaN) + (quantity(asked) ?? Number.NaN);
      return total <= (quantity(limit) ?? Number.NaN) * (1 + 1e-9); // 0.1 + 0.2 is a little more than 0.3
    })
  );
}

/**
 * What a ReplicaSet's pods are refused with now. Its condition tells that they are, but keeps the words of the first
 * refusal, whatever came after it: the newest event knows better, as long as there is one.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/replicaset/replica_set_utils.go (calculateStatus)
 */
export function refusalOf({ uid, desired, createFailure }: ReplicaSetView, events: Refusals): string | undefined {
  return desired > 0 && createFailure !== undefined ? (events.get(uid)?.refusal ?? createFailure) : undefined;
}

export interface RefusedOwner {
  kind: string;
  name: string;
  uid: string;
  /** The API server's words. */
  refusal: string;
}
/** By the owner's uid. */
export type Refusals = ReadonlyMap<string, RefusedOwner>;

/** What each owner was refused with last. */
export function lastRefusals(events: readonly EventView[]): Refusals {
  const refused = events.filter(({ reason }) => reason === 'FailedCreate').sort((a, b) => a.lastSeenMs - b.lastSeenMs);
  return new Map(refused.map(({ object, message }) => [object.uid, { ...object, refusal: message }]));
}

const otherKinds: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet', 'Job', 'CronJob']);

/** These keep no such condition: their events name them, and `isShort` tells whether it still holds. */
export const otherOwners = (quota: string, refusals: Refusals): RefusedOwner[] =>
  [...refusals.values()].filter(({ kind, refusal }) => otherKinds.has(kind) && saysQuota(refusal, quota));

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
    case 'CronJob': // a quota on Jobs refuses those of the next schedule as well
      return spec.suspend !== true;
    default:
      return false;
  }
}
