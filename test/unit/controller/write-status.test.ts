import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condition, readAgain, say } from '../../../src/controller/write-status.ts';
import { undoWorld } from './world.ts';

const word = { phase: 'Proposed' as const, conditions: [condition('Proposed', true, 'Proposed', 'waiting')] };
const lastTransitionTime = '2026-11-16T03:12:00Z';
const cleared = {
  status: {
    conditions: [{ type: 'IncidentCleared', status: 'True', reason: 'Healthy', message: '', lastTransitionTime }],
  },
};

function rig() {
  const { server, clock, fix } = undoWorld();
  const { name } = fix().metadata;
  const change = (patch: object) => server.change('Remediation', 'shop', name, patch);
  return { server, fix, change, name, api: server.client(), nowMs: clock.now() };
}

test('what the watcher wrote meanwhile is never overwritten: the word is not said', async () => {
  const { api, fix, change, nowMs } = rig();
  const decidedOn = fix();
  change(cleared);
  assert.equal(await say(api, decidedOn, word, nowMs), undefined);
  assert.deepEqual(fix().status, cleared.status);
});

test("the watcher's condition stays beside ours", async () => {
  const { api, fix, change, nowMs } = rig();
  change(cleared);
  await say(api, fix(), word, nowMs);
  assert.deepEqual(
    fix().status?.conditions?.map(({ type }) => type),
    ['IncidentCleared', 'Proposed'],
  );
});

test('about a Remediation that is gone nothing is said', async () => {
  const { server, api, fix, name, nowMs } = rig();
  const decidedOn = fix();
  server.remove('Remediation', 'shop', name);
  assert.equal(await say(api, decidedOn, word, nowMs), undefined);
});

test('read again, it must be the same one in the same phase', async () => {
  const { server, api, fix, change, name } = rig();
  const decidedOn = fix();
  assert.ok(await readAgain(api, decidedOn));
  change({ status: { phase: 'Proposed' } });
  assert.equal(await readAgain(api, decidedOn), undefined);
  server.remove('Remediation', 'shop', name);
  server.seed('Remediation', 'shop', { metadata: { name }, spec: decidedOn.spec });
  assert.equal(await readAgain(api, decidedOn), undefined);
});

test('a message fits the resource and carries no control bytes', () => {
  const { message, reason } = condition('Failed', true, 'r'.repeat(99), `\u0007${'x'.repeat(2000)}`);
  assert.deepEqual([message.length, reason.length, message[0]], [1024, 64, ' ']);
});
