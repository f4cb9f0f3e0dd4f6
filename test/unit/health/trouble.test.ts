import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distinct, isStillTrue, judgedFor, summed, type Trouble } from '../../../src/health/trouble.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';

const live = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);

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

test('classes are summed over all that have them: the longest counts, and what is another`s fault does not', () => {
  const trouble = (failureClass: string, sinceMs?: number, cause?: Trouble['cause']): Trouble => ({
    class: failureClass,
    reason: '',
    message: '',
    ...(sinceMs !== undefined && { sinceMs }),
    ...(cause && { cause }),
  });
  const found = [
    trouble('A', 90),
    trouble('A', 40),
    trouble('B'),
    trouble('C', 10, { kind: 'Node', name: 'n' }),
    trouble('D', 1_000_000),
  ];
  const { troubles, lastingMs } = summed(found, 100);
  assert.deepEqual(troubles, ['A', 'B', 'D']);
  assert.deepEqual(lastingMs, { A: 60, B: Infinity, D: Infinity }, 'a time that cannot be is no time');
  assert.equal(distinct([...found, ...found]).length, 4);
});
