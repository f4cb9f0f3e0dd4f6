import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Phase } from '../../../src/kube/remediation.ts';
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
  await world.until('a button', () => world.phone.has(/Approve/));
  void world.phone.press(/Approve/);
  await world.phase(phase);
  await world.advance(5_000);
  world.kill();
  await world.advance(20_000);
  return world;
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
    await world.phone.press(/Approve/);
    await world.phase('Recovered', 300_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await revision(world), 3);
  });

  test('Proposed, but not confirmed yet: what the old process had seen is gone, so it says why it cannot be approved', async (t) => {
    const world = await aWorld(t);
    world.start({ diesIn: 'Proposed' });
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.phase('Proposed');
    world.kill();
    world.start();
    await world.until('a card', () => /not confirmed: .* revision 1 was not seen healthy/s.test(world.phone.text()));
    assert.equal(world.phone.has(/Approve/), false);
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
    assert.match(world.phone.headlines()[0]!, /rejected by Ada/);
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
    await world.until('its words', () => /nobody decided/.test(world.phone.headlines()[0]!), 120_000);
    await world.advance(120_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await revision(world), 2);
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
