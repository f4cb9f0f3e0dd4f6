import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { available, isRunning, losePods, rollOut, tightQuota, untilAsked } from './shop.ts';
import { aWorld } from './world.ts';

describe('odd circumstances', { concurrency: 3 }, () => {
  test('a Deployment whose own name looks generated is called by its own name', async (t) => {
    const world = await aWorld(t);
    world.start();
    const name = 'web-5d9f8b6c4d'; // as a ReplicaSet of a Deployment "web" would be
    await isRunning(world, 'web');
    await isRunning(world, name);
    await rollOut(world, name, 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
    await world.phone.press(/Roll back|Delete quota/);
    const fix = await world.phase('Recovered');
    assert.equal(fix.spec.incident.key, `shop/Deployment/${name}`);
    assert.equal((await world.fixes()).length, 1);
    assert.equal(await available(world, 'web'), true);
  });

  test('of a namespace that is being deleted nothing is said', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'web');
    await tightQuota(world);
    await losePods(world, 'web');
    await world.advance(4_000); // refused already, not told yet
    await world.api.delete({ kind: 'Namespace', name: 'shop' });
    await world.advance(600_000);
    assert.deepEqual(world.phone.history, []);
  });

  test('a namespace that goes while a fix is watched is not called recovered', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Roll back|Delete quota/);
    await world.phase('Applied');
    await world.api.delete({ kind: 'Namespace', name: 'shop' });
    await world.advance(900_000);
    assert(!world.phone.history.some((line) => /recovered/.test(line)), world.phone.history.join('\n'));
    assert.equal(world.phone.messages.length, 1);
  });

  test('ten seconds without an API server, while a fix is watched: the card goes on where it was', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Roll back|Delete quota/);
    await world.phase('Applied');
    world.outage(true);
    await world.advance(10_000);
    const during = world.phone.history.length;
    world.outage(false);
    await world.phase('Recovered');
    await world.until('green', () => world.phone.dots()[0] === 'green');
    assert.equal(world.phone.messages.length, 1);
    const said = world.phone.history.slice(during);
    assert(
      said.every((line) => /^checkout( |:)/.test(line)),
      said.join('\n'),
    );
  });

  for (const kind of ['Remediation', 'Notice'] as const)
    test(`a ${kind} that is deleted by hand while no watch tells it: put right within a minute or so`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await isRunning(world, 'checkout');
      await rollOut(world, 'checkout', 'shop/app:2-crash');
      await world.until('a button', () => world.phone.has(/Roll back|Delete quota/));
      world.miss(({ type, object }) => type === 'DELETED' && object?.kind === kind);
      for (const { metadata } of await world.api.list(kind))
        await world.api.delete({ kind, namespace: metadata.namespace!, name: metadata.name });
      await world.advance(90_000);
      // The message of what is gone says so, and what is still broken is told again.
      if (kind === 'Remediation') assert.match(world.phone.headlines()[0] ?? '', /its record was deleted/);
      assert.equal(world.phone.messages.length, 2, world.phone.text());
      assert.match(world.phone.headlines().at(-1) ?? '', /checkout (?:is (?:down|degraded)|keeps crashing)/);
      assert.equal((await world.api.list(kind)).length, 1);
    });
});
