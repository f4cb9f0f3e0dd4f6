import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadiness, type Check } from '../../../src/ops/readiness.ts';

const synced: Check = { ok: true, detail: 'synced', required: true };
const unsynced: Check = { ok: false, detail: 'first list not read', required: true };
const chatDown: Check = { ok: false, detail: 'telegram: 502', required: false };

const cases: { name: string; checks: Record<string, Check>; ready: boolean }[] = [
  { name: 'nothing to check is ready', checks: {}, ready: true },
  { name: 'synced watches are ready', checks: { pods: synced }, ready: true },
  { name: 'one unsynced watch is not ready', checks: { pods: synced, events: unsynced }, ready: false },
  { name: 'a chat outage is shown but does not matter', checks: { pods: synced, telegram: chatDown }, ready: true },
];

for (const { name, checks, ready } of cases) {
  test(name, () => {
    const readiness = createReadiness();
    for (const [key, check] of Object.entries(checks)) readiness.set(key, () => check);
    assert.deepEqual(readiness.report(), { ok: ready, checks });
  });
}

test('a check that throws makes it unready and says why', () => {
  const readiness = createReadiness();
  readiness.set('pods', () => {
    throw new Error('boom');
  });
  assert.deepEqual(readiness.report(), {
    ok: false,
    checks: { pods: { ok: false, detail: 'the check itself failed: boom', required: true } },
  });
});

test('the same name again replaces the check', () => {
  const readiness = createReadiness();
  readiness.set('config', () => unsynced);
  readiness.set('config', () => synced);
  assert.equal(readiness.report().ok, true);
});
