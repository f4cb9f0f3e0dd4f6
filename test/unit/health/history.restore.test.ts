import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory, type SeenRevision } from '../../../src/health/history.ts';
import { aReplicaSet } from '../../support/views.ts';

const none = aReplicaSet({ desired: 0, available: 0 });

const heard = (untilMs: number) => ({ replicaSets: untilMs, sets: untilMs });

/** What another process knows after `restore` of all that this one saw until then. */
function handedOver(history: ReturnType<typeof createHistory>, untilMs: number): ReturnType<typeof createHistory> {
  const next = createHistory();
  next.restore(history.seen(heard(untilMs)));
  return next;
}

test('what was seen before counts, until the last time that it was seen; what nobody saw does not', () => {
  const first = createHistory();
  first.observe(aReplicaSet(), 0);
  const next = handedOver(first, 60_000);
  assert.equal(next.longestAvailableMs('rs-2', 500_000), 60_000);
  next.observe(aReplicaSet(), 500_000); // it has been running all the while, but nobody watched
  assert.equal(next.longestAvailableMs('rs-2', 510_000), 60_000);
  assert.equal(next.longestAvailableMs('rs-2', 590_000), 90_000);
  assert.equal(next.longestServingMs('rs-2', 590_000), 90_000);
});

test('a revision that was scaled away before the start is known', () => {
  const first = createHistory();
  first.observe(aReplicaSet(), 0);
  const next = handedOver(first, 60_000);
  next.observe(none, 70_000);
  assert.equal(next.longestAvailableMs('rs-2', 900_000), 60_000);
  assert.equal(next.isShort('rs-2'), false);
});

test('a revision that was written before all of its pods were there is not short once they are', () => {
  const first = createHistory();
  first.observe(aReplicaSet({ desired: 1, available: 0 }), 0);
  const next = handedOver(first, 1_000);
  assert.equal(next.isShort('rs-2'), true);
  next.observe(aReplicaSet({ desired: 1, available: 1 }), 30_000);
  assert.equal(next.isShort('rs-2'), false);
});

test('the longer time counts, and never the sum', () => {
  const seen = (wholeMs: number): SeenRevision => ({
    uid: 'rs-2',
    wholeMs,
    servingMs: wholeMs,
    brokenAfterMs: 0,
    seenMs: 0,
  });
  const history = createHistory();
  history.observe(aReplicaSet(), 0);
  history.restore([seen(40_000)]);
  history.restore([seen(40_000), seen(30_000)]);
  assert.equal(history.longestAvailableMs('rs-2', 10_000), 40_000);
  assert.equal(history.longestAvailableMs('rs-2', 50_000), 50_000, 'what this process sees goes on');
});

test('that it broke, and was short of pods, is known to the next', () => {
  const first = createHistory();
  first.observe(aReplicaSet({ desired: 3, available: 3 }), 0);
  first.observe(aReplicaSet({ desired: 3, available: 1 }), 70_000);
  const next = handedOver(first, 80_000);
  assert.deepEqual([next.brokenAfterMs('rs-2'), next.isShort('rs-2')], [70_000, true]);
  next.observe(aReplicaSet({ desired: 1, available: 1 }), 90_000); // asked for less: no recovery
  assert.equal(next.longestAvailableMs('rs-2', 900_000), 70_000);
  next.observe(aReplicaSet({ desired: 3, available: 3 }), 900_000);
  assert.equal(next.longestAvailableMs('rs-2', 1_000_000), 100_000);
});

test('what this process sees now is newer than what was written: a recovery that it saw is one', () => {
  const history = createHistory();
  history.observe(aReplicaSet({ desired: 1, available: 1 }), 0);
  const written = { uid: 'rs-2', wholeMs: 0, servingMs: 0, brokenAfterMs: 0, shortAt: 3, seenMs: 0 };
  history.restore([written]);
  history.observe(aReplicaSet({ desired: 1, available: 1 }), 10_000);
  assert.equal(history.longestAvailableMs('rs-2', 60_000), 60_000);
});

test('a revision of which nothing was seen but that it is there is not written', () => {
  const history = createHistory();
  history.observe(aReplicaSet(), 1_000);
  assert.deepEqual(history.seen(heard(1_000)), []);
  assert.deepEqual(history.seen(heard(Number.NEGATIVE_INFINITY)), [], 'nor one that no watch has heard of since');
  const [seen] = history.seen(heard(5_000));
  assert.deepEqual([seen?.wholeMs, seen?.seenMs, seen?.isRunning], [4_000, 5_000, true]);
});

test('a revision of a set was seen until the watch of sets was heard, and one of a Deployment until the other was', () => {
  const history = createHistory();
  history.observe(aReplicaSet({ uid: 'of-a-set', name: '' }), 0);
  history.observe(aReplicaSet({ uid: 'of-a-deployment' }), 0);
  const seen = history.seen({ replicaSets: 60_000, sets: 10_000 });
  assert.deepEqual(
    seen.map(({ uid, wholeMs }) => [uid, wholeMs]),
    [
      ['of-a-deployment', 60_000],
      ['of-a-set', 10_000],
    ],
  );
});
