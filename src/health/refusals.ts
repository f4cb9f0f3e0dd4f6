import type { KubeObject } from '../kube/api.ts';
import { hasCondition } from '../kube/raw.ts';
import type { DeploymentView, EventView, ReplicaSetView } from '../kube/views.ts';
import { isBecauseTerminating } from './event-words.ts';
import { isDown } from './impact.ts';
import type { Shortfall } from './quota-room.ts';
import type { LiveHealth, Trouble } from './trouble.ts';
import { gone } from './workload-health.ts';

/** Matches "exceeded quota: NAME, requested: ...", but not another quota whose name merely begins with NAME. */
export function saysQuota(message: string, quota: string): boolean {
  return [...message.matchAll(/exceeded quota: ([^,\s]+)(?=,|\s*$)/g)].some(([, name]) => name === quota);
}

/** An owner that was refused, and the messages, newest first. */
export interface RefusedOwner {
  kind: string;
  name: string;
  uid: string;
  refusals: string[];
}
/** By the owner's uid. */
export type Refusals = ReadonlyMap<string, RefusedOwner>;

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

/** An owner of pods that a quota refuses, or is said to refuse. */
export interface BlockedOwner {
  kind: string;
  name: string;
  uid: string;
  /** The workload a person would name: the Deployment of a ReplicaSet. */
  workload: string;
  ready: number;
  desired: number;
  /** The limits that one more of its pods exceeds, by its template and the quota's counts. Empty: none that we know. */
  shortfalls: readonly Shortfall[];
  /** Its pod would be accepted now; it only waits for its next try. */
  fits: boolean;
  /** When its own status began to say that its pods are refused. */
  refusedSinceMs?: number;
  /** Why it cannot be computed whether its pod would be accepted. */
  unknown?: string;
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
    hasOneDown: short.some(isDown),
    affected: short.map((owner) => owner.workload).sort(),
  };
}
