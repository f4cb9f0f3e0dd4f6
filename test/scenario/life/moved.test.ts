import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRunning, rollOut } from './shop.ts';
import { aWorld } from './world.ts';

test('the group became a supergroup: told, asked and decided there, whatever the configuration calls it', async (t) => {
  const world = await aWorld(t);
  world.phone.moved.set('-1001', '-1007');
  world.start();
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
  assert.deepEqual(
    world.phone.messages.map(({ chat }) => chat),
    ['-1007'],
  );
  assert.match(
    (await world.phone.write('open', undefined, '-1007')).show?.cards[0]?.headline ?? '',
    /^checkout is down/,
  );
  assert.match((await world.phone.write('open', undefined, '-1008')).say, /does not use this chat/);
  world.kill();
  world.configure({ channels: { telegram: { chat: -1007 } } });
  world.start();
  await world.advance(1_000);
  assert.match(await world.phone.press(/Roll back|Delete quota/), /^Approved/);
  await world.until('green', () => world.phone.dots().includes('green'), 300_000);
  assert.equal(world.phone.messages.length, 1, world.phone.text());
});
