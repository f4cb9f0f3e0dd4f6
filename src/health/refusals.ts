import type { KubeObject } from '../kube/api.ts';
import { hasCondition } from '../kube/raw.ts';
import type { DeploymentView, EventView, ReplicaSetView } from '../kube/views.ts';
import { quantity } from '../lib/quantity.ts';
import { isBecauseTerminating } from './event-words.ts';
import type { LiveHealth, Trouble } from './trouble.ts';
import { gone } from './workload-health.ts';

/** "exceeded quota: NAME, requested: ..." and no other quota whose name merely begins like it. */
export function saysQuota(message: string, quota: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quota);
}

/** One limit that a pod did not fit in. */
interface Excess {
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

interface QuotaCounts {
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

/** Who was refused, and with which words, newest first. */
export interface RefusedOwner {
  kind: string;
  name: string;
  uid: string;
  refusals: string[];
}
/** By the owner's uid. */
type Refusals = ReadonlyMap<string, RefusedOwner>;

export function refusalsIn(events: readonly EventView[]): Refusals {
  const owners = new Map<string, RefusedOwner>();
  const refused = events.filter(({ reason }) => reason === 'FailedCreate').sort((a, b) => b.lastSeenMs - a.lastSeenMs);
  for (const { object, message } of refused) {
    const owner = owners.get(object.uid) ?? { kind: object.kind, name: object.name, uid: object.uid, refusals: [] };
    owner.refusals.push(message);
    owners.set(object.uid, owner);
  }
  return owners;
}

/**
 * The words with which this quota stands in the way: those that would still be true, else its newest if nobody else has
 * refused since. With two full quotas a try names the one or the other, and both are in the way.
 */
export function refusalBy(
  quota: string,
  refusals: readonly string[],
  fits: (refusal: string) => boolean,
): string | undefined {
  const [newest] = refusals;
  const still = refusals.find((refusal) => saysQuota(refusal, quota) && !fits(refusal));
  return still ?? (newest !== undefined && saysQuota(newest, quota) ? newest : undefined);
}

/**
 * With which words a ReplicaSet's pods are refused; none when its last try succeeded. Its condition tells that they are,
 * but keeps the words of the first refusal, whatever came after it: events know better, as long as there are any.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/replicaset/replica_set_utils.go (calculateStatus)
 */
export function refusalsOf({ uid, desired, createFailure }: ReplicaSetView, events: Refusals): readonly string[] {
  if (desired === 0 || createFailure === undefined) return [];
  return events.get(uid)?.refusals ?? [createFailure];
}

/** That a pod was refused is history once it is there, as one of a StatefulSet is under the same name. */
export const standingRefusals = ({ refusals }: RefusedOwner, podNames: ReadonlySet<string>): string[] =>
  refusals.filter((words) => !podNames.has(/pods "([^"]+)" is forbidden/.exec(words)?.[1] ?? ''));

const otherKinds: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet', 'Job', 'CronJob']);

/** These keep no such condition: their events name them, and `isShort` tells whether it still holds. */
export const otherOwners = (refusals: Refusals): RefusedOwner[] =>
  [...refusals.values()].filter(({ kind }) => otherKinds.has(kind));

interface OwnerObject extends KubeObject {
  spec?: { replicas?: number; parallelism?: number; completions?: number; suspend?: boolean };
  status?: Record<string, unknown>;
}

/** At once, and of those that are left. */
function wantedByJob(
  { parallelism = 1, completions }: NonNullable<OwnerObject['spec']>,
  count: (field: string) => number,
) {
  return Math.min(parallelism, (completions ?? parallelism) - count('succeeded'));
}

/** Whether this owner still has fewer pods than it wants. */
export function isShort(kind: string, object: KubeObject): boolean {
  const { spec = {}, status = {} } = object as OwnerObject;
  const count = (field: string): number => Number(status[field] ?? 0);
  const has = (type: string): boolean => hasCondition(object, type);
  switch (kind) {
    case 'ReplicaSet':
    case 'StatefulSet':
      return count('replicas') < (spec.replicas ?? 1);
    case 'DaemonSet':
      return count('currentNumberScheduled') < count('desiredNumberScheduled');
    case 'Job':
      return !has('Complete') && !has('Failed') && spec.suspend !== true && count('active') < wantedByJob(spec, count);
    case 'CronJob': // a quota on Jobs refuses those of the next schedule as well
      return spec.suspend !== true;
    default:
      return false;
  }
}

/** The quota's name in "... is forbidden: exceeded quota: NAME, requested: ...", however the controller worded the rest. */
export function quotaIn(message: string): string | undefined {
  return /exceeded quota: ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:,|$)/.exec(message)?.[1];
}

/** Why pods were refused: by a quota, which is then to blame, or by something else. */
export function refusalTrouble(message: string): Trouble | undefined {
  if (isBecauseTerminating(message)) return undefined;
  const quota = quotaIn(message);
  const said = { reason: 'FailedCreate', message };
  if (quota) return { class: 'QuotaExceeded', cause: { kind: 'ResourceQuota', name: quota }, ...said };
  return { class: 'CreateRejected', ...said };
}

/** Pure. A rollout that missed its deadline, or got no ReplicaSet; there are no events for the former. */
export function rolloutTroubles({ desired, paused, deleting, progressing }: DeploymentView): Trouble[] {
  if (desired === 0 || paused || deleting || progressing?.status !== 'False') return [];
  const { reason, message } = progressing;
  if (reason === 'ProgressDeadlineExceeded') return [{ class: 'RolloutStuck', reason, message }];
  // A quota on ReplicaSets as well: the card of a quota speaks of pods.
  return reason === 'ReplicaSetCreateError' && !isBecauseTerminating(message)
    ? [{ class: 'CreateRejected', reason, message }]
    : [];
}

/** An owner of pods that a quota refuses. */
export interface BlockedOwner {
  kind: string;
  name: string;
  uid: string;
  /** The workload a person would name: the Deployment of a ReplicaSet. */
  workload: string;
  ready: number;
  desired: number;
  /** The API server's words. */
  refusal: string;
  /** It would be let in now, and only waits for its next try. */
  fits: boolean;
}

/** Pure. The incident is over when nobody is refused any more, or the quota is gone. */
export function quotaHealth(exists: boolean, blocked: readonly BlockedOwner[]): LiveHealth {
  if (!exists) return gone;
  const workloads = new Map(blocked.map((owner) => [owner.workload, owner]));
  const short = [...workloads.values()];
  const hasRoom = short.length > 0 && blocked.every(({ fits }) => fits);
  return {
    ...gone,
    gone: false,
    healthy: short.length === 0,
    troubles: short.length > 0 && !hasRoom ? ['QuotaExceeded'] : [],
    hasRoom,
    why:
      short.length === 0 ? '' : `${short.length} ${short.length === 1 ? 'workload is' : 'workloads are'} refused pods`,
    ready: short.reduce((sum, owner) => sum + owner.ready, 0),
    desired: short.reduce((sum, owner) => sum + owner.desired, 0),
    affected: short.map((owner) => owner.workload).sort(),
  };
}
