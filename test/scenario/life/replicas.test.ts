import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Phase } from '../../../src/kube/remediation.ts';
import { isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

/** "a" leads both roles, "b" follows. */
async function twoReplicas(t: TestContext, diesIn?: Phase) {
  const world = await aWorld(t, { config: { classes: { CrashLoop: { for: '30s' } } } });
  const a = world.start({ replica: 'a', ...(diesIn && { diesIn }) });
  await world.advance(3_000);
  const b = world.start({ replica: 'b' });
  await world.advance(3_000);
  return { world, a, b };
}

async function leaderOf(world: World, role = 'watcher'): Promise<string | undefined> {
  const lease = await world.api.get({ kind: 'Lease', namespace: 'tapfix', name: `tapfix-${role}` });
  return (lease as (KubeObject & { spec?: { holderIdentity?: string } }) | undefined)?.spec?.holderIdentity;
}

async function endsGreenOnce(world: World): Promise<void> {
  await world.phase('Recovered', 300_000);
  await world.until('green', () => world.phone.dots()[0] === 'green', 120_000);
  await world.advance(120_000);
  assert.equal(world.phone.messages.length, 1, world.phone.text());
  assert.equal((await world.fixes()).length, 1);
  assert.deepEqual(await world.bindings(), []);
  assert.equal(world.phone.mostPollers(), 1, 'never two at a time');
}

describe('two replicas', { concurrency: 3 }, () => {
  test('one acts, the other follows and is ready, and both say who leads', async (t) => {
    const { world, a, b } = await twoReplicas(t);
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    const { ok, checks } = b.readiness.report();
    assert.deepEqual([ok, checks['leader-watcher']?.detail], [true, 'a leads, this replica follows']);
    assert.equal(a.readiness.report().checks['leader-watcher']?.detail, 'a leads, this replica');
    assert.deepEqual(
      ['channel-telegram' in checks, 'channel-telegram' in a.readiness.report().checks],
      [false, true],
      'only the leader has a connection to the chat',
    );
    assert.match(JSON.stringify(await world.phone.write('status')), /leader-watcher: a leads/);
    void world.phone.press(/Roll back|Delete quota/);
    await endsGreenOnce(world);
  });

  for (const phase of ['Proposed', 'Approved', 'Applying', 'Applied', 'Recovered'] as const)
    test(`the leader dies in ${phase}: the other goes on within ten seconds, with one message and one undo`, async (t) => {
      const { world } = await twoReplicas(t, phase);
      await isRunning(world, 'checkout');
      await rollOut(world, 'checkout', 'shop/app:2-crash');
      if (phase !== 'Proposed') {
        await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
        void world.phone.press(/Roll back|Delete quota/);
      }
      await world.phase(phase);
      await world.until('the other to lead', async () => (await leaderOf(world)) === 'b', 10_000);
      if (phase === 'Proposed') {
        await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
        void world.phone.press(/Roll back|Delete quota/);
      }
      await endsGreenOnce(world);
    });

  test('the leader dies during the patience: it is not waited for once more, and nothing was "found at start"', async (t) => {
    const { world, a } = await twoReplicas(t);
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    const isBackingOff = async (): Promise<boolean> =>
      JSON.stringify(await world.api.list('Pod', 'shop')).includes('CrashLoopBackOff');
    await world.until('a crash loop', isBackingOff);
    await world.advance(20_000);
    a.die();
    await world.until('a message', () => world.phone.messages.length > 0, 25_000);
    assert.doesNotMatch(world.phone.text(), /found/i);
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    void world.phone.press(/Roll back|Delete quota/);
    await endsGreenOnce(world);
  });

  test('the leader is asked to stop: the other leads within two seconds, and the buttons still work', async (t) => {
    const { world, a } = await twoReplicas(t);
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    a.stop.abort();
    await world.until('the others to lead', async () => (await leaderOf(world)) === 'b', 2_000);
    await world.until('the others to lead', async () => (await leaderOf(world, 'controller')) === 'b', 2_000);
    await world.advance(1_000);
    void world.phone.press(/Roll back|Delete quota/);
    await endsGreenOnce(world);
  });

  test('the watches of the other one are silent when the leader dies: what was posted is read, and not posted again', async (t) => {
    const { world, a } = await twoReplicas(t);
    await isRunning(world, 'checkout');
    world.miss(({ object }) => object?.kind === 'Notice');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    await world.advance(5_000);
    a.die();
    await world.until('the other to lead', async () => (await leaderOf(world)) === 'b', 10_000);
    await world.advance(5_000);
    void world.phone.press(/Roll back|Delete quota/);
    await endsGreenOnce(world);
  });

  test('nobody reaches the API server for a while: one of them leads afterwards, and nothing is repeated', async (t) => {
    const { world } = await twoReplicas(t);
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    world.outage(true);
    await world.advance(40_000); // after a minute there is a message about that as well
    world.outage(false);
    await world.advance(30_000);
    const before = world.phone.messages.length;
    void world.phone.press(/Roll back|Delete quota/);
    await world.phase('Recovered', 300_000);
    await world.advance(120_000);
    assert.equal((await world.fixes()).length, 1);
    assert.equal(world.phone.messages.length, before, world.phone.text());
    assert.equal(world.phone.mostPollers(), 1, 'never two at a time');
  });
});
