import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJobOver, type JobObject, type JobStatus, planJob } from '../../../sim/job.ts';
import { aCluster, aJobOf, conditions, counts, namespace } from '../cluster.ts';
import { aPod, at, meta, nowMs } from '../objects.ts';

const aJob = (spec: JobObject['spec'] = {}, status: JobStatus = {}): JobObject => ({
  metadata: meta('nightly'),
  spec: { completions: 1, parallelism: 1, backoffLimit: 1, ...spec },
  status: { startTime: at(-60), ...status },
});
const failed = (name: string, secondsAgo: number) =>
  aPod(name, { phase: 'Failed', ready: false, finished: secondsAgo, age: secondsAgo + 1 });
const done = (name: string, secondsAgo = 5) => aPod(name, { phase: 'Succeeded', ready: false, finished: secondsAgo });

test('it starts one pod, and says when it started', () => {
  const plan = planJob(aJob({}, { startTime: undefined } as never), [], nowMs);
  assert.equal(plan.create, 1);
  assert.deepEqual(plan.status, {
    startTime: at(0),
    active: 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  });
});

test('after a failure it waits ten seconds, then twenty', () => {
  const first = planJob(aJob(), [failed('a', 4)], nowMs);
  assert.deepEqual([first.create, first.againInMs, first.status.failed], [0, 6000, 1]);
  assert.equal(planJob(aJob(), [failed('a', 10)], nowMs).create, 1);
  const second = planJob(aJob({ backoffLimit: 3 }), [failed('a', 40), failed('b', 4)], nowMs);
  assert.deepEqual([second.create, second.againInMs], [0, 16_000]);
});

test('one failure more than the limit, and it has failed for good', () => {
  const plan = planJob(aJob(), [failed('a', 20), failed('b', 1)], nowMs);
  assert.equal(plan.create, 0);
  assert.deepEqual(
    plan.status.conditions?.map(({ type, reason, message }) => [type, reason, message]),
    ['FailureTarget', 'Failed'].map((type) => [
      type,
      'BackoffLimitExceeded',
      'Job has reached the specified backoff limit',
    ]),
  );
  assert.equal(plan.ended?.type, 'Failed');
  assert.equal(isJobOver({ ...aJob(), status: plan.status }), 'Failed');
});

test('what still runs is ended first, and only then it has failed', () => {
  const running = aPod('c');
  const plan = planJob(aJob({ parallelism: 2, completions: 2 }), [failed('a', 20), failed('b', 1), running], nowMs);
  assert.deepEqual(plan.remove, [running]);
  assert.equal(plan.ended, undefined);
  assert.deepEqual(
    plan.status.conditions?.map(({ type }) => type),
    ['FailureTarget'],
  );
});

test('restarts in place count against the limit too', () => {
  const job = aJob({ backoffLimit: 2, template: { spec: { restartPolicy: 'OnFailure' } } });
  assert.equal(planJob(job, [aPod('a', { restarts: 1 })], nowMs).remove.length, 0);
  assert.equal(planJob(job, [aPod('a', { restarts: 2 })], nowMs).remove.length, 1);
});

test('too late: the deadline', () => {
  const job = aJob({ activeDeadlineSeconds: 60 });
  assert.equal(planJob(job, [], nowMs).ended?.reason, 'DeadlineExceeded');
  assert.equal(planJob(job, [aPod('a')], nowMs - 20_000).againInMs, 20_000);
});

test('enough successes complete it', () => {
  const job = aJob({ completions: 2, parallelism: 2 });
  assert.equal(planJob(job, [done('a')], nowMs).create, 1);
  const plan = planJob(job, [done('a'), done('b')], nowMs);
  assert.deepEqual([plan.ended?.type, plan.status.completionTime, plan.status.succeeded], ['Complete', at(0), 2]);
  assert.deepEqual(
    plan.status.conditions?.map(({ type }) => type),
    ['SuccessCriteriaMet', 'Complete'],
  );
});

test('a suspended one has no pods', () => {
  const running = aPod('a');
  const plan = planJob(aJob({ suspend: true }), [running], nowMs);
  assert.deepEqual([plan.create, plan.remove], [0, [running]]);
});

test('a Job whose pods fail once too often has failed', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  await create('Job', aJobOf('report', 'exit-1'));
  await advance(6);
  assert.equal((await pods()).length, 1);
  await advance(15);
  const job = (await api.get<JobObject>({ kind: 'Job', namespace, name: 'report' }))!;
  assert.deepEqual(conditions(job), {
    FailureTarget: 'True BackoffLimitExceeded',
    Failed: 'True BackoffLimitExceeded',
  });
  assert.deepEqual(counts(job), { failed: 2, ready: 0, terminating: 0 });
  const [event] = await events({ reason: 'BackoffLimitExceeded' });
  assert.equal(event?.message, 'Job has reached the specified backoff limit');
  assert.equal(event.type, 'Warning');
  for (const pod of await pods()) assert.match(pod.metadata.name, /^report-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('a Job whose pod ends well is complete', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  await create('Job', aJobOf('report', 'exit-0=3s'));
  await advance(10);
  const job = (await api.get<JobObject>({ kind: 'Job', namespace, name: 'report' }))!;
  assert.deepEqual(conditions(job), {
    SuccessCriteriaMet: 'True CompletionsReached',
    Complete: 'True CompletionsReached',
  });
  assert.equal((await pods())[0]?.status?.phase, 'Succeeded');
  assert.equal((await events({ reason: 'Completed' }))[0]?.message, 'Job completed');
});
