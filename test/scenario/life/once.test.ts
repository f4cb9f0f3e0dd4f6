import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { available, deployment, isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

const keys = async (world: World): Promise<string[]> => [
  ...new Set((await world.fixes()).map(({ spec }) => spec.incident.key)),
];
const classes = async (world: World): Promise<string[]> => (await world.fixes()).map(({ spec }) => spec.incident.class);

describe('every failure, once, and only when it is real', { concurrency: 3 }, () => {
  test('a Deployment that flaps through ten rollouts: one incident, one message', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'api');
    for (let n = 2; n < 12; n++) {
      const isGood = n % 3 === 0; // for a moment, shorter than the window of recovery
      await rollOut(world, 'api', `shop/app:${n}-${isGood ? 'run' : 'crash'}`);
      await world.advance(isGood ? 20_000 : 45_000);
    }
    assert.deepEqual(await keys(world), ['shop/Deployment/api']);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('a bad image left eleven minutes, until the rollout is stuck as well: one message, about the image', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'api');
    await rollOut(world, 'api', 'shop/app:2-image-missing');
    await world.advance(660_000);
    assert.deepEqual([await classes(world), world.phone.messages.length], [['ImagePull'], 1]);
    assert.match(world.phone.text(), /^Image shop\/app:2-image-missing not found$/m);
  });

  test('an OOM loop is a crash loop as well: one message, about memory', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'api');
    await rollOut(world, 'api', 'shop/app:2-oom');
    await world.advance(600_000);
    assert.equal(world.phone.messages.length, 1);
    assert.equal((await classes(world)).at(-1), 'OOMKilled');
    assert.match(world.phone.text(), /^Out of memory/m);
  });

  test('a blip of ten seconds: none', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'api');
    await rollOut(world, 'api', 'shop/app:2-crash');
    await world.advance(10_000);
    await rollOut(world, 'api', 'shop/app:3');
    await world.until('api to be available', () => available(world, 'api'));
    await world.advance(900_000);
    assert.deepEqual([await world.fixes(), world.phone.history], [[], []]);
  });

  test('five open incidents, and a restart: no message again', async (t) => {
    const world = await aWorld(t);
    world.start();
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await world.apply('Deployment', deployment(name, { image: 'shop/app:1-crash', replicas: 1 }));
    await world.until('five', async () => (await world.fixes()).length === 5);
    await world.advance(60_000);
    const before = [world.phone.messages.length, (await world.fixes()).length];
    world.kill();
    world.start();
    await world.advance(300_000);
    assert.deepEqual([world.phone.messages.length, (await world.fixes()).length], before);
  });

  test('two whose names differ only in what looks like a hash: two incidents', async (t) => {
    const world = await aWorld(t);
    world.start();
    const names = ['web-7d9f8b6c5d', 'web-6b8c9d7f54'];
    for (const name of names)
      await world.apply('Deployment', deployment(name, { image: 'shop/app:1-crash', replicas: 1 }));
    await world.advance(120_000);
    assert.deepEqual((await keys(world)).sort(), names.map((name) => `shop/Deployment/${name}`).sort());
    assert.equal((await world.fixes()).length, 2);
  });
});
