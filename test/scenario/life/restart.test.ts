import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type Phase, phaseOf } from '../../../src/kube/remediation.ts';
import { isRunning, rollOut, untilAsked } from './shop.ts';
import { aWorld, type World } from './world.ts';

interface Revised {
  metadata: { annotations?: Record<string, string> };
}

/** How often the Deployment was rolled out: twice is the version that crashes, a third time is the undo. */
async function revision({ api }: World): Promise<number> {
  const found = await api.get({ kind: 'Deployment', namespace: 'shop', name: 'checkout' });
  return Number((found as Revised | undefined)?.metadata.annotations?.['deployment.kubernetes.io/revision']);
}

/** Crashes, is approved, and the process dies as soon as the phase is written. */
async function diesIn(t: TestContext, phase: Phase): Promise<World> {
  const world = await aWorld(t);
  world.start({ diesIn: phase });
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
  void world.phone.press(/Roll back|Delete quota/);
  await world.phase(phase);
  await world.advance(5_000);
  world.kill();
  await world.advance(20_000);
  return world;
}

/** Crashes, and is on the phone; the process dies as soon as the phase is written. */
async function crashesUntil(world: World, phase: Phase, image = 'shop/app:2-crash'): Promise<void> {
  world.start({ diesIn: phase });
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', image);
  await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
}

async function restarted(world: World): Promise<void> {
  world.kill();
  await world.advance(20_000);
  world.start();
}

describe('killed as soon as a phase is written, and started again', { concurrency: 3 }, () => {
  for (const phase of ['Approved', 'Applying', 'Applied', 'Recovered'] as const)
    test(`${phase}: one message, one undo, and it ends green`, async (t) => {
      const world = await diesIn(t, phase);
      world.start();
      await world.phase('Recovered', 300_000);
      await world.until('green', () => world.phone.dots()[0] === 'green', 120_000);
      await world.advance(120_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      assert.equal((await world.fixes()).length, 1);
      assert.equal(await revision(world), 3, 'one undo, no more');
      assert.deepEqual(await world.bindings(), []);
    });

  test('Proposed and on the phone: the same buttons still work', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    world.kill();
    await world.advance(60_000);
    world.start();
    await world.advance(5_000);
    await world.phone.press(/Roll back|Delete quota/);
    await world.phase('Recovered', 300_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await revision(world), 3);
  });

  test('Proposed, but not confirmed yet: the next process knows what the old one had seen, and confirms it', async (t) => {
    const world = await aWorld(t);
    world.start({ diesIn: 'Proposed' });
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.phase('Proposed');
    world.kill();
    world.start();
    await world.until('a button', () => world.phone.has(/Roll back/));
    assert.equal(world.phone.messages.length, 1);
  });

  test('Rejected: it stays so, and nobody is asked again', async (t) => {
    const world = await aWorld(t);
    world.start({ diesIn: 'Rejected' });
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Reject/));
    void world.phone.press(/Reject/);
    await world.phase('Rejected');
    world.kill();
    await world.advance(5_000);
    world.start();
    await world.advance(600_000);
    assert.equal(world.phone.messages.length, 1);
    assert.match(world.phone.headlines()[0]!, /still .*Rejected by Ada/);
    assert.equal(await revision(world), 2);
  });

  test('Expired: it stays so, and the card says it', async (t) => {
    const world = await aWorld(t);
    world.start({ diesIn: 'Expired' });
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.phase('Expired', 40 * 60_000);
    world.kill();
    world.start();
    await world.until('its words', () => /No decision by/.test(world.phone.headlines()[0]!), 120_000);
    await world.advance(120_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await revision(world), 2);
  });

  test('Resolved: it stays so, the card says it, and its buttons are gone', async (t) => {
    const world = await aWorld(t);
    await crashesUntil(world, 'Resolved');
    await rollOut(world, 'checkout', 'shop/app:3');
    await world.phase('Resolved', 300_000);
    assert.equal(world.phone.has(/Roll back|Delete quota/), true, 'it died before it could say so');
    await restarted(world);
    await world.until('its words', () => /is healthy again/.test(world.phone.headlines()[0]!));
    await world.advance(300_000);
    assert.deepEqual([world.phone.dots(), world.phone.has(/./)], [['grey'], false]);
    assert.equal((await world.fixes()).length, 1);
    assert.equal(await revision(world), 3, 'the rollout that healed it, and no undo');
  });

  test('Superseded: what replaced it is in the same message, and is seen to its end', async (t) => {
    const world = await aWorld(t);
    await crashesUntil(world, 'Superseded');
    await world.advance(30_000);
    await rollOut(world, 'checkout', 'shop/app:3-crash');
    await world.phase('Superseded', 300_000);
    await restarted(world);
    await world.until('the newer one', () => /No one-tap fix/.test(world.phone.text()));
    await world.advance(120_000);
    const phases = (await world.fixes()).map(phaseOf);
    assert.deepEqual(phases, ['Superseded', 'Noticed']);
    assert.deepEqual([world.phone.messages.length, world.phone.headlines().length], [1, 1], world.phone.text());
    await rollOut(world, 'checkout', 'shop/app:4');
    await world.until('its end', () => /is healthy again/.test(world.phone.headlines()[0]!), 300_000);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
    assert.equal(await revision(world), 4);
  });

  for (const meanwhile of ['while it is down', 'when it is back'])
    test(`Failed, and what was done helps after all ${meanwhile}: that is said, and nothing is done again`, async (t) => {
      const bad = new Set(['shop/app:2']);
      const behaviours = (_pod: unknown, { image = '' }: { image?: string }) =>
        bad.has(image) ? ({ do: 'exit', code: 1, afterMs: 300 } as const) : undefined;
      const world = await aWorld(t, { behaviours, config: { recovery: { timeout: '2m' } } });
      await crashesUntil(world, 'Failed', 'shop/app:2');
      bad.add('shop/app:1');
      await world.phone.press(/Roll back|Delete quota/);
      await world.phase('Failed', 600_000);
      if (meanwhile === 'while it is down') bad.clear();
      await restarted(world);
      if (bad.size > 0)
        await world.until('its words', () => /still .* after the rollback/.test(world.phone.headlines()[0]!));
      bad.clear();
      await world.phase('Recovered', 25 * 60_000);
      await world.until('green', () => world.phone.dots()[0] === 'green', 300_000);
      await world.advance(120_000);
      assert.equal((await world.fixes()).length, 1);
      assert.equal(await revision(world), 3, 'one undo, no more');
      assert.deepEqual(await world.bindings(), []);
    });

  test('during patience: nothing is lost, and it is told once', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.advance(20_000);
    assert.equal(world.phone.messages.length, 0);
    world.kill();
    world.start();
    await world.until('a card', () => world.phone.messages.length > 0);
    await world.advance(300_000);
    assert.equal(world.phone.messages.length, 1);
  });
});
