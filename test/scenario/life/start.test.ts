import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { phaseOf } from '../../../src/kube/remediation.ts';
import { available, deployment, isRunning, losePods, rollOut, tightQuota } from './shop.ts';
import { aWorld } from './world.ts';

describe('what was there before', { concurrency: 3 }, () => {
  test('found at start: one message, each in it can be decided, and a restart repeats nothing', async (t) => {
    const world = await aWorld(t);
    await isRunning(world, 'web');
    await world.apply('Deployment', deployment('api', { image: 'shop/app:1-crash', replicas: 1 }));
    await world.advance(120_000);
    await tightQuota(world);
    await losePods(world, 'web');
    await world.advance(60_000);
    world.start();
    await world.until('both in a message', () => world.phone.headlines().length === 2);
    const [shown] = world.phone.messages;
    assert.equal(world.phone.messages.length, 1);
    assert.equal(shown?.message.title?.text, 'tapfix started. 2 things were already broken: api, tight');
    await world.until('a button', () => world.phone.has(/Delete quota/));
    world.kill();
    world.start();
    await world.advance(120_000);
    assert.equal(world.phone.messages.length, 1);
    await world.phone.press(/Delete quota/);
    await world.phone.press(/Yes/);
    await world.phase('Recovered');
    await world.until('web to be available', () => available(world, 'web'));
    await world.until('green', () => world.phone.dots().includes('green'));
    assert.equal(
      shown?.message.title?.text,
      'tapfix started. 2 things were already broken: api, tight. 1 is still broken',
    );
    assert.equal(world.phone.messages.length, 1);
  });

  test('a rollout that a quota has held up for so long that it is stuck: one incident, the quota', async (t) => {
    const world = await aWorld(t);
    await isRunning(world, 'web');
    await tightQuota(world);
    await rollOut(world, 'web', 'shop/app:2');
    await world.advance(700_000);
    world.start();
    await world.until('a button', () => world.phone.has(/Delete quota/));
    await world.advance(120_000);
    const keys = (await world.fixes()).map(({ spec }) => spec.incident.key);
    assert.deepEqual(keys, ['shop/ResourceQuota/tight']);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('what is healthy when tapfix starts, however much it said before, is nothing to tell', async (t) => {
    const world = await aWorld(t);
    await isRunning(world, 'web');
    await rollOut(world, 'web', 'shop/app:2-crash');
    await world.advance(90_000);
    await rollOut(world, 'web', 'shop/app:3');
    await world.until('web to be available', () => available(world, 'web'));
    world.start();
    await world.advance(900_000);
    assert.deepEqual(world.phone.history, []);
  });
});

describe('the diagnosis changes while nobody has decided', { concurrency: 3 }, () => {
  test('another rollout: what was shown is replaced in the same message, by what is true now', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back/));
    await world.advance(30_000);
    await rollOut(world, 'checkout', 'shop/app:3-crash');
    const first = await world.phase('Superseded', 300_000);
    const [, second, ...others] = await world.fixes();
    assert.deepEqual(others, []);
    assert.deepEqual(second?.spec.follows, { name: first.metadata.name, uid: first.metadata.uid });
    await world.advance(30_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(world.phone.headlines().length, 1);
    await rollOut(world, 'checkout', 'shop/app:4');
    await world.until('both to be over', async () =>
      (await world.fixes()).every((fix) => ['Superseded', 'Resolved'].includes(phaseOf(fix))),
    );
    await world.until('grey', () => world.phone.dots()[0] === 'grey');
    assert.equal(world.phone.messages.length, 1);
    assert.match(world.phone.headlines()[0] ?? '', /^checkout is healthy again/);
  });
});
