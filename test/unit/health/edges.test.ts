import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { isCrashing, isFinished, isLooping } from '../../../src/health/pod.ts';
import {
  isShort,
  otherOwners,
  quotaHealth,
  refusalsIn,
  saysQuota,
  standingRefusals,
  wouldFit,
} from '../../../src/health/refusals.ts';
import { holdStable, windowMs } from '../../../src/health/stability.ts';
import { isStillTrue, judgedFor } from '../../../src/health/trouble.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { aContainer, anEvent, aPod, aReplicaSet, crashing } from '../../support/views.ts';

/* Pure rules of health, each at its edge. */

const failed = (exitCode: number) => ({ reason: 'Error', exitCode, uptimeMs: 300, finishedAtMs: 1 });
const loops: [string, ReturnType<typeof aContainer>, boolean][] = [
  ['says CrashLoopBackOff', aContainer({ waiting: 'CrashLoopBackOff' }), true],
  ['failed again and is down', aContainer({ isDown: true, restarts: 1, ended: failed(1) }), true],
  ['failed for the first time', aContainer({ isDown: true, restarts: 0, ended: failed(1) }), false],
  ['ended well, again', aContainer({ isDown: true, restarts: 3, ended: failed(0) }), false],
  ['failed before, and is up', aContainer({ isDown: false, restarts: 3, ended: failed(1) }), false],
];
for (const [name, container, want] of loops)
  test(`a container that ${name} ${want ? 'loops' : 'does not loop'}`, () => assert.equal(isLooping(container), want));

for (const phase of ['Failed', 'Succeeded'])
  test(`a pod that is ${phase} is over: nothing of it counts`, () => {
    const pod = aPod({ phase, containers: [crashing] });
    assert.deepEqual([isFinished(pod), isCrashing(pod, 0)], [true, false]);
    const live = workloadHealth({ desired: 1, ready: 1, settled: true }, [pod], 0);
    assert.deepEqual([live.healthy, live.troubles, live.restarts, live.longestUptimeMs], [true, [], 0, 0]);
  });

const live = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);
test('fewer restarts than before are other pods: the run begins again', () => {
  const run = holdStable(undefined, { ...live, restarts: 5 }, 1_000);
  assert.equal(holdStable(run, { ...live, restarts: 2 }, 2_000)?.sinceMs, 2_000);
});

test('an OOM loop has the window of a crash loop', () => assert.equal(windowMs('OOMKilled', 30_000, 60_000), 120_000));

const truths: [string, boolean, boolean, boolean][] = [
  ['CrashLoop', false, true, true],
  ['CrashLoop', false, false, false],
  ['CrashLoop', true, true, false],
  ['QuotaExceeded', false, true, true],
  ['QuotaExceeded', true, true, false],
];
for (const [failureClass, healthy, isOne, want] of truths)
  test(`${failureClass} of what is ${healthy ? '' : 'not '}healthy and ${isOne ? 'has' : 'does not have'} it: ${want ? 'still true' : 'no longer true'}`, () =>
    assert.equal(
      isStillTrue(failureClass, { ...live, healthy, troubles: isOne ? [failureClass] : ['Evicted'] }),
      want,
    ));

test('a quota that has room at the moment is not what is wrong at the moment', () =>
  assert.equal(
    isStillTrue('QuotaExceeded', { ...live, healthy: false, troubles: ['QuotaExceeded'], hasRoom: true }),
    false,
  ));

test('a revision that is seen available again and again is available since the first time', () => {
  const history = createHistory();
  for (const atMs of [0, 10_000, 20_000]) history.observe(aReplicaSet(), atMs);
  assert.equal(history.longestAvailableMs('rs-2', 30_000), 30_000);
});

const refusal = (quota: string) => `exceeded quota: ${quota}, requested: pods=1, used: pods=1, limited: pods=1`;
const fits: [string, string, object, boolean][] = [
  ['as it was', refusal('q'), { hard: { pods: '1' }, used: { pods: '1' } }, false],
  ['the limit was raised', refusal('q'), { hard: { pods: '2' }, used: { pods: '1' } }, true],
  ['others left', refusal('q'), { hard: { pods: '1' }, used: { pods: '0' } }, true],
  ['it no longer limits that at all', refusal('q'), { hard: { services: '1' }, used: {} }, true],
  ['nobody knows what is used', refusal('q'), { hard: { pods: '9' }, used: {} }, false],
  ['what was asked for is not said', 'exceeded quota: q', { hard: { pods: '9' }, used: { pods: '0' } }, false],
  [
    'to the last crumb',
    'requested: cpu=100m, used: cpu=0, limited: cpu=200m',
    { hard: { cpu: '300m' }, used: { cpu: '200m' } },
    true,
  ],
  [
    'one limit of two',
    'requested: cpu=1,pods=1, used: cpu=1,pods=1, limited: cpu=1,pods=1',
    { hard: { cpu: '4', pods: '1' }, used: { cpu: '1', pods: '1' } },
    false,
  ],
];
for (const [name, words, counts, want] of fits)
  test(`a refused pod would ${want ? '' : 'not '}fit now: ${name}`, () => assert.equal(wouldFit(words, counts), want));

const shortages: [string, object, object, boolean][] = [
  ['Job', {}, { conditions: [{ type: 'Failed', status: 'True' }] }, false],
  ['Job', {}, { conditions: [{ type: 'Failed', status: 'False' }] }, true],
  ['Job', {}, { active: 1 }, false],
  ['Job', {}, { conditions: [{ type: 'Complete', status: 'True' }] }, false],
  ['CronJob', {}, {}, true],
  ['CronJob', { suspend: true }, {}, false],
  ['StatefulSet', {}, { replicas: 0 }, true],
];
for (const [kind, spec, status, want] of shortages)
  test(`a ${kind} with ${JSON.stringify({ spec, status })} is ${want ? '' : 'not '}short of pods`, () =>
    assert.equal(isShort(kind, { metadata: {}, spec, status } as never), want));

test('a quota is meant by its whole name, and by owners only', () => {
  assert.equal(saysQuota(refusal('tight-2'), 'tight'), false);
  const event = anEvent({ reason: 'FailedCreate', message: refusal('tight') });
  assert.deepEqual(otherOwners(refusalsIn([event])), [], 'a pod owns no pods');
});

test('a quota has room when it has room for everybody whom it refused', () => {
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'u', ready: 0, desired: 1, refusal: '' };
  const hasRoom = (...fits: boolean[]): boolean =>
    quotaHealth(
      true,
      fits.map((one, n) => ({ ...owner, workload: `StatefulSet/${n}`, fits: one })),
    ).hasRoom;
  assert.deepEqual([hasRoom(true, true), hasRoom(true, false), hasRoom(false), hasRoom()], [true, false, false, false]);
});

test('a refusal is history once the very pod is there; that another one is says nothing', () => {
  const refusals = ['db-2', 'db-0'].map(
    (pod) => `create Pod ${pod} failed error: pods "${pod}" is forbidden: exceeded quota: q`,
  );
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'u', refusals };
  assert.deepEqual(standingRefusals(owner, new Set(['db-0', 'db-1'])), [refusals[0]]);
  assert.deepEqual(standingRefusals({ ...owner, refusals: ['words of another kind'] }, new Set(['db-0'])), [
    'words of another kind',
  ]);
});

test('what every rollout does for a while is true of what has done it for long enough', () => {
  const young = {
    ...live,
    healthy: false,
    troubles: ['ProbeFailing', 'CrashLoop'],
    lastingMs: { ProbeFailing: 59_999 },
  };
  assert.deepEqual(
    [
      isStillTrue('ProbeFailing', young, 60_000),
      isStillTrue('ProbeFailing', young, 59_999),
      isStillTrue('ProbeFailing', young),
    ],
    [false, true, true],
  );
  assert.equal(isStillTrue('CrashLoop', young, 600_000), true, 'the others need no such proof');
});

test('what it was noticed for is still there: not healthy, and not at its end either', () => {
  const job = { ...live, troubles: ['JobFailed'], ended: 'the Job failed for good' };
  assert.deepEqual(judgedFor('CrashLoop', job), job);
  assert.deepEqual(judgedFor(undefined, job), job);
  const { healthy, why, ended } = judgedFor('JobFailed', job);
  assert.deepEqual({ healthy, why, ended }, { healthy: false, why: 'the Job failed for good', ended: undefined });
});
