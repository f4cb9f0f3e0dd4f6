import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deployment, isRunning, rollOut, untilAsked } from './shop.ts';
import { aWorld, type World } from './world.ts';

/* The configuration changes while it runs: how much is told at once, and what becomes of a card that is open. */

const crashing = (name: string): object => deployment(name, { image: 'shop/app:1-crash', replicas: 1 });
/** Those who want a reminder say so. */
const notices = (over: object): object => ({ notices: { reminder: '0s', ...over } });

/** tapfix runs, and its start is over. */
async function running(world: World): Promise<void> {
  world.start();
  await isRunning(world, 'checkout');
}

/** One after the other, each in a window of its own. */
async function breakApart(world: World, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await world.apply('Deployment', crashing(name));
    await world.advance(12_000);
  }
}

const cardsOf = ({ phone }: World): number[] => phone.messages.map(({ message }) => message.cards.length);

describe('how much is told at once', { concurrency: 3 }, () => {
  const names = ['api', 'cart', 'web'];

  test('fewer messages a minute: what comes after the first waits, and is told in one', async (t) => {
    const world = await aWorld(t);
    await running(world);
    world.configure(notices({ maxPerMinute: 1 }));
    await breakApart(world, names);
    await world.until('the first', () => world.phone.messages.length === 1);
    await world.advance(40_000);
    assert.deepEqual(cardsOf(world), [1], world.phone.text());
    await world.until('the others', () => world.phone.messages.length === 2, 60_000);
    await world.advance(300_000);
    assert.deepEqual(cardsOf(world), [1, 2], world.phone.text());
  });

  test('more messages a minute: each is told by itself, and what waited goes out at once', async (t) => {
    const world = await aWorld(t, { config: notices({ maxPerMinute: 1 }) });
    await running(world);
    await breakApart(world, names);
    await world.until('the first', () => world.phone.messages.length === 1);
    await world.advance(20_000);
    assert.deepEqual(cardsOf(world), [1], world.phone.text());
    world.configure(notices({ maxPerMinute: 4 }));
    await world.until('what waited', () => world.phone.messages.length === 2, 15_000);
    await breakApart(world, ['late', 'later']);
    await world.advance(120_000);
    assert.deepEqual(cardsOf(world).toSorted().slice(0, 3), [1, 1, 1], world.phone.text());
    assert.equal(world.phone.headlines().length, 5, world.phone.text());
  });

  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `svc-${letter}`);
  for (const [what, before, after, isStorm] of [
    ['fewer make a storm: one message that counts them', 10, 3, true],
    ['more are needed for a storm: one message that shows them', 3, 10, false],
  ] as const)
    test(what, async (t) => {
      const world = await aWorld(t, { config: notices({ storm: { incidents: before } }) });
      await running(world);
      world.configure(notices({ storm: { incidents: after } }));
      for (const name of many) await world.apply('Deployment', crashing(name));
      await world.until('a message', () => world.phone.messages.length > 0);
      await world.advance(120_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      assert.equal(world.phone.headlines()[0]!.startsWith('6 incidents in one minute'), isStorm, world.phone.text());
    });
});

describe(
  'no longer worth telling while its card is open: it is seen to its end, and not told again',
  {
    concurrency: 3,
  },
  () => {
    const off = ['CrashLoop', 'RolloutStuck', 'ProbeFailing'].map((name) => [name, { enabled: false }]);
    for (const [what, over] of [
      ['its class is switched off', { classes: Object.fromEntries(off) }],
      ['a rule ignores it', { ignore: [{ name: 'checkout' }] }],
    ] as const) {
      test(`${what}: the card stays as it is, and can be approved`, async (t) => {
        const world = await aWorld(t);
        await untilAsked(world);
        const shown = world.phone.text();
        world.configure(over);
        await world.advance(120_000);
        assert.equal(world.phone.text(), shown);
        await world.phone.press(/Roll back/);
        await world.phase('Recovered', 300_000);
        await world.until('green', () => world.phone.dots()[0] === 'green');
        await rollOut(world, 'checkout', 'shop/app:3-crash');
        await world.advance(240_000);
        assert.deepEqual([world.phone.messages.length, (await world.fixes()).length], [1, 1], world.phone.text());
      });

      test(`${what}: healed by itself, its card says so`, async (t) => {
        const world = await aWorld(t);
        await untilAsked(world);
        world.configure(over);
        await world.advance(60_000);
        await rollOut(world, 'checkout', 'shop/app:3');
        await world.until('its end', () => /is healthy again/.test(world.phone.headlines()[0]!), 300_000);
        assert.equal(world.phone.messages.length, 1, world.phone.text());
      });
    }
  },
);
