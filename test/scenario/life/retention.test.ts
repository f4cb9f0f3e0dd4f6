import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../src/kube/notice.ts';
import { isCleared } from '../../../src/kube/remediation.ts';
import { isRunning, rollOut, untilAsked } from './shop.ts';
import { aWorld } from './world.ts';

test('what is over goes after its retention, the message stays as it is, and what lasts stays', async (t) => {
  const world = await aWorld(t, { config: { retention: '10m' } });
  await untilAsked(world);
  await world.phone.press(/Roll back/);
  await world.phase('Recovered');
  await world.until('its end', async () => isCleared((await world.fixes())[0]!), 300_000);
  const endedMs = world.clock.now();
  await isRunning(world, 'web');
  await rollOut(world, 'web', 'shop/app:2-crash');
  await world.until('the second card', () => world.phone.messages.length === 2);
  await world.phone.press(/Reject/);
  await world.advance(endedMs + 590_000 - world.clock.now());
  assert.equal((await world.fixes()).length, 2, 'not before its time');
  const [shown] = world.phone.headlines();
  await world.until('the first to be gone', async () => (await world.fixes()).length === 1, 150_000);
  await world.advance(180_000);
  const left = await world.fixes();
  assert.deepEqual(
    left.map(({ spec }) => spec.incident.object.name),
    ['web'],
    'rejected, and its trouble lasts',
  );
  assert.equal(world.phone.headlines()[0], shown);
  assert.equal(world.phone.messages.length, 2);
  const notices = await world.api.list<Notice>('Notice', 'tapfix');
  assert.equal(notices.filter(({ spec }) => spec.members.length > 0).length, 1);
});
