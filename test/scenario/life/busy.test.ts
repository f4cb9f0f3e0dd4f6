import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { randomOf } from '../../long/random.ts';
import { isRunning, rollOut } from './shop.ts';
import { aWorld } from './world.ts';

/** The server refuses this share of all requests for a minute, in which a bad version is rolled out. */
async function aBusyMinute(t: TestContext, share: number, seed: number) {
  const { next: random } = randomOf(seed);
  let isOverloaded = false;
  const lines: string[] = [];
  const isBusy = (): boolean => isOverloaded && random() < share;
  const world = await aWorld(t, { isBusy, random, onLog: (line) => lines.push(line) });
  world.start();
  await isRunning(world, 'api');
  lines.length = 0;
  isOverloaded = true;
  const beganMs = world.clock.now();
  await rollOut(world, 'api', 'shop/app:2-crash');
  await world.until('message', () => world.phone.messages.length > 0, 180_000);
  const tookS = (world.clock.now() - beganMs) / 1000;
  await world.advance(Math.max(0, 60_000 - tookS * 1000));
  isOverloaded = false;
  await world.advance(60_000);
  world.kill();
  return { tookS, lines, messages: world.phone.messages.length, fixes: (await world.fixes()).length };
}

const outageLines = [/API server/, /watch is/, /pass failed/, /could not be read/, /not sent/];
const seeds = [1, 2, 3];

test('half of all requests are refused for a minute: posted soon, once, and almost without a word in the log', async (t) => {
  const usual = await aBusyMinute(t, 0, 1);
  for (const seed of seeds) {
    const { tookS, lines, messages, fixes } = await aBusyMinute(t, 0.5, seed);
    const lateS = tookS - usual.tookS;
    const said = lines.filter((line) => outageLines.some((one) => one.test(line)));
    t.diagnostic(`seed ${seed}: posted ${lateS} s later than usual, ${said.length} lines about it`);
    assert.ok(lateS <= 30, `seed ${seed}: ${lateS} s late`);
    assert.ok(said.length <= 2, said.join('\n'));
    assert.deepEqual({ messages, fixes }, { messages: 1, fixes: 1 });
  }
});
