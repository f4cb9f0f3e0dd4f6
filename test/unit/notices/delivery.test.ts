import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPacing } from '../../../src/notices/delivery.ts';

const team = { channel: 'telegram', chat: '-1' } as const;

const pauses: [string, number[], number][] = [
  ['none was asked for', [], 0],
  ['a shorter one came later', [60_000, 5_000], 60_000],
  ['a longer one came later', [5_000, 60_000], 60_000],
];
for (const [name, asked, wanted] of pauses)
  test(`the pause of a chat when ${name}`, () => {
    const pacing = createPacing();
    for (const untilMs of asked) pacing.pause(team, untilMs);
    assert.equal(pacing.pausedForMs(team, 0), wanted);
    assert.equal(pacing.pausedForMs({ ...team, chat: '-2' }, 0), 0);
  });

test('edits have a budget per chat; a terminal needs none', () => {
  const pacing = createPacing();
  const terminal = { channel: 'console', chat: 'console' } as const;
  for (const address of [team, terminal]) for (let edit = 0; edit < 12; edit++) pacing.spend(address, 0);
  assert.equal(pacing.waitMs(team, 'state', 0), 60_000);
  assert.equal(pacing.waitMs(terminal, 'state', 0), 0);
});
