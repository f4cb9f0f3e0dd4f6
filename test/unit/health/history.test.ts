import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { aReplicaSet } from '../../support/views.ts';

test('a revision was healthy for its longest unbroken time, also after it was scaled away', () => {
  const history = createHistory();
  history.observe(aReplicaSet(), 0);
  history.observe(aReplicaSet({ available: 2 }), 40_000);
  history.observe(aReplicaSet(), 41_000);
  history.observe(aReplicaSet({ desired: 0, available: 0 }), 50_000);
  assert.equal(history.longestAvailableMs('rs-2', 90_000), 40_000);
  assert.equal(history.longestAvailableMs('never seen', 90_000), 0);
});

test('how long a revision held before it broke by itself, and not because it was scaled', () => {
  const history = createHistory();
  history.observe(aReplicaSet({ desired: 1, available: 1 }), 0);
  history.observe(aReplicaSet({ desired: 3, available: 1 }), 10_000); // scaled up
  history.observe(aReplicaSet({ desired: 3, available: 3 }), 20_000);
  assert.equal(history.brokenAfterMs('rs-2'), 0);
  history.observe(aReplicaSet({ desired: 3, available: 2 }), 90_000);
  history.observe(aReplicaSet({ desired: 3, available: 3 }), 92_000);
  history.observe(aReplicaSet({ desired: 0, available: 0 }), 192_000); // rolled away
  assert.equal(history.brokenAfterMs('rs-2'), 70_000);
  assert.equal(history.brokenAfterMs('never seen'), 0);
});

test('what was never seen running takes no room, and what is gone is forgotten', () => {
  const history = createHistory(2);
  history.observe(aReplicaSet(), 0);
  for (let n = 0; n < 10; n++) history.observe(aReplicaSet({ uid: `old-${n}`, desired: 0, available: 0 }), 0);
  assert.equal(history.longestAvailableMs('rs-2', 60_000), 60_000);
  history.forget('rs-2');
  assert.equal(history.longestAvailableMs('rs-2', 60_000), 0);
});

test('to be asked for less than it could not bring up is no recovery; to bring it up is', () => {
  const history = createHistory();
  history.observe(aReplicaSet({ desired: 3, available: 1 }), 0);
  history.observe(aReplicaSet({ desired: 1, available: 1 }), 10_000);
  history.observe(aReplicaSet({ desired: 1, available: 1 }), 20_000);
  assert.equal(history.longestAvailableMs('rs-2', 600_000), 0);
  assert.equal(history.isShort('rs-2'), true);
  history.observe(aReplicaSet({ desired: 3, available: 3 }), 700_000);
  assert.equal(history.longestAvailableMs('rs-2', 760_000), 60_000);
});

test('a revision that was scaled away had no fewer pods than it was asked for', () => {
  const history = createHistory();
  history.observe(aReplicaSet(), 0);
  history.observe(aReplicaSet({ desired: 0, available: 0 }), 10_000);
  assert.equal(history.isShort('rs-2'), false);
});

test('serving is half of the pods or more, without a break that was seen', () => {
  const history = createHistory();
  history.observe(aReplicaSet({ desired: 4, available: 2 }), 0);
  history.observe(aReplicaSet({ desired: 4, available: 1 }), 50_000);
  history.observe(aReplicaSet({ desired: 4, available: 3 }), 60_000);
  assert.equal(history.longestServingMs('rs-2', 90_000), 50_000);
  history.blind(100_000, 200_000);
  assert.equal(history.longestServingMs('rs-2', 290_000), 90_000);
  assert.equal(history.longestServingMs('never seen', 90_000), 0);
});

test('time that nobody watched is not credited to a revision; what was seen before and after is', () => {
  const history = createHistory();
  history.observe(aReplicaSet(), 0);
  history.blind(1_000, 92_000); // the connection was dead, then what happened meanwhile arrives
  history.observe(aReplicaSet({ available: 0 }), 92_000);
  assert.equal(history.longestAvailableMs('rs-2', 200_000), 1_000);
  history.observe(aReplicaSet(), 200_000);
  history.blind(260_000, 300_000);
  assert.equal(history.longestAvailableMs('rs-2', 310_000), 60_000);
  assert.equal(history.longestAvailableMs('rs-2', 400_000), 100_000);
});

test('a revision that is seen available again and again is available since the first time', () => {
  const history = createHistory();
  for (const atMs of [0, 10_000, 20_000]) history.observe(aReplicaSet(), atMs);
  assert.equal(history.longestAvailableMs('rs-2', 30_000), 30_000);
});
