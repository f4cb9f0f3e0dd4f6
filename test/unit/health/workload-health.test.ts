import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { aContainer, aPod, crashing } from '../../support/views.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
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
