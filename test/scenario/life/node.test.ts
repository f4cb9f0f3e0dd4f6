import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deployment } from './shop.ts';
import { aWorld } from './world.ts';

describe('a node goes, and twenty pods with it', { concurrency: 2 }, () => {
  for (const include of [['*'], ['shop']])
    test(`one incident, in our own namespace, where ${include[0] === '*' ? 'everything' : 'only its pods’ namespace'} is watched`, async (t) => {
      const world = await aWorld(t, { nodes: 2, config: { namespaces: { include } } });
      world.start();
      for (const name of ['a', 'b', 'c', 'd']) await world.apply('Deployment', deployment(name, { replicas: 5 }));
      await world.advance(60_000);
      const [node] = await world.api.list('Node');
      world.sim.stopNode(node!.metadata.name);
      await world.until('a card', () => world.phone.messages.length > 0, 300_000);
      await world.advance(360_000); // past the eviction of its pods
      const fixes = await world.api.list('Remediation');
      assert.deepEqual(
        fixes.map(({ metadata }) => metadata.namespace),
        ['tapfix'],
      );
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      assert.match(world.phone.headlines()[0] ?? '', /^Node .* is not ready/);
      world.kill();
      world.start();
      await world.advance(120_000);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
      world.sim.startNode(node!.metadata.name);
      await world.until('grey', () => world.phone.dots()[0] === 'grey', 300_000);
      assert.equal((await world.api.list('Remediation')).length, 1);
    });
});
