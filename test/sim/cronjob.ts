import { hasCode, isNotFound, type KubeObject } from '../../src/kube/api.ts';
import { controllerOf } from '../../src/kube/raw.ts';
import type { Outcome } from '../../src/lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../../src/sim/common/controller-runtime.ts';
import { createEventRecorder, refTo } from '../../src/sim/common/event-recorder.ts';
import { ownedBy } from '../../src/sim/common/pod-facts.ts';
import { millis, refOf, stamp, writeStatus } from '../../src/sim/common/status-writing.ts';
import { ownerOf, serverMessage } from '../../src/sim/controllers/pod-control.ts';
import { isJobOver, type JobObject } from './job.ts';

/** The controller of CronJobs works in UTC and ignores a time zone in the spec. */
export function runCronJobs(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'cronjob-controller' });
  const loop = createLoop(deps, 'cronjob-controller', sync);
  informers.on('CronJob', (cron) => loop.add(keyOf(cron)));
  informers.on('Job', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'CronJob') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const cron = await api.get<CronJobObject>({ kind: 'CronJob', namespace, name });
    if (!cron || cron.metadata.deletionTimestamp) return undefined;
    const text = cron.spec?.schedule ?? '';
    const schedule = parseSchedule(text);
    if (!schedule) {
      record(cron, 'Warning', 'UnparseableSchedule', `unparseable schedule: "${text}"`);
      return undefined;
    }
    const own = async (): Promise<JobObject[]> =>
      (await api.list<JobObject>('Job', namespace)).filter(ownedBy(cron.metadata.uid));
    const plan = planCronJob(cron, schedule, await own(), clock.now());
    for (const job of plan.finished)
      record(
        cron,
        'Normal',
        'SawCompletedJob',
        `Saw completed job: ${job.metadata.name}, condition: ${isJobOver(job)}`,
      );
    for (const job of plan.remove) await remove(cron, job);
    if (plan.skipped === 'JobAlreadyActive')
      record(
        cron,
        'Normal',
        plan.skipped,
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      );
    if (plan.skipped === 'MissSchedule')
      record(
        cron,
        'Warning',
        plan.skipped,
        `Missed scheduled time to start a job: ${new Date(plan.handledMs!).toUTCString()}`,
      );
    if (plan.runMs !== undefined) await create(cron, plan.runMs);
    const after = planCronJob(cron, schedule, await own(), clock.now());
    const lastScheduleTime = plan.handledMs === undefined ? {} : { lastScheduleTime: stamp(plan.handledMs) };
    await writeStatus(api, 'CronJob', cron, { ...after.status, ...lastScheduleTime });
    return plan.nextMs === undefined ? undefined : { againInMs: Math.max(plan.nextMs - clock.now(), 0) + 100 };
  }

  async function create(cron: CronJobObject, atMs: number): Promise<void> {
    const { metadata, spec } = cron;
    const { metadata: own, spec: jobSpec } = spec?.jobTemplate ?? {};
    const scheduled = { 'batch.kubernetes.io/cronjob-scheduled-timestamp': stamp(atMs) };
    const name = `${metadata.name.slice(0, 52)}-${Math.floor(atMs / 60_000)}`;
    const body = {
      metadata: {
        name,
        ...(own?.labels && { labels: own.labels }),
        annotations: { ...own?.annotations, ...scheduled },
        ownerReferences: [ownerOf(cron)],
      },
      spec: jobSpec ?? {},
    };
    try {
      await api.create({ kind: 'Job', namespace: metadata.namespace }, body);
      record(cron, 'Normal', 'SuccessfulCreate', `Created job ${name}`);
    } catch (error) {
      if (hasCode(error, 409)) return; // an earlier pass created it, but did not receive the answer
      record(cron, 'Warning', 'FailedCreate', `Error creating job: ${serverMessage(error)}`);
      throw error;
    }
  }

  async function remove(cron: CronJobObject, job: JobObject): Promise<void> {
    try {
      await api.delete(refOf('Job', job), { uid: job.metadata.uid });
      record(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  const record = (cron: CronJobObject, type: 'Normal' | 'Warning', reason: string, message: string): void =>
    recorder.event(refTo(cron), type, reason, message);
}

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

interface CronPlan {
  /** The scheduled time of the Job to create. */
  runMs?: number;
  /** Why a scheduled time is skipped. */
  skipped?: 'JobAlreadyActive' | 'MissSchedule';
  /** The scheduled time that was run or skipped for good. */
  handledMs?: number;
  remove: JobObject[];
  finished: JobObject[];
  status: NonNullable<CronJobObject['status']>;
  nextMs?: number;
}

/** Plans one pass. Pure. */
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

/** The latest scheduled time that is due and not yet handled. */
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

/** One field of a cron line, as the set of values it allows. */
type Field = ReadonlySet<number>;

interface Schedule {
  minute: Field;
  hour: Field;
  day: Field;
  month: Field;
  weekday: Field;
  /** If both day and weekday are given, one of them is enough. */
  eitherDay: boolean;
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Undefined when the text is no schedule. */
export function parseSchedule(text: string): Schedule | undefined {
  const parts = (nicknames[text.trim()] ?? text).trim().split(/\s+/);
  if (parts.length !== 5) return undefined;
  const [minute, hour, day, month, weekday] = [
    field(parts[0]!, 0, 59),
    field(parts[1]!, 0, 23),
    field(parts[2]!, 1, 31),
    field(named(parts[3]!, months, 1), 1, 12),
    field(named(parts[4]!, weekdays, 0), 0, 6),
  ];
  if (!minute || !hour || !day || !month || !weekday) return undefined;
  const eitherDay = !/^[*?]/.test(parts[2]!) && !/^[*?]/.test(parts[4]!);
  return { minute, hour, day, month, weekday, eitherDay };
}

const named = (text: string, names: readonly string[], first: number): string =>
  names.reduce((so, name, index) => so.replaceAll(new RegExp(name, 'gi'), String(index + first)), text);

function field(text: string, min: number, max: number): Field | undefined {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, range = '', step] = /^(\*|\?|\d+|\d+-\d+)(?:\/(\d+))?$/.exec(part) ?? [];
    if (!range || step === '0') return undefined;
    const [from, to] = /^[*?]$/.test(range) ? [min, max] : (range.split('-').map(Number) as [number, number?]);
    const end = to ?? (step ? max : from);
    if (from < min || end > max || from > end) return undefined;
    for (let value = from; value <= end; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

const dayMs = 86_400_000;
const longestSearchMs = 5 * 366 * dayMs;

/** The first scheduled time after this one, in UTC; undefined when there is none in five years (the 31st of February). */
export function nextTimeMs(schedule: Schedule, afterMs: number): number | undefined {
  const { minute, hour, day, month, weekday, eitherDay } = schedule;
  const isDay = (date: Date): boolean => {
    const hits = [day.has(date.getUTCDate()), weekday.has(date.getUTCDay())];
    return month.has(date.getUTCMonth() + 1) && (eitherDay ? hits.some(Boolean) : hits.every(Boolean));
  };
  let ms = (Math.floor(afterMs / 60_000) + 1) * 60_000;
  while (ms - afterMs < longestSearchMs) {
    const date = new Date(ms);
    if (!isDay(date)) ms = (Math.floor(ms / dayMs) + 1) * dayMs;
    else if (!hour.has(date.getUTCHours())) ms = (Math.floor(ms / 3_600_000) + 1) * 3_600_000;
    else if (!minute.has(date.getUTCMinutes())) ms += 60_000;
    else return ms;
  }
  return undefined;
}
