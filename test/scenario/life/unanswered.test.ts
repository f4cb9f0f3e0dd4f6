import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

const minutes = (n: number): number => n * 60_000;

/** Broken, posted, and nobody has answered yet; from then on the minutes count. */
async function asked(t: TestContext, config: object = {}, replica?: string) {
  const world = await aWorld(t, { config: { notices: {}, ...config } });
  world.start(replica === undefined ? {} : { replica });
  await isRunning(world, 'checkout');
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.until('a button', () => world.phone.has(/Roll back/));
  const postedMs = world.clock.now();
  const heardAt: number[] = [0];
  /** Lets the time pass, and notes in which minute each further message came. */
  async function listen(
    untilMinute: number,
    onMinute: (minute: number) => Promise<void> | void = () => {},
  ): Promise<void> {
    for (
      let now = (world.clock.now() - postedMs) / 60_000;
      now < untilMinute;
      now = (world.clock.now() - postedMs) / 60_000
    ) {
      await world.advance(30_000);
      while (heardAt.length < world.phone.messages.length) heardAt.push(Math.floor(now + 0.6));
      await onMinute(now);
    }
  }
  const near = (want: readonly number[]): void => {
    const isNear = heardAt.length === want.length && want.every((minute, n) => Math.abs(minute - heardAt[n]!) <= 1);
    assert.ok(isNear, `heard at ${heardAt.join(', ')} instead of ${want.join(', ')}\n${world.phone.text()}`);
  };
  return { world, listen, near };
}

const headlineOf = (world: World, index: number): string => world.phone.messages[index]!.message.cards[0]!.headline;

describe('nobody answers something critical', { concurrency: 3 }, () => {
  test('it pings at 0, 10, 30 (its proposal expires), 90 and 150 minutes; acknowledged it is quiet for two hours', async (t) => {
    const { world, listen, near } = await asked(t);
    await listen(155);
    near([0, 10, 30, 90, 150]);
    assert.ok(
      world.phone.messages.every(({ message }) => !message.silent),
      'each with sound',
    );
    assert.match(headlineOf(world, 1), /^checkout is still down, 0\/2 ready, for 1\d min\. Nobody has answered\.$/);
    assert.match(headlineOf(world, 2), /^checkout: the proposal expired at \d\d:\d\d, still 0\/2 ready\.$/);
    assert.ok(
      world.phone.messages.slice(1).every(({ replyTo }) => replyTo === '1'),
      'each in reply to the card',
    );
    const { show } = await world.phone.write('open');
    assert.match(JSON.stringify(show), /checkout/, 'expired it stays listed');

    assert.match(await world.phone.press(/I'm on it/), /^You are on it/);
    await world.until('the reminders to say so', () => /Ada is on it since/.test(headlineOf(world, 4)));
    assert.ok(
      !world.phone.messages[2]!.message.cards.some(({ buttons }) => buttons.length > 0),
      'answered: no buttons',
    );
    await listen(284);
    near([0, 10, 30, 90, 150, 276]);
    assert.match(headlineOf(world, 5), /^checkout is still down, .* Ada is on it since \d\d:\d\d\.$/);
  });

  test('killed and restarted every few minutes, it pings the same', async (t) => {
    const { world, listen, near } = await asked(t);
    let restarts = 0;
    await listen(95, (minute) => {
      if (Math.floor(minute / 7) <= restarts) return;
      restarts += 1;
      world.kill();
      world.start();
    });
    assert.ok(restarts > 10);
    near([0, 10, 30, 90]);
  });

  test('the leader dies between two reminders: the next one comes from the other, and none twice', async (t) => {
    const world = await aWorld(t, { config: { notices: {} } });
    const a = world.start({ replica: 'a' });
    await world.advance(3_000);
    world.start({ replica: 'b' });
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a button', () => world.phone.has(/Roll back/));
    await world.advance(minutes(11));
    assert.equal(world.phone.messages.length, 2, world.phone.text());
    a.die();
    await world.advance(minutes(20));
    assert.equal(world.phone.messages.length, 3, world.phone.text());
    assert.match(headlineOf(world, 2), /^checkout: the proposal expired/);
    await world.advance(minutes(50));
    assert.equal(world.phone.messages.length, 3, world.phone.text());
    await world.until('the next one', () => world.phone.messages.length === 4, minutes(12));
  });

  test('rejected, and still broken two hours later: a reminder that says who rejected it', async (t) => {
    const { world, listen, near } = await asked(t);
    await world.phone.press(/Reject/);
    await listen(123);
    near([0, 120]);
    assert.match(headlineOf(world, 1), /^checkout is still down, .* Rejected by Ada at \d\d:\d\d\.$/);
    assert.match(await world.phone.write('ack').then(({ say }) => say), /^You are on it/);
    await listen(200);
    near([0, 120]);
  });

  test('the buttons of the reply work: proposed again, and that one counts from then on', async (t) => {
    const { world, listen, near } = await asked(t);
    await listen(31);
    near([0, 10, 30]);
    const [onReply] = world.phone.thumbs(/Propose again/, /the proposal expired/);
    assert.match(await onReply!(), /^Proposed again/);
    await world.until('the reply to say so', () => headlineOf(world, 2).startsWith('checkout: proposed again'));
    await world.until('a new proposal', () => world.phone.has(/Roll back/));
    await listen(43);
    near([0, 10, 30, 41]);
    await world.phone.press(/Roll back|Delete quota/);
    await world.phase('Recovered', 300_000);
    await world.advance(minutes(120));
    assert.equal(world.phone.messages.length, 4, world.phone.text());
  });

  test('escalated once, and edited when it is answered and when it is over', async (t) => {
    const escalation = [{ after: '15m', telegram: { chat: -1007, mention: [111] } }];
    const { world, listen } = await asked(t, { escalation });
    const there = () => world.phone.messages.filter(({ chat }) => chat === '-1007');
    await listen(14);
    assert.equal(there().length, 0);
    world.kill();
    world.start();
    await listen(17);
    assert.equal(there().length, 1, world.phone.text());
    const { message } = there()[0]!;
    assert.match(
      message.cards[0]!.headline,
      /^checkout is still down, 0\/2 ready, for 1\d min\. Nobody has answered\.$/,
    );
    assert.deepEqual(message.cards[0]!.footer, ['Answer on the card: Telegram chat -1001']);
    assert.deepEqual([message.mentions, message.silent], [[{ id: '111', name: 'Ada' }], false]);
    assert.deepEqual(message.cards[0]!.buttons, []);
    await world.phone.press(/Roll back|Delete quota/);
    await world.until('an answer there', () => /approved by Ada/.test(there()[0]!.message.cards[0]!.headline));
    world.kill();
    world.start();
    await world.phase('Recovered', 300_000);
    await world.until('the end there', () => there()[0]!.message.cards[0]!.dot === 'green', 120_000);
    await world.advance(minutes(60));
    assert.equal(there().length, 1, world.phone.text());
  });
});
