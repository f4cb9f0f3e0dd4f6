import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CronJobObject, nextTimeMs, parseSchedule, planCronJob } from '../../../sim/cronjob.ts';
import type { JobObject } from '../../../sim/job.ts';
import { aCluster, aJobOf, namespace } from '../cluster.ts';
import { at, meta, nowMs } from '../objects.ts';

const times = [
  { schedule: '* * * * *', after: '2026-11-16T03:12:00Z', want: '2026-11-16T03:13:00Z' },
  { schedule: '*/15 * * * *', after: '2026-11-16T03:12:30Z', want: '2026-11-16T03:15:00Z' },
  { schedule: '0 2 * * *', after: '2026-11-16T03:12:00Z', want: '2026-11-17T02:00:00Z' },
  { schedule: '30 4 1,15 * *', after: '2026-11-16T03:12:00Z', want: '2026-12-01T04:30:00Z' },
  { schedule: '0 9 * * MON-FRI', after: '2026-11-13T10:00:00Z', want: '2026-11-16T09:00:00Z' },
  { schedule: '0 0 13 * 5', after: '2026-11-16T03:12:00Z', want: '2026-11-20T00:00:00Z' }, // the 13th, or a Friday
  { schedule: '@yearly', after: '2026-11-16T03:12:00Z', want: '2027-01-01T00:00:00Z' },
  { schedule: '0 0 29 2 *', after: '2026-11-16T03:12:00Z', want: '2028-02-29T00:00:00Z' },
];

for (const { schedule, after, want } of times) {
  test(`${schedule} after ${after} is ${want}`, () => {
    const ms = nextTimeMs(parseSchedule(schedule)!, Date.parse(after))!;
    assert.equal(new Date(ms).toISOString().replace('.000Z', 'Z'), want);
  });
}

for (const text of ['', '* * * *', '61 * * * *', '5-1 * * * *', '*/0 * * * *', 'often'])
  test(`"${text}" is no schedule`, () => assert.equal(parseSchedule(text), undefined));

const everyMinute = parseSchedule('* * * * *')!;
const aCron = (spec: CronJobObject['spec'] = {}, status: CronJobObject['status'] = {}): CronJobObject => ({
  metadata: { ...meta('nightly'), creationTimestamp: at(-90) },
  spec,
  status,
});
const job = (name: string, over?: 'Complete' | 'Failed', age = 100): JobObject => ({
  metadata: { ...meta(name), creationTimestamp: at(-age) },
  status: over ? { conditions: [{ type: over, status: 'True' }], completionTime: at(-age + 5) } : {},
});
const last = (seconds: number) => ({ lastScheduleTime: at(seconds) });

test('a time that has come is run, the latest if several were missed', () => {
  assert.equal(planCronJob(aCron(), everyMinute, [], nowMs).runMs, nowMs);
  assert.equal(planCronJob(aCron({}, last(0)), everyMinute, [], nowMs + 59_000).runMs, undefined);
  assert.equal(planCronJob(aCron({}, last(-600)), everyMinute, [], nowMs + 30_000).runMs, nowMs);
  assert.equal(planCronJob(aCron({}, last(0)), everyMinute, [], nowMs + 59_000).nextMs, nowMs + 60_000);
});

test('what still runs: allowed, forbidden, replaced', () => {
  const running = job('a');
  assert.equal(planCronJob(aCron(), everyMinute, [running], nowMs).runMs, nowMs);
  const forbidden = planCronJob(aCron({ concurrencyPolicy: 'Forbid' }), everyMinute, [running], nowMs);
  assert.deepEqual(
    [forbidden.runMs, forbidden.skipped, forbidden.handledMs],
    [undefined, 'JobAlreadyActive', undefined],
  );
  const replaced = planCronJob(aCron({ concurrencyPolicy: 'Replace' }), everyMinute, [running], nowMs);
  assert.deepEqual([replaced.runMs, replaced.remove], [nowMs, [running]]);
});

test('suspended: nothing runs; too late: it is let pass', () => {
  assert.equal(planCronJob(aCron({ suspend: true }), everyMinute, [], nowMs).runMs, undefined);
  const late = planCronJob(aCron({ startingDeadlineSeconds: 10 }), everyMinute, [], nowMs + 20_000);
  assert.deepEqual([late.skipped, late.runMs, late.handledMs], ['MissSchedule', undefined, nowMs]);
});

test('it keeps three that went well and one that did not, and remembers the last success', () => {
  const good = [50, 110, 170, 230].map((age) => job(`g${age}`, 'Complete', age));
  const bad = [80, 140].map((age) => job(`b${age}`, 'Failed', age));
  const plan = planCronJob(aCron({}, last(0)), everyMinute, [...good, ...bad, job('now')], nowMs);
  assert.deepEqual(
    plan.remove.map(({ metadata }) => metadata.name),
    ['g230', 'b140'],
  );
  assert.equal(plan.status.lastSuccessfulTime, at(-45));
  assert.deepEqual(
    plan.status.active?.map(({ name }) => name),
    ['now'],
  );
});

test('one that was active and is over is news', () => {
  const over = job('a', 'Failed');
  const cron = aCron({}, { ...last(0), active: [{ name: 'a', uid: 'uid-a' }] });
  assert.deepEqual(planCronJob(cron, everyMinute, [over], nowMs).finished, [over]);
  assert.deepEqual(planCronJob(aCron({}, last(0)), everyMinute, [over], nowMs).finished, []);
});

test('a CronJob makes a Job at each time, tells how it went, and keeps only so many', async (t) => {
  const { api, create, advance, events } = await aCluster(t);
  const { spec } = aJobOf('nightly', 'exit-0');
  await create('CronJob', { metadata: { name: 'nightly' }, spec: { schedule: '* * * * *', jobTemplate: { spec } } });
  await advance(290);
  const jobs = (await api.list<JobObject>('Job', namespace)).map(({ metadata }) => metadata.name);
  const minute = Date.parse('2026-11-16T03:13:00Z') / 60_000;
  assert.deepEqual(jobs, [2, 3].map((n) => `nightly-${minute + n - 1}`).concat(`nightly-${minute + 3}`));
  assert.ok(
    (await events({ about: 'nightly', reason: 'SawCompletedJob' }))[0]?.message.endsWith('condition: Complete'),
  );
  const cron = await api.get<JobObject>({ kind: 'CronJob', namespace, name: 'nightly' });
  assert.equal((cron!.status as { lastScheduleTime?: string }).lastScheduleTime, '2026-11-16T03:16:00Z');
});
