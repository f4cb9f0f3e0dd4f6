import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacing } from '../../../src/notices/outbox/delivery.ts';

const team = { channel: 'telegram', chat: '-1' } as const;

const elsewhere = { ...team, chat: '-2' } as const;

/** How long each attempt waits for the next, when each is made as soon as it may be. */
function waitsAfter(asks: readonly number[]): number[] {
  const pacing = createPacing();
  let nowMs = 0;
  return asks.map((afterMs) => {
    pacing.failed(team, afterMs, nowMs);
    const waitMs = pacing.pausedForMs(team, nowMs);
    nowMs += waitMs;
    return waitMs;
  });
}
const pauses: [string, number[], number[]][] = [
  ['a vendor that is down is asked less and less often', [5_000, 5_000, 5_000, 5_000, 5_000], [5_000, 10_000, 20_000, 30_000, 30_000]],
  ['never sooner than it asked for', [60_000, 5_000, 90_000], [60_000, 10_000, 90_000]],
]; // prettier-ignore
for (const [name, asks, waits] of pauses) test(name, () => assert.deepEqual(waitsAfter(asks), waits));

test('four messages that fail at once are one failure, and the longest wait among them counts', () => {
  const pacing = createPacing();
  for (const afterMs of [5_000, 60_000, 5_000, 5_000]) pacing.failed(team, afterMs, 0);
  assert.equal(pacing.pausedForMs(team, 0), 60_000);
  pacing.failed(team, 5_000, 60_000);
  assert.equal(pacing.pausedForMs(team, 60_000), 10_000);
  assert.equal(pacing.pausedForMs(elsewhere, 0), 0);
});

test('what arrives meanwhile does not shorten the pause that the vendor asked for', () => {
  const pacing = createPacing();
  pacing.failed(team, 60_000, 0);
  pacing.arrived(team);
  assert.equal(pacing.pausedForMs(team, 1_000), 59_000);
});

test('once something arrived the next failure is a first one again', () => {
  const pacing = createPacing();
  pacing.failed(team, 5_000, 0);
  pacing.failed(team, 5_000, 5_000);
  pacing.arrived(team);
  pacing.failed(team, 5_000, 15_000);
  assert.equal(pacing.pausedForMs(team, 15_000), 5_000);
});

test('edits have a budget per chat; a terminal needs none', () => {
  const pacing = createPacing();
  const terminal = { channel: 'console', chat: 'console' } as const;
  for (const address of [team, terminal]) for (let edit = 0; edit < 12; edit++) pacing.spend(address, 0);
  assert.equal(pacing.waitMs(team, 'state', 0), 60_000);
  assert.equal(pacing.waitMs(terminal, 'state', 0), 0);
});
