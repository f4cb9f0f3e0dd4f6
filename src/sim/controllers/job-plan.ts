import type { KubeObject } from '../../kube/api.ts';
import { conditionOf } from '../common/conditions.ts';
import { nonZero } from '../common/patch.ts';
import { isActive, isDeleting, isFinished, isReady } from '../common/pods.ts';
import type { Condition, PodObject, Template } from '../common/shapes.ts';
import { millis, stamp } from '../common/stamp.ts';

export interface JobObject extends KubeObject {
  spec?: {
    parallelism?: number;
    completions?: number;
    backoffLimit?: number;
    activeDeadlineSeconds?: number;
    suspend?: boolean;
    selector?: { matchLabels?: Record<string, string> };
    template?: Template;
  };
  status?: JobStatus;
}

export interface JobStatus {
  active?: number;
  succeeded?: number;
  failed?: number;
  ready?: number;
  startTime?: string;
  completionTime?: string;
  conditions?: Condition[];
  [field: string]: unknown;
}

export const isJobOver = ({ status }: JobObject): 'Complete' | 'Failed' | undefined =>
  (['Complete', 'Failed'] as const).find((type) => conditionOf(status?.conditions, type)?.status === 'True');

const firstBackoffMs = 10_000;
const longestBackoffMs = 600_000;

const finishedAtMs = ({ status, metadata }: PodObject): number =>
  Math.max(
    millis(metadata.creationTimestamp),
    ...(status?.containerStatuses ?? []).map(({ state }) => millis(state.terminated?.finishedAt) || 0),
  );

/** What a pass comes to. */
export interface JobPlan {
  create: number;
  remove: PodObject[];
  status: JobStatus;
  /** It ended in this pass. */
  ended?: Condition;
  againInMs?: number;
}

interface Tally {
  active: PodObject[];
  terminating: number;
  succeeded: number;
  failed: number;
  restarts: number;
}

function tallyOf(pods: readonly PodObject[], { status }: JobObject): Tally {
  const phase = (name: string): number => pods.filter((pod) => pod.status?.phase === name).length;
  const active = pods.filter(isActive);
  return {
    active,
    terminating: pods.filter((pod) => isDeleting(pod) && !isFinished(pod)).length,
    // What was counted stays counted, though somebody may have deleted the pod since.
    succeeded: Math.max(phase('Succeeded'), status?.succeeded ?? 0),
    failed: Math.max(phase('Failed'), status?.failed ?? 0),
    restarts: active
      .flatMap((pod) => [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])])
      .reduce((total, { restartCount }) => total + restartCount, 0),
  };
}

/** Why it is to fail, if it is. */
function failureOf(
  job: JobObject,
  { failed, restarts }: Tally,
  nowMs: number,
): { reason: string; message: string } | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds, template } = job.spec ?? {};
  const inPlace = template?.spec?.restartPolicy === 'OnFailure' && restarts > 0 && restarts >= backoffLimit;
  if (failed > backoffLimit || inPlace)
    return { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
  const isLate = nowMs - millis(job.status?.startTime) >= (activeDeadlineSeconds ?? Number.NaN) * 1000;
  return isLate ? { reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline' } : undefined;
}

/** Without a number of completions, one success and no pod left is enough. */
const isEnough = ({ spec }: JobObject, { succeeded, active }: Tally): boolean =>
  spec?.completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= spec.completions;

/** Pure. Indexed completion, per-index limits and policies are not supported: such a Job runs as a plain one. */
export function planJob(job: JobObject, pods: readonly PodObject[], nowMs: number): JobPlan {
  const tally = tallyOf(pods, job);
  const target = conditionOf(job.status?.conditions, 'FailureTarget');
  const failure = target
    ? { reason: target.reason ?? '', message: target.message ?? '' }
    : failureOf(job, tally, nowMs);
  if (failure) return ending(job, tally, { type: 'Failed', target: 'FailureTarget', ...failure }, nowMs);
  const done = { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
  if (isEnough(job, tally))
    return ending(job, tally, { type: 'Complete', target: 'SuccessCriteriaMet', ...done }, nowMs);
  const { active, terminating, succeeded } = tally;
  const { parallelism = 1, completions, suspend = false, activeDeadlineSeconds } = job.spec ?? {};
  const left = completions === undefined ? parallelism : completions - succeeded;
  const wanted = suspend ? 0 : completions === undefined && succeeded > 0 ? active.length : Math.min(parallelism, left);
  const missing = Math.max(wanted - active.length - terminating, 0);
  const waitMs = missing > 0 ? waitOf(pods, nowMs) : 0;
  const create = waitMs > 0 ? 0 : missing;
  const startTime = suspend ? job.status?.startTime : (job.status?.startTime ?? stamp(nowMs));
  const deadlineMs = startTime && activeDeadlineSeconds ? millis(startTime) + activeDeadlineSeconds * 1000 - nowMs : 0;
  const waits = [waitMs, deadlineMs].filter((ms) => ms > 0);
  return {
    create,
    remove: active.slice(wanted),
    status: statusOf(job, { ...tally, active: active.slice(0, wanted) }, create, startTime),
    ...(waits.length > 0 && { againInMs: Math.min(...waits) }),
  };
}

/** Ten seconds after the first failure, doubling; a success in between makes it forget. */
function waitOf(pods: readonly PodObject[], nowMs: number): number {
  const ends = (phase: string): number[] => pods.filter(({ status }) => status?.phase === phase).map(finishedAtMs);
  const lastSuccessMs = Math.max(0, ...ends('Succeeded'));
  const since = ends('Failed').filter((atMs) => atMs > lastSuccessMs);
  if (since.length === 0) return 0;
  const backoffMs = Math.min(firstBackoffMs * 2 ** (since.length - 1), longestBackoffMs);
  return Math.max(Math.max(...since) + backoffMs - nowMs, 0);
}

function ending(
  job: JobObject,
  tally: Tally,
  { type, target, reason, message }: { type: string; target: string; reason: string; message: string },
  nowMs: number,
): JobPlan {
  const at = stamp(nowMs);
  const condition = (name: string): Condition => ({
    type: name,
    status: 'True',
    reason,
    message,
    lastProbeTime: at,
    lastTransitionTime: at,
  });
  const before = job.status?.conditions ?? [];
  const conditions = conditionOf(before, target) ? before : [...before, condition(target)];
  const isOver = tally.active.length === 0 && tally.terminating === 0;
  const status = { ...statusOf(job, { ...tally, active: [] }, 0, job.status?.startTime ?? at), conditions };
  if (!isOver) return { create: 0, remove: tally.active, status };
  const ended = condition(type);
  const completionTime = type === 'Complete' ? { completionTime: at } : {};
  return { create: 0, remove: [], status: { ...status, ...completionTime, conditions: [...conditions, ended] }, ended };
}

function statusOf(job: JobObject, tally: Tally, created: number, startTime: string | undefined): JobStatus {
  const { conditions } = job.status ?? {};
  return {
    ...(conditions && { conditions }),
    ...(startTime && { startTime }),
    ...nonZero({ active: tally.active.length + created, succeeded: tally.succeeded, failed: tally.failed }),
    ready: tally.active.filter(isReady).length,
    terminating: tally.terminating,
    uncountedTerminatedPods: {},
  };
}
