import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forSeeds, randomOf } from './random.ts';
import { type Ending, tellThrough } from './telling.ts';

test('through kills, outages of up to ten minutes, lost answers and storms every open incident is told once in each of two chats, but for the window of a kill', async () => {
  const all = await forSeeds(1_000, (seed) => tellThrough(randomOf(seed)));
  if (process.env['SEED']) return;
  const sum = (field: keyof Ending): number => all.reduce((total, ending) => total + ending[field], 0);
  // Otherwise the seeds would prove nothing.
  for (const [field, least] of [
    ['fixes', 30_000],
    ['kills', 4_000],
    ['killsInOutage', 2_000],
    ['outages', 2_000],
    ['longOutages', 200],
    ['faults', 2_000],
    ['storms', 600],
  ] as const)
    assert.ok(sum(field) > least, `only ${sum(field)} ${field}`);
  const [repeated, windows, messages] = [sum('repeated'), sum('windows'), sum('messages')];
  assert.ok(windows < messages / 10, `${windows} windows in ${messages} messages: the exception is the rule`);
  console.log(
    `${sum('fixes')} incidents in ${messages} messages, ${sum('storms')} of them storms, ${sum('kills')} kills, ${sum('killsInOutage')} of them in an outage: ` +
      `${windows} kills between post and patch, ${repeated} of them repeated a message, 0 lost`,
  );
});
