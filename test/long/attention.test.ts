import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { isRunning, rollOut } from '../scenario/life/shop.ts';
import { aWorld, type World } from '../scenario/life/world.ts';

const minutes = (n: number): number => n * 60_000;

/** Broken, and nobody has answered yet. */
async function asked(t: TestContext): Promise<World> {
  const world = await aWorld(t, { config: { notices: { reminder: '10m' } } });
  world.start();
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.until('a button', () => world.phone.has(/Roll back/));
  return world;
}
const lines = ({ phone }: World): string[] => phone.messages.slice(1).map(({ message }) => message.cards[0]!.headline);

describe('when somebody is needed', { concurrency: 3 }, () => {
  test('nobody answers for ten minutes: one short reply, once, though tapfix was killed twice meanwhile', async (t) => {
    const world = await asked(t);
    await world.advance(minutes(5));
    world.kill();
    world.start();
    await world.advance(minutes(4));
    assert.deepEqual(lines(world), []);
    await world.until('a reminder', () => world.phone.messages.length === 2, minutes(3));
    world.kill();
    world.start();
    await world.advance(minutes(60));
    assert.equal(world.phone.messages.length, 2, world.phone.text());
    assert.match(
      lines(world)[0]!,
      /^checkout (?:is still (?:down|degraded)|still keeps crashing).*, for \d+ min\. Nobody has answered\./,
    );
    assert.equal(world.phone.messages[1]!.replyTo, world.phone.messages[0]!.id);
    assert.equal(world.phone.messages[1]!.message.silent, false);
  });

  test('“I’m on it” is on the card, and nobody is reminded', async (t) => {
    const world = await asked(t);
    assert.match(await world.phone.press(/I'm on it/), /^You are on it/);
    await world.until('its name', () => /Ada is on it/.test(world.phone.text()));
    await world.advance(minutes(60));
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('snoozed: silent for an hour, then said once', async (t) => {
    const world = await asked(t);
    await world.phone.press(/Snooze/);
    await world.until('it is said', () => /Silent until/.test(world.phone.text()));
    await world.advance(minutes(58));
    assert.equal(world.phone.messages.length, 1, world.phone.text());
    await world.until('the end of it', () => world.phone.messages.length === 2, minutes(5));
    assert.match(
      lines(world)[0]!,
      /^checkout (?:is still (?:down|degraded)|still keeps crashing).*\. The snooze is over\./,
    );
    await world.advance(minutes(60));
    assert.equal(world.phone.messages.length, 2);
  });

  test('a fix that did not help calls once more', async (t) => {
    const bad = new Set(['shop/app:2']);
    const behaviours = (_pod: unknown, { image = '' }: { image?: string }) =>
      bad.has(image) ? ({ do: 'exit', code: 1, afterMs: 300 } as const) : undefined;
    const world = await aWorld(t, { behaviours, config: { recovery: { timeout: '2m' } } });
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2');
    await world.until('a button', () => world.phone.has(/Roll back/));
    bad.add('shop/app:1');
    await world.phone.press(/Roll back/);
    await world.phase('Failed', 600_000);
    await world.until('a call', () => world.phone.messages.length === 2);
    world.kill();
    world.start();
    await world.advance(minutes(60));
    assert.equal(world.phone.messages.length, 2, world.phone.text());
    assert.match(lines(world)[0]!, /^checkout is still down, 0\/2 ready, \d+ \S+ after the rollback/);
    assert.equal(world.phone.messages[1]!.replyTo, world.phone.messages[0]!.id);
  });

  test('written instead of pressed: what is open, who is on it, and the approval', async (t) => {
    const world = await asked(t);
    const { show } = await world.phone.write('open');
    assert.match(`${show!.hint!.tap}${show!.hint!.words}`, /^\/show #[0-9a-f]{6}: /);
    assert.match((await world.phone.write('ack')).say, /^You are on it/);
    await world.until('its name', () => /Ada is on it/.test(world.phone.text()));
    await world.advance(1_000);
    assert.match(JSON.stringify((await world.phone.write('approve')).show), /shop\/app:2-crash → shop\/app:1/);
    assert.equal((await world.phone.write('approve')).say, 'Approved; it starts now.');
    await world.phase('Recovered', 300_000);
    assert.match((await world.phone.write('mute shop 1h')).say, /^shop is muted until/);
    await world.advance(minutes(5));
    await rollOut(world, 'checkout', 'shop/app:3-crash');
    await world.advance(minutes(30));
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('muted while its patience lasts: not told', async (t) => {
    const world = await aWorld(t, { config: { classes: { CrashLoop: { for: '2m' } } } });
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.advance(minutes(1)); // noticed, and waited for
    assert.match((await world.phone.write('mute shop 1h')).say, /^shop is muted until/);
    await world.advance(minutes(30));
    assert.equal(world.phone.messages.length, 0, world.phone.text());
    await world.until('a card', () => world.phone.messages.length === 1, minutes(40));
  });

  test('what is muted is not told, also after a restart, until it is over', async (t) => {
    const world = await aWorld(t);
    const until = new Date(world.clock.now() + minutes(30)).toISOString();
    const mutes = { data: { mutes: JSON.stringify([{ glob: 'sho*', until, by: 'telegram:111' }]) } };
    await world.api.patch({ kind: 'ConfigMap', namespace: 'tapfix', name: 'tapfix-mutes' }, 'merge', mutes);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.advance(minutes(10));
    world.kill();
    world.start();
    await world.advance(minutes(15));
    assert.equal(world.phone.messages.length, 0, world.phone.text());
    await world.until('a card', () => world.phone.messages.length === 1, minutes(20));
  });
});
