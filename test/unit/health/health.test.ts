import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { hasCrashedLately, isCrashing } from '../../../src/health/pod.ts';
import { quotaHealth } from '../../../src/health/refusals.ts';
import { holdStable, sinceLastSignal, windowMs } from '../../../src/health/stability.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { aContainer, aPod, aReplicaSet, crashing } from '../../support/views.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const endedAt = (agoMs: number) =>
  aContainer({ restarts: 2, ended: { reason: 'Error', exitCode: 1, uptimeMs: 5_000, finishedAtMs: nowMs - agoMs } });
const full = { desired: 3, ready: 3, settled: true };
const workloads = [
  { name: 'all ready and settled', counts: full, pods: [aPod()], why: '' },
  {
    name: 'old pods still serve while the new revision loops',
    counts: full,
    pods: [aPod({ containers: [crashing] })],
    why: 'container app keeps crashing',
  },
  { name: 'one short', counts: { ...full, ready: 2 }, pods: [aPod()], why: '2/3 ready' },
  {
    name: 'a rollout under way',
    counts: { ...full, settled: false },
    pods: [aPod()],
    why: 'the rollout has not finished',
  },
  {
    name: 'a looping pod that is being deleted does not count',
    counts: full,
    pods: [aPod({ deleting: true, containers: [crashing] })],
    why: '',
  },
];
for (const { name, counts, pods, why } of workloads)
  test(`workload: ${name}`, () => {
    const live = workloadHealth(counts, pods, nowMs);
    assert.equal(live.why, why);
    assert.equal(live.healthy, why === '');
  });

test('restarts and the longest uptime are those of living pods', () => {
  const looped = aContainer({
    restarts: 5,
    ended: { reason: 'Error', exitCode: 1, uptimeMs: 42_000, finishedAtMs: 1 },
  });
  const live = workloadHealth(full, [aPod({ containers: [looped] }), aPod({ containers: [crashing] })], nowMs);
  assert.equal(live.restarts, 9);
  assert.equal(live.longestUptimeMs, 42_000);
});

test('an init container that did its work has not crashed, however long it took', () => {
  const done = aContainer({
    name: 'migrate',
    isDown: true,
    ended: { reason: 'Completed', exitCode: 0, uptimeMs: 300_000, finishedAtMs: 1 },
  });
  const live = workloadHealth(full, [aPod({ containers: [done, crashing] })], nowMs);
  assert.equal(live.longestUptimeMs, 300);
});

test('a quota names each workload once, however many of its ReplicaSets are refused', () => {
  const owner = {
    kind: 'ReplicaSet',
    uid: 'u',
    workload: 'Deployment/api',
    ready: 1,
    desired: 3,
    refusal: '',
    fits: false,
  };
  const live = quotaHealth(true, [
    { ...owner, name: 'api-1' },
    { ...owner, name: 'api-2' },
  ]);
  assert.deepEqual(live.affected, ['Deployment/api']);
  assert.equal(live.why, '1 workload is refused pods');
  assert.equal(quotaHealth(true, []).healthy, true);
  assert.equal(quotaHealth(false, []).gone, true);
});

const healthy = workloadHealth(full, [], nowMs);
test('a stable run is broken by bad health, by a restart, and by a signal', () => {
  const run = holdStable(undefined, healthy, 1_000);
  assert.deepEqual(run, { sinceMs: 1_000, restarts: 0, readAtMs: 1_000 });
  assert.equal(holdStable(run, healthy, 9_000)?.sinceMs, 1_000);
  assert.equal(holdStable(run, { ...healthy, restarts: 1 }, 9_000)?.sinceMs, 9_000);
  assert.equal(holdStable(run, { ...healthy, healthy: false }, 9_000), undefined);
  assert.equal(holdStable(run, healthy, 121_001)?.sinceMs, 121_001, 'nobody looked for two minutes');
  assert.equal(sinceLastSignal(run, 5_000)?.sinceMs, 5_000);
  assert.equal(sinceLastSignal(run, 500)?.sinceMs, 1_000);
});

test('the window of a crash loop is twice its longest life, at most ten minutes', () => {
  assert.equal(windowMs('QuotaExceeded', 30_000, 60_000), 30_000);
  assert.equal(windowMs('CrashLoop', 30_000, 1_000), 30_000);
  assert.equal(windowMs('CrashLoop', 30_000, 60_000), 120_000);
  assert.equal(windowMs('CrashLoop', 30_000, 3_600_000), 600_000);
});

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
  assert.equal(history.wasShort('rs-2'), true);
  history.observe(aReplicaSet({ desired: 3, available: 3 }), 700_000);
  assert.equal(history.longestAvailableMs('rs-2', 760_000), 60_000);
});

test('a revision that was scaled away had no fewer pods than it was asked for', () => {
  const history = createHistory();
  history.observe(aReplicaSet(), 0);
  history.observe(aReplicaSet({ desired: 0, available: 0 }), 10_000);
  assert.equal(history.wasShort('rs-2'), false);
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

const pods = [
  { name: 'in its back-off', pod: aPod({ containers: [crashing] }), now: true, lately: true },
  {
    name: 'up again, not ready',
    pod: aPod({ ready: false, containers: [{ ...endedAt(60_000), ready: false }] }),
    now: true,
    lately: true,
  },
  {
    name: 'up since an hour, and not ready',
    pod: aPod({ ready: false, containers: [{ ...endedAt(3_600_000), ready: false }] }),
    now: false,
    lately: false,
  },
  {
    name: 'up and ready a minute after a crash',
    pod: aPod({ containers: [endedAt(60_000)] }),
    now: false,
    lately: true,
  },
  {
    name: 'up and ready an hour after a crash',
    pod: aPod({ containers: [endedAt(3_600_000)] }),
    now: false,
    lately: false,
  },
  {
    name: 'whose init container needed a second try a minute ago',
    pod: aPod({
      containers: [{ ...endedAt(60_000), isDown: true, ended: { ...endedAt(60_000).ended!, exitCode: 0 } }],
    }),
    now: false,
    lately: false,
  },
  {
    name: 'starting for the first time',
    pod: aPod({ ready: false, containers: [aContainer({ ready: false })] }),
    now: false,
    lately: false,
  },
  { name: 'on its way out', pod: aPod({ deleting: true, containers: [crashing] }), now: false, lately: false },
];
for (const { name, pod, now, lately } of pods)
  test(`a pod ${name}: ${now ? 'crashes' : lately ? 'crashed lately' : 'does not crash'}`, () =>
    assert.deepEqual([isCrashing(pod, nowMs), hasCrashedLately(pod, nowMs)], [now, lately]));

const evictions: [string, number | undefined, boolean][] = [
  ['a moment ago', nowMs - 60_000, true],
  ['two hours ago: it stays for long beside its replacement', nowMs - 7_200_000, false],
  ['at a time that nobody says', undefined, true],
];
for (const [name, unreadySinceMs, isTrouble] of evictions)
  test(`a pod was evicted ${name}`, () => {
    const evicted = aPod({
      phase: 'Failed',
      ready: false,
      reason: 'Evicted',
      ...(unreadySinceMs && { unreadySinceMs }),
    });
    const { troubles } = workloadHealth({ ...full, ready: 2 }, [evicted], nowMs);
    assert.deepEqual(troubles, isTrouble ? ['Evicted'] : []);
  });
