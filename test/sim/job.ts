import type { KubeObject } from '../../src/kube/api.ts';
import { controllerOf } from '../../src/kube/raw.ts';
import type { Outcome } from '../../src/lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../../src/sim/common/controller-runtime.ts';
import { createEventRecorder, refTo } from '../../src/sim/common/event-recorder.ts';
import { isActive, isDeleting, isFinished, isReady, ownedBy } from '../../src/sim/common/pod-facts.ts';
import type { PodObject, StatusCondition, Template } from '../../src/sim/common/shapes.ts';
import { conditionOf, millis, nonZero, stamp, writeStatus } from '../../src/sim/common/status-writing.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf } from '../../src/sim/controllers/pod-control.ts';

/** The controller of Jobs runs pods until enough have succeeded or too many have failed. */
export function runJobs(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'job-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'job-controller', sync);
  informers.on('Job', (job) => loop.add(keyOf(job)));
  informers.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'Job') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const job = await api.get<JobObject>({ kind: 'Job', namespace, name });
    if (!job || isJobOver(job) || job.metadata.deletionTimestamp) return undefined;
    const all = await api.list<PodObject>('Pod', namespace);
    const plan = planJob(job, all.filter(ownedBy(job.metadata.uid)), clock.now());
    await Promise.all(plan.remove.map((pod) => pods.remove(job, pod)));
    const body = podOf(job, labelled(job), { generateName: `${name}-` });
    let created = 0;
    const failure = await inSlowStart(plan.create, async () => {
      await pods.create(job, body);
      created += 1;
    });
    const active = (plan.status.active ?? 0) - (plan.create - created);
    const { active: _, ...rest } = plan.status;
    await writeStatus(api, 'Job', job, active > 0 ? { ...rest, active } : rest);
    if (plan.ended?.type === 'Complete') recorder.event(refTo(job), 'Normal', 'Completed', 'Job completed');
    if (plan.ended?.type === 'Failed')
      recorder.event(refTo(job), 'Warning', plan.ended.reason ?? '', plan.ended.message ?? '');
    if (failure !== undefined && !isNamespaceGoing(failure)) throw failure;
    return plan.againInMs === undefined ? undefined : { againInMs: plan.againInMs };
  }
}

/** The API server writes these labels into a Job's template; this adds them if it did not. */
function labelled({ metadata, spec }: JobObject): Template {
  const { template = {} } = spec ?? {};
  const own = {
    'batch.kubernetes.io/controller-uid': metadata.uid,
    'batch.kubernetes.io/job-name': metadata.name,
    'controller-uid': metadata.uid,
    'job-name': metadata.name,
  };
  return { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...own } } };
}

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
  conditions?: StatusCondition[];
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

/** What one pass decides. */
interface JobPlan {
  create: number;
  remove: PodObject[];
  status: JobStatus;
  /** The condition of a Job that ended in this pass. */
  ended?: StatusCondition;
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
    // A counted pod stays counted, even if somebody has deleted it since.
    succeeded: Math.max(phase('Succeeded'), status?.succeeded ?? 0),
    failed: Math.max(phase('Failed'), status?.failed ?? 0),
    restarts: active
      .flatMap((pod) => [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])])
      .reduce((total, { restartCount }) => total + restartCount, 0),
  };
}

/** Why the Job has failed, if it has. */
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

/** Without a number of completions, a Job is done when one pod has succeeded and none is active. */
const isEnough = ({ spec }: JobObject, { succeeded, active }: Tally): boolean =>
  spec?.completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= spec.completions;

/** Plans one pass of a Job. Indexed completion, per-index limits and policies are ignored. Pure. */
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
  const remaining = completions === undefined ? parallelism : completions - succeeded;
  const wanted = suspend
    ? 0
    : completions === undefined && succeeded > 0
      ? active.length
      : Math.min(parallelism, remaining);
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

/** The back-off is ten seconds after the first failure and doubles with each more; a success resets it. */
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
  const condition = (name: string): StatusCondition => ({
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
