import type { KubeObject } from '../../kube/api.ts';
import { millis, stamp } from '../common/stamp.ts';
import { isJobOver, type JobObject } from './job-plan.ts';
import { nextTimeMs, type Schedule } from './schedule.ts';

export interface CronJobObject extends KubeObject {
  spec?: {
    schedule?: string;
    suspend?: boolean;
    concurrencyPolicy?: string;
    startingDeadlineSeconds?: number;
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
    jobTemplate?: { metadata?: { labels?: object; annotations?: Record<string, string> }; spec?: object };
  };
  status?: {
    active?: { name: string; uid: string; [field: string]: unknown }[];
    lastScheduleTime?: string;
    lastSuccessfulTime?: string;
  };
}

export interface CronPlan {
  /** The scheduled time of a Job to be created. */
  runMs?: number;
  /** Why a time that has come is let pass. */
  skipped?: 'JobAlreadyActive' | 'MissSchedule';
  /** The time that was run, or let pass for good. */
  handledMs?: number;
  remove: JobObject[];
  finished: JobObject[];
  status: NonNullable<CronJobObject['status']>;
  nextMs?: number;
}

/** Pure. */
export function planCronJob(
  cron: CronJobObject,
  schedule: Schedule,
  jobs: readonly JobObject[],
  nowMs: number,
): CronPlan {
  const { spec = {}, status = {} } = cron;
  const running = jobs.filter((job) => !isJobOver(job));
  const known = new Set((status.active ?? []).map(({ uid }) => uid));
  const finished = jobs.filter((job) => isJobOver(job) && known.has(job.metadata.uid));
  const dueMs = spec.suspend ? undefined : lastDueMs(schedule, cron, nowMs);
  const nextMs = spec.suspend ? undefined : nextTimeMs(schedule, nowMs);
  const remove = [
    ...tooMany(jobs, 'Complete', spec.successfulJobsHistoryLimit ?? 3),
    ...tooMany(jobs, 'Failed', spec.failedJobsHistoryLimit ?? 1),
  ];
  const succeeded = jobs
    .filter((job) => isJobOver(job) === 'Complete')
    .map((job) => millis(job.status?.completionTime));
  const lastMs = Math.max(millis(status.lastSuccessfulTime) || 0, ...succeeded);
  const base = {
    finished,
    status: {
      ...(running.length > 0 && { active: running.map(reference) }),
      ...(status.lastScheduleTime && { lastScheduleTime: status.lastScheduleTime }),
      ...(lastMs > 0 && { lastSuccessfulTime: stamp(lastMs) }),
    },
    ...(nextMs !== undefined && { nextMs }),
  };
  if (dueMs === undefined) return { ...base, remove };
  const isLate = nowMs > dueMs + (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  if (isLate) return { ...base, remove, skipped: 'MissSchedule', handledMs: dueMs };
  const isBusy = running.length > 0;
  if (isBusy && spec.concurrencyPolicy === 'Forbid') return { ...base, remove, skipped: 'JobAlreadyActive' };
  const replaced = isBusy && spec.concurrencyPolicy === 'Replace' ? running : [];
  return { ...base, remove: [...remove, ...replaced], runMs: dueMs, handledMs: dueMs };
}

/** The latest time that has come since the last one that was handled. */
function lastDueMs(schedule: Schedule, { metadata, status }: CronJobObject, nowMs: number): number | undefined {
  let dueMs: number | undefined;
  let atMs = nextTimeMs(schedule, millis(status?.lastScheduleTime) || millis(metadata.creationTimestamp));
  for (let looked = 0; atMs !== undefined && atMs <= nowMs && looked < 10_000; looked++) {
    dueMs = atMs;
    atMs = nextTimeMs(schedule, atMs);
  }
  return dueMs;
}

const tooMany = (jobs: readonly JobObject[], how: 'Complete' | 'Failed', limit: number): JobObject[] =>
  jobs
    .filter((job) => isJobOver(job) === how)
    .sort((a, b) => millis(b.metadata.creationTimestamp) - millis(a.metadata.creationTimestamp))
    .slice(limit);

const reference = ({ metadata: { name, namespace, uid, resourceVersion } }: JobObject) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name,
  namespace,
  uid,
  resourceVersion,
});
