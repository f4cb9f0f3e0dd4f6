import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from '../../long/random.ts';
import { isRunning, rollOut } from './shop.ts';
import { aWorld } from './world.ts';

/** How long after its patience an incident was posted, in seconds, while the server refuses this share of all requests. */
async function posted(t: Parameters<typeof aWorld>[0], share: number, seed: number) {
  const { next: random } = randomOf(seed);
  let isOverloaded = false;
  const lines: string[] = [];
  let requests = 0;
  const isBusy = (): boolean => {
    requests += 1;
    return isOverloaded && random() < share;
  };
  const world = await aWorld(t, { isBusy, random, onLog: (line) => lines.push(line) });
  world.start();
  await isRunning(world, 'api');
  lines.length = 0;
  isOverloaded = true;
  requests = 0;
  const beganMs = world.clock.now();
  await rollOut(world, 'api', 'shop/app:2-crash');
  await world.until('message', () => world.phone.messages.length > 0, 600_000);
  const tookS = (world.clock.now() - beganMs) / 1000;
  const before = requests;
  await world.advance(Math.max(0, 60_000 - tookS * 1000));
  isOverloaded = false;
  await world.advance(60_000);
  world.kill();
  return { tookS, requests: before, lines };
}

test('half of all requests refused: posted soon, and quietly', async (t) => {
  const { tookS: usualS, requests } = await posted(t, 0, 1);
  t.diagnostic(`nothing refused: ${usualS} s, ${requests} requests`);
  const late: number[] = [];
  for (let seed = 1; seed <= 20; seed++) {
    const { tookS, lines, requests: asked } = await posted(t, 0.5, seed);
    late.push(tookS - usualS);
    console.log(seed, tookS, asked, lines.join('|'));
  }
  t.diagnostic(`seconds late: ${late.sort((a, b) => a - b).join(', ')}`);
});
