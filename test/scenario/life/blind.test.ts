import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

/* What tapfix says about itself when it could not see. */

const about = ({ phone }: World): string[] => phone.headlines().filter((line) => line.startsWith('tapfix '));

describe('blindness', { concurrency: 3 }, () => {
  test('seven minutes without an API server, two things break: one message about it, and each incident once', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await isRunning(world, 'web');
    world.outage(true);
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await rollOut(world, 'web', 'shop/app:2-crash');
    await world.advance(420_000);
    assert.deepEqual(world.phone.history, []);
    world.outage(false);
    await world.until('a word about it', () => about(world).length > 0);
    await world.until('both incidents', () => /: 2 incidents/.test(about(world)[0]!), 300_000);
    await world.advance(300_000);
    const [said = '', ...others] = about(world);
    assert.match(
      said,
      /^tapfix could not see the cluster from 03:14 to 03:2[12] UTC \(API server unreachable\)\. Caught up: 2 incidents\.$/,
    );
    assert.deepEqual(others, []);
    const cards = world.phone.headlines().filter((line) => !line.startsWith('tapfix '));
    assert.deepEqual(cards.map((line) => line.replace(/^\d+ /, '').split(' ')[0]).sort(), ['checkout', 'web']);
    assert.equal((await world.fixes()).length, 2);
  });

  test('half a minute without one: not a word', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    world.outage(true);
    await world.advance(30_000);
    world.outage(false);
    await world.advance(180_000);
    assert.deepEqual(world.phone.history, []);
  });

  test('pods that may no longer be read: said while it lasts, by one message through a restart, which ends it', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    world.forbid(/^\/api\/v1\/namespaces\/shop\/pods/);
    await world.until('a word about it', () => about(world).length > 0, 600_000);
    assert.match(about(world)[0]!, /^tapfix cannot see pods in shop since 03:1\d UTC: forbidden$/);
    world.kill();
    await world.advance(30_000);
    world.start();
    await world.advance(120_000);
    assert.match(about(world)[0]!, /^tapfix cannot see pods in shop/);
    world.forbid(undefined);
    await world.until('its end', () =>
      /^tapfix could not see pods in shop from 03:\d\d to 03:\d\d UTC \(forbidden\)\. It can again\.$/.test(
        about(world)[0]!,
      ),
    );
    await world.advance(600_000);
    assert.equal(about(world).length, 1);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('the heartbeat goes on while everything is seen, and stops while a part is not', async (t) => {
    const world = await aWorld(t, {
      config: { heartbeat: { url: 'https://watch.example.com/ping/abc', every: '30s' } },
    });
    const beats = async (ms: number): Promise<number> => {
      const before = world.pings.length;
      await world.advance(ms);
      return world.pings.length - before;
    };
    world.start();
    await isRunning(world, 'checkout');
    assert.equal(await beats(300_000), 10);
    world.outage(true);
    await world.advance(65_000); // so long a watch may be without contact and nobody minds
    assert.equal(await beats(300_000), 0);
    world.outage(false);
    await world.advance(60_000);
    assert.equal(await beats(300_000), 10);
    world.forbid(/^\/api\/v1\/namespaces\/shop\/pods/);
    await world.advance(180_000); // until the open watch has ended, and a minute
    assert.equal(await beats(300_000), 0);
  });
});
