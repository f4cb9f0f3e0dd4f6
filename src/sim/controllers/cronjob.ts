import { hasCode, isNotFound } from '../../kube/api.ts';
import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { type ControllerDeps, createLoop, keyOf } from '../common/loop.ts';
import { refOf, writeStatus } from '../common/patch.ts';
import { ownedBy } from '../common/pods.ts';
import { createRecorder, refTo } from '../common/recorder.ts';
import { stamp } from '../common/stamp.ts';
import { type CronJobObject, planCronJob } from './cron-plan.ts';
import { isJobOver, type JobObject } from './job-plan.ts';
import { ownerOf, wordsOf } from './pod-control.ts';
import { parseSchedule } from './schedule.ts';

/** CronJobs, in UTC: a time zone in the spec is not read. */
export function runCronJobs(deps: ControllerDeps): void {
  const { api, clock, lookout } = deps;
  const recorder = createRecorder({ ...deps, component: 'cronjob-controller' });
  const loop = createLoop(deps, 'cronjob-controller', sync);
  lookout.on('CronJob', (cron) => loop.add(keyOf(cron)));
  lookout.on('Job', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'CronJob') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const cron = await api.get<CronJobObject>({ kind: 'CronJob', namespace, name });
    if (!cron || cron.metadata.deletionTimestamp) return undefined;
    const text = cron.spec?.schedule ?? '';
    const schedule = parseSchedule(text);
    if (!schedule) {
      say(cron, 'Warning', 'UnparseableSchedule', `unparseable schedule: "${text}"`);
      return undefined;
    }
    const own = async (): Promise<JobObject[]> =>
      (await api.list<JobObject>('Job', namespace)).filter(ownedBy(cron.metadata.uid));
    const plan = planCronJob(cron, schedule, await own(), clock.now());
    for (const job of plan.finished)
      say(cron, 'Normal', 'SawCompletedJob', `Saw completed job: ${job.metadata.name}, condition: ${isJobOver(job)}`);
    for (const job of plan.remove) await remove(cron, job);
    if (plan.skipped === 'JobAlreadyActive')
      say(
        cron,
        'Normal',
        plan.skipped,
        'Not starting job because prior execution is running and concurrency policy is Forbid',
      );
    if (plan.skipped === 'MissSchedule')
      say(
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
      say(cron, 'Normal', 'SuccessfulCreate', `Created job ${name}`);
    } catch (error) {
      if (hasCode(error, 409)) return; // of a pass whose answer was lost
      say(cron, 'Warning', 'FailedCreate', `Error creating job: ${wordsOf(error)}`);
      throw error;
    }
  }

  async function remove(cron: CronJobObject, job: JobObject): Promise<void> {
    try {
      await api.delete(refOf('Job', job), { uid: job.metadata.uid });
      say(cron, 'Normal', 'SuccessfulDelete', `Deleted job ${job.metadata.name}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  const say = (cron: CronJobObject, type: 'Normal' | 'Warning', reason: string, message: string): void =>
    recorder.event(refTo(cron), type, reason, message);
}
