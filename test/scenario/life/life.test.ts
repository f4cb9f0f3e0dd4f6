import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isCleared, phaseOf } from '../../../src/kube/remediation.ts';
import { available, isRunning, losePods, rollOut, tightQuota, untilAsked } from './shop.ts';
import { aWorld } from './world.ts';

/** The whole program on the simulated cluster, in virtual time and with the usual configuration. */
describe('the life of a card', { concurrency: 3 }, () => {
  test('approved: the rollout is undone, and the same message turns green', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    assert.match(world.phone.headlines()[0]!, /^checkout is down, 0\/2 ready$/);
    assert.equal(await world.phone.press(/Roll back/), 'Approved; it starts now.');
    const fix = await world.phase('Recovered');
    await world.until('green', () => world.phone.dots()[0] === 'green');
    assert.equal(fix.spec.approval.by, 'telegram:111');
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await available(world, 'checkout'), true);
    assert.deepEqual(await world.bindings(), []);
  });

  test('approved: the quota goes after a second tap, and the pods come back at once', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'web');
    await tightQuota(world);
    await losePods(world, 'web');
    await world.until('a button', () => world.phone.has(/Delete quota/));
    await world.phone.press(/Delete quota/);
    await world.until('the question', () => world.phone.has(/^Yes, delete/));
    await world.phone.press(/^Yes, delete/);
    await world.until('the pods', () => available(world, 'web'), 10_000);
    await world.phase('Recovered');
    assert.equal(await world.api.get({ kind: 'ResourceQuota', namespace: 'shop', name: 'tight' }), undefined);
    assert.equal(world.phone.messages.length, 1);
  });

  test('two in one message: the second one’s diff is shown before a tap counts', async (t) => {
    const world = await aWorld(t, { config: { notices: { coalesce: '30s', reminder: '0s' } } });
    const { phone } = world;
    world.start();
    for (const name of ['checkout', 'web']) await isRunning(world, name);
    for (const name of ['checkout', 'web']) await rollOut(world, name, 'shop/app:2-crash');
    await world.until('both', () => phone.has(/^2 Roll back/));
    await world.advance(20_000);
    const [, second] = phone.messages[0]!.message.cards;
    const name = /web/.test(second!.headline) ? 'web' : 'checkout';
    const before = phone.text();
    assert.match(await phone.press(/^2 Roll back/), /^Really /);
    assert.equal(phone.text(), before, 'the message itself does not change for it');
    assert.equal((await world.fixes()).filter(({ spec }) => spec.approval.state !== 'Pending').length, 0);
    assert.match(JSON.stringify(phone.lists[0]!.message), /shop\/app:2-crash → shop\/app:1/);
    assert.equal(await phone.press(/^Yes, /), 'Approved; it starts now.');
    await world.until('its recovery', () => available(world, name));
    const approved = (await world.fixes()).filter(({ spec }) => spec.approval.state === 'Approved');
    assert.deepEqual(
      approved.map(({ spec }) => spec.incident.object.name),
      [name],
    );
  });

  test('rejected: nothing is changed, and nobody is asked again while it lasts', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Reject/);
    await world.phase('Rejected');
    await world.advance(3_600_000);
    assert.equal(world.phone.messages.length, 1);
    assert.match(world.phone.headlines()[0]!, /^checkout is still .*Rejected by Ada/);
    assert.equal((await world.fixes()).length, 1);
    assert.equal(await available(world, 'checkout'), false);
  });

  test('expired: nobody decides in half an hour, and all that is left to press is to propose it again', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phase('Expired', 31 * 60_000);
    await world.until('its words', () => /No decision by/.test(world.phone.headlines()[0]!));
    assert.equal(world.phone.has(/Roll back|Reject/), false);
    assert.equal(world.phone.has(/^Propose again$/), true);
    assert.equal(world.phone.messages.length, 1);
    const { say, show } = await world.phone.write('open', undefined);
    assert.equal(say, '', 'it is broken, so it is open');
    assert.match(show!.cards[0]!.headline, /checkout/);
    assert.match(JSON.stringify((await world.phone.write('status')).show), /1 is open here/);
  });

  test('expired, then proposed again: the same message asks once more, and turns green', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    const first = await world.phase('Expired', 31 * 60_000);
    await world.until('the button', () => world.phone.has(/Propose again/));
    assert.equal(await world.phone.press(/Propose again/), 'Proposed again; this message shows it.');
    await world.until('a button', () => world.phone.has(/Roll back/));
    const second = await world.phase('Proposed');
    assert.deepEqual(second.spec.follows, { name: first.metadata.name, uid: first.metadata.uid });
    await world.phone.press(/Roll back/);
    await world.phase('Recovered');
    await world.until('green', () => world.phone.dots()[0] === 'green');
    assert.equal(world.phone.messages.length, 1);
    await world.until('its end', async () => (await world.fixes()).every(isCleared), 300_000);
  });

  test('healed by itself before anybody was told: silence', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.advance(12_000); // it crashes, and patience is 30 s
    await rollOut(world, 'checkout', 'shop/app:1');
    await world.advance(600_000);
    assert.deepEqual(world.phone.messages, []);
    assert.deepEqual(await world.fixes(), []);
  });

  test('healed by itself after the card came: the card says so, and nothing was changed', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await rollOut(world, 'checkout', 'shop/app:3');
    await world.phase('Resolved', 300_000);
    await world.until('its words', () => /is healthy again/.test(world.phone.headlines()[0]!));
    assert.equal(world.phone.dots()[0], 'grey');
    assert.equal(world.phone.has(/./), false);
  });

  test('the fix does not help: never recovered, and said so; when it comes good after all, that is said too', async (t) => {
    const bad = new Set(['shop/app:2']);
    const behaviours = (_pod: unknown, { image = '' }: { image?: string }) =>
      bad.has(image) ? ({ do: 'exit', code: 1, afterMs: 300 } as const) : undefined;
    const world = await aWorld(t, { behaviours, config: { recovery: { timeout: '2m' } } });
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2');
    await world.until('a button', () => world.phone.has(/Roll back/));
    bad.add('shop/app:1'); // what it depends on is gone by now: the old version crashes as well
    await world.phone.press(/Roll back/);
    await world.phase('Failed', 600_000);
    await world.until('its words', () => /still .* after the rollback/.test(world.phone.headlines()[0]!));
    assert.equal(world.phone.dots()[0], 'red');
    assert(!world.phone.history.some((line) => /healthy again/.test(line)), world.phone.history.join('\n'));
    assert.equal(world.phone.has(/Propose again/), false, 'it did not help once');
    assert.equal((await world.fixes()).length, 1);
    bad.clear();
    await world.phase('Recovered', 25 * 60_000);
    await world.until('green', () => world.phone.dots()[0] === 'green', 300_000);
  });

  test('what was cleared may break again: a new episode, a new message', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Roll back/);
    const first = await world.phase('Recovered');
    await world.until('its end', async () => isCleared((await world.fixes())[0]!), 300_000);
    await world.advance(2 * 3_600_000);
    await rollOut(world, 'checkout', 'shop/app:4-crash');
    await world.until('the second card', () => world.phone.messages.length === 2, 300_000);
    const second = (await world.fixes()).find(({ metadata }) => metadata.uid !== first.metadata.uid);
    assert.equal(phaseOf(second!), 'Proposed');
  });

  test('what comes back within the hour is told with how often, and the same fix is not offered again', async (t) => {
    const world = await aWorld(t);
    await untilAsked(world);
    await world.phone.press(/Roll back/);
    await world.phase('Recovered');
    await world.until('its end', async () => isCleared((await world.fixes())[0]!), 300_000);
    await world.advance(60_000);
    await rollOut(world, 'checkout', 'shop/app:4-crash');
    await world.until('the second card', () => world.phone.messages.length === 2, 300_000);
    assert.match(
      world.phone.text(),
      /No one-tap fix\n[^]*The same fix was applied at \S+ and did not last \(second\s+time in an hour\)/,
    );
    assert.equal(world.phone.has(/Roll back/), false);
  });
});
