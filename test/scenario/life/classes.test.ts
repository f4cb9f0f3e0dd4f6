import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { available, deployment, isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

/** A rollout whose container also reads a ConfigMap that nobody made. */
async function refersToNothing(world: World): Promise<void> {
  await rollOut(world, 'checkout', 'shop/app:2-config-missing=web-7c2');
  const envFrom = [{ configMapRef: { name: 'web-7c2' } }];
  await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'checkout' }, 'json', [
    { op: 'add', path: '/spec/template/spec/containers/0/envFrom', value: envFrom },
  ]);
}

const undone: { name: string; breaks: (world: World) => Promise<void>; config?: object; first: RegExp; why: RegExp }[] =
  [
    {
      name: 'an image that does not exist',
      breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-image-missing'),
      first: /^checkout is down, 0\/2 ready$/,
      why: /Image shop\/app:2-image-missing not found/,
    },
    {
      name: 'a version that needs more memory',
      breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-oom'),
      first: /^checkout (?:is (?:down|degraded), [01]\/2|runs out of memory, 2\/2) ready$/,
      why: /Out of memory[^]*Container app is killed for memory/,
    },
    {
      name: 'a reference to nothing',
      breaks: refersToNothing,
      first: /^checkout is down, 0\/2 ready$/,
      why: /ConfigMap web-7c2 does not exist/,
    },
    {
      name: 'a rollout that never ends',
      breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-unready'),
      config: { classes: { ProbeFailing: { enabled: false } } },
      first: /^checkout is down, 0\/2 ready$/,
      why: /Rollout stuck[^]*Rollout 2 missed its deadline of 10 min/,
    },
  ];

const told: { name: string; image: string; first: RegExp; why: RegExp; offers?: RegExp }[] = [
  { name: 'a liveness probe that fails', image: 'shop/app:1-liveness', first: /^checkout (?:is (?:down|degraded)|keeps crashing)/, why: /Crashing[^]*iveness probe/ },
  { name: 'pods that never become ready', image: 'shop/app:1-unready', first: /^checkout is down, 0\/2 ready$/, why: /Failing health checks[^]*eadiness probe/, offers: /Fix: restart its pods/ },
  { name: 'a node without a network plugin', image: 'shop/app:1-sandbox', first: /^checkout is down, 0\/2 ready$/, why: /The network plugin ptp fails/ },
  { name: 'a Secret that a volume is made of', image: 'shop/app:1-volume=cert', first: /^checkout is down, 0\/2 ready$/, why: /Secret cert does not exist/ },
]; // prettier-ignore

describe('failures of every class on the simulated cluster', { concurrency: 3 }, () => {
  for (const { name, breaks, config = {}, first, why } of undone)
    test(`${name}: the undo is offered, confirmed, applied, and it recovers`, async (t) => {
      const world = await aWorld(t, { config });
      world.start();
      await isRunning(world, 'checkout');
      await breaks(world);
      await world.until('a button', () => world.phone.has(/Roll back/), 900_000);
      assert.match(world.phone.headlines()[0]!, first);
      assert.match(world.phone.text(), why);
      await world.phone.press(/Roll back/);
      await world.phase('Recovered', 900_000);
      assert.equal(await available(world, 'checkout'), true);
      assert.equal(world.phone.messages.length, 1);
    });

  for (const { name, image, first, why, offers = /^No one-tap fix/m } of told)
    test(`${name}: told in plain words, and nothing that needs a revision before is offered for a first one`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await world.advance(5_000);
      await world.apply('Deployment', deployment('checkout', { image }));
      await world.until('a message', () => world.phone.messages.length > 0, 900_000);
      assert.match(world.phone.headlines()[0]!, first);
      assert.match(world.phone.text(), why);
      assert.match(world.phone.text(), offers);
      assert.equal(world.phone.has(/Roll back/), false);
      await world.advance(600_000);
      assert.equal(world.phone.messages.length, 1);
    });
});
