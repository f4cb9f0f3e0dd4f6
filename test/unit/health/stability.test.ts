import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdStable, sinceLastSignal, windowMs } from '../../../src/health/stability.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const full = { desired: 3, ready: 3, settled: true };

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

const live = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);
test('fewer restarts than before are other pods: the run begins again', () => {
  const run = holdStable(undefined, { ...live, restarts: 5 }, 1_000);
  assert.equal(holdStable(run, { ...live, restarts: 2 }, 2_000)?.sinceMs, 2_000);
});

test('an OOM loop has the window of a crash loop', () => assert.equal(windowMs('OOMKilled', 30_000, 60_000), 120_000));
