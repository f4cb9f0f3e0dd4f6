import type { KubeObject } from '../kube/api.ts';
import { hasCondition } from '../kube/raw.ts';
import type { DeploymentView, EventView, ReplicaSetView } from '../kube/views.ts';
import { quantity } from '../lib/quantity.ts';
import { isBecauseTerminating } from './event-words.ts';
import type { LiveHealth, Trouble } from './trouble.ts';
import { gone } from './workload-health.ts';

/** Matches "exceeded quota: NAME, requested: ...", but not another quota whose name merely begins with NAME. */
export function saysQuota(message: string, quota: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quota);
}

/** One limit that a pod exceeded. */
interface Excess {
  resource: string;
  asked: string;
  used: string;
  limit: string;
}

/**
 * Reads "requested: requests.memory=128Mi, used: requests.memory=0, limited: requests.memory=50Mi". The message names
 * only limits that were exceeded.
 */
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

/**
 * Whether the refused request would be accepted now: the limit was raised, or others made room. False when in doubt.
 */
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

/** An owner that was refused, and the messages, newest first. */
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
 * The message with which this quota refuses: one that would still be true, else its newest one if nobody else has
 * refused since. With two full quotas each try names one or the other, and both are in the way.
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
 * The messages with which a ReplicaSet's pods are refused; empty when its last try succeeded. Its condition says that
 * they are refused, but keeps the text of the first refusal, whatever came after it. Events are more accurate, while
 * there are any.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/replicaset/replica_set_utils.go (calculateStatus)
 */
export function refusalsOf({ uid, desired, createFailure }: ReplicaSetView, events: Refusals): readonly string[] {
  if (desired === 0 || createFailure === undefined) return [];
  return events.get(uid)?.refusals ?? [createFailure];
}

/** Drops refusals of pods that exist by now: a StatefulSet creates the pod again under the same name. */
export const standingRefusals = ({ refusals }: RefusedOwner, podNames: ReadonlySet<string>): string[] =>
  refusals.filter((words) => !podNames.has(/pods "([^"]+)" is forbidden/.exec(words)?.[1] ?? ''));

const otherKinds: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet', 'Job', 'CronJob']);

/** These kinds have no such condition: their events name them, and `isShort` says whether it is still true. */
export const otherOwners = (refusals: Refusals): RefusedOwner[] =>
  [...refusals.values()].filter(({ kind }) => otherKinds.has(kind));

interface OwnerObject extends KubeObject {
  spec?: { replicas?: number; parallelism?: number; completions?: number; suspend?: boolean };
  status?: Record<string, unknown>;
}

/** How many pods it wants at once, of those that are not done yet. */
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

/**
 * The quota's name in "... is forbidden: exceeded quota: NAME, requested: ...", whatever the controller wrote around
 * it.
 */
export function quotaIn(message: string): string | undefined {
  return /exceeded quota: ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:,|$)/.exec(message)?.[1];
}

/** Why pods were refused: by a quota, which is then the cause, or by something else. */
export function refusalTrouble(message: string): Trouble | undefined {
  if (isBecauseTerminating(message)) return undefined;
  const quota = quotaIn(message);
  const said = { reason: 'FailedCreate', message };
  if (quota) return { class: 'QuotaExceeded', cause: { kind: 'ResourceQuota', name: quota }, ...said };
  return { class: 'CreateRejected', ...said };
}

/**
 * Pure. A rollout that missed its deadline, or that could not create its ReplicaSet. For the former there are no
 * events.
 */
export function rolloutTroubles({ desired, paused, deleting, progressing }: DeploymentView): Trouble[] {
  if (desired === 0 || paused || deleting || progressing?.status !== 'False') return [];
  const { reason, message } = progressing;
  if (reason === 'ProgressDeadlineExceeded') return [{ class: 'RolloutStuck', reason, message }];
  // This includes a quota on ReplicaSets, because the card of a quota is about pods.
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
  /** Since when, by its own status, its pods are refused. */
  refusedSinceMs?: number;
  /** The API server's message. */
  refusal: string;
  /** Its pod would be accepted now; it only waits for its next try. */
  fits: boolean;
}

/** Pure. The incident is over when nobody is refused any more, or the quota is gone. */
export function quotaHealth(exists: boolean, blocked: readonly BlockedOwner[]): LiveHealth {
  if (!exists) return gone;
  const workloads = new Map(blocked.map((owner) => [owner.workload, owner]));
  const short = [...workloads.values()];
  const hasRoom = short.length > 0 && blocked.every(({ fits }) => fits);
  const since = blocked.flatMap(({ refusedSinceMs }) => refusedSinceMs ?? []);
  return {
    ...gone,
    gone: false,
    healthy: short.length === 0,
    troubles: short.length > 0 && !hasRoom ? ['QuotaExceeded'] : [],
    hasRoom,
    ...(since.length > 0 && { brokenSinceMs: Math.min(...since) }),
    why:
      short.length === 0 ? '' : `${short.length} ${short.length === 1 ? 'workload is' : 'workloads are'} refused pods`,
    ready: short.reduce((sum, owner) => sum + owner.ready, 0),
    desired: short.reduce((sum, owner) => sum + owner.desired, 0),
    affected: short.map((owner) => owner.workload).sort(),
  };
}
