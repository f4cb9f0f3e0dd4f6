import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Press } from '../../../../src/channels/channel.ts';
import { botToken, refusal, tooManyRequests } from '../../../support/fake-slack.ts';
import { hurriedClock } from '../../../support/hurried-clock.ts';
import { aChannel, place, until } from '../slack-rig.ts';

const refused: Answer = { say: "You are not on the approvers' list for <shop> & co.", alert: true };
const ok: Answer = { say: 'Approved; it starts now.', alert: false };

test('a press reaches the handler with all that it is judged by, and is acknowledged', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  const presses: Press[] = [];
  await run(async (press) => (presses.push(press), ok));
  const press = fake.press('a:data', { from: 'U012AB3CD', message: '1700000000.000001' })!;
  await until('an acknowledgement', () => fake.acks(press).length === 1);
  assert.deepEqual(presses, [
    { channel: 'slack', by: 'slack:U012AB3CD', name: 'ada', place, message: '1700000000.000001', data: 'a:data' },
  ]);
  assert.deepEqual(fake.ephemerals, [], 'what went well is seen on the card');
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
});

test('a refusal is said to the presser alone, escaped', async (t) => {
  const { fake, run } = await aChannel(t);
  await run(async () => refused);
  fake.press('a:data', { from: 'U0MALLORY' });
  await until('the refusal', () => fake.ephemerals.length === 1);
  assert.deepEqual(fake.ephemerals, [{ channel: place.chat, user: 'U0MALLORY', text: refused.say }]);
});

test('in a thread it is said there; the first message of a thread is not in it', async (t) => {
  const { fake, run } = await aChannel(t);
  const presses: Press[] = [];
  await run(async (press) => (presses.push(press), refused));
  fake.press('a:1', { message: '2.2', thread: '1.1' });
  fake.press('a:2', { message: '1.1', thread: '1.1' });
  await until('both', () => fake.ephemerals.length === 2);
  const threads = presses.sort((a, b) => a.data.localeCompare(b.data)).map(({ place }) => place.thread);
  assert.deepEqual(threads, ['1.1', undefined]);
  assert.deepEqual(fake.ephemerals.map(({ thread }) => thread).sort(), ['1.1', undefined]);
});

test('two deliveries of one press are handled and answered once, and both acknowledged', async (t) => {
  const { fake, run } = await aChannel(t);
  let presses = 0;
  await run(async () => ((presses += 1), refused));
  const press = fake.press('a:data', { via: 0 })!;
  fake.redeliver(press, 1);
  await until('both acknowledgements', () => fake.acks(press).length === 2);
  fake.redeliver(press, 0);
  await until('the third', () => fake.acks(press).length === 3);
  await until('the answer', () => fake.ephemerals.length === 1);
  await pause(50);
  assert.equal(presses, 1);
  assert.equal(fake.ephemerals.length, 1);
});

test('the same button pressed twice is two presses', async (t) => {
  const { fake, run } = await aChannel(t);
  let presses = 0;
  await run(async () => ((presses += 1), ok));
  fake.press('a:data');
  fake.press('a:data');
  await until('two presses', () => presses === 2);
});

test('it is acknowledged when it is decided, but within two seconds at the latest', async (t) => {
  const { fake, run, clock } = await aChannel(t);
  let decide: ((answer: Answer) => void) | undefined;
  await run(() => new Promise((resolve) => (decide = resolve)));
  const press = fake.press('a:data')!;
  await until('an acknowledgement', () => fake.acks(press).length === 1);
  assert.ok(decide, 'it was still undecided');
  assert.ok(clock.slept.includes(2_000));
  decide(refused);
  await until('the answer', () => fake.ephemerals.length === 1);
});

test('one that is decided soon is not acknowledged before', async (t) => {
  const { fake, run, clock } = await aChannel(t);
  const order: string[] = [];
  await run(async () => {
    await clock.sleep(800);
    order.push(`${fake.acks(0).length} acknowledged when decided`);
    return ok;
  });
  fake.press('a:data');
  await until('an acknowledgement', () => fake.acks(0).length === 1);
  assert.deepEqual(order, ['0 acknowledged when decided']);
});

test('a throwing handler is answered, and receiving goes on', async (t) => {
  const { fake, run, said } = await aChannel(t);
  await run(async ({ data }) => {
    if (data === 'boom') throw new Error('boom');
    return refused;
  });
  fake.press('boom');
  await until('the answer', () => fake.ephemerals.length === 1);
  assert.match(fake.ephemerals[0]!.text, /nothing was decided/);
  fake.press('a:data');
  await until('the next', () => fake.ephemerals.length === 2);
  assert.deepEqual(said(), ['press not handled']);
});

for (const fault of [{ status: 502, body: '' }, tooManyRequests(1), 'hang up'] as const)
  test(`an answer that got lost is given again: ${JSON.stringify(fault)}`, async (t) => {
    const { fake, run, clock, said } = await aChannel(t);
    await run(async () => refused);
    fake.fail('chat.postEphemeral', fault);
    fake.press('a:data');
    await until('the answer', () => fake.ephemerals.length === 1);
    assert.ok(clock.slept.some((ms) => ms === 1_000 || ms === 3_000));
    assert.deepEqual(said(), []);
  });

test('an answer that cannot be given is given up: at once if it never can, else after three tries', async (t) => {
  const { fake, run, lines } = await aChannel(t);
  await run(async () => refused);
  fake.fail('chat.postEphemeral', refusal('user_not_in_channel'));
  fake.press('a:data');
  await until('giving up', () => lines.length === 1);
  for (let n = 0; n < 3; n++) fake.fail('chat.postEphemeral', 'hang up');
  fake.press('a:data');
  await until('giving up', () => lines.length === 2);
  assert.deepEqual(
    lines.map(({ message, fields }) => [message, (fields as { tries?: number }).tries]),
    [
      ['press not answered', 1],
      ['press not answered', 3],
    ],
  );
});

test('a stop waits for what is being decided, takes nothing new, and closes the sockets', async (t) => {
  const { fake, channel, run, stop, ended } = await aChannel(t, { clock: hurriedClock(10) });
  let presses = 0;
  await run(async () => {
    presses += 1;
    await pause(10);
    return refused;
  });
  const press = fake.press('a:data', { via: 0 })!;
  await until('the press', () => presses === 1);
  stop.abort();
  fake.press('a:more', { via: 0 });
  await ended();
  await until('closed sockets', () => fake.count() === 0);
  assert.equal(fake.acks(press).length, 1);
  assert.equal(fake.ephemerals.length, 1);
  assert.equal(presses, 1);
  assert.deepEqual(channel.health(), { ok: false, detail: 'stopped' });
});

test('a person of another workspace is nobody that the list can name, however the id reads', async (t) => {
  const { fake, run } = await aChannel(t);
  const heard: string[] = [];
  await run(
    async ({ by }) => (heard.push(by), refused),
    async ({ by }) => (heard.push(by), refused),
  );
  const ways = [fake.press.bind(fake, 'a:data'), fake.slash.bind(fake, 'approve'), fake.mention.bind(fake, 'approve')];
  for (const way of ways) {
    way({ team: 'T0OTHER' });
    way({});
  }
  await until('all answers', () => fake.ephemerals.length === 6);
  assert.deepEqual(heard.sort(), [
    ...Array.from({ length: 3 }, () => 'slack:T0OTHER/U012AB3CD'),
    ...Array.from({ length: 3 }, () => 'slack:U012AB3CD'),
  ]);
  assert.deepEqual(
    new Set(fake.ephemerals.filter(({ via }) => !via).map(({ user }) => user)),
    new Set(['U012AB3CD']),
    'they read the answer',
  );
});

test('while Slack does not say which workspace is ours, nobody decides', async (t) => {
  const mounted = { token: botToken };
  const { fake, run } = await aChannel(t, { botToken: async () => mounted.token });
  let presses = 0;
  await run(async () => ((presses += 1), ok));
  mounted.token = 'xoxb-the-next-token';
  fake.setTokens({ bot: mounted.token });
  fake.fail('auth.test', { status: 502, body: '' });
  fake.press('a:data');
  await until('an answer', () => fake.ephemerals.length === 1);
  assert.match(fake.ephemerals[0]!.text, /nothing was decided/);
  assert.equal(presses, 0);
  fake.press('a:data');
  await until('a press', () => presses === 1);
});

test('commands that are delivered again, over both sockets, are handled once', async (t) => {
  const { fake, run } = await aChannel(t);
  const heard: string[] = [];
  await run(undefined, async ({ text }) => (heard.push(text), ok));
  for (const command of [fake.slash('approve', { via: 0 })!, fake.mention('reject', { via: 0 })!]) {
    fake.redeliver(command, 1);
    fake.redeliver(command, 0);
    await until('every acknowledgement', () => fake.acks(command).length === 3);
  }
  assert.deepEqual(heard, ['approve', 'reject']);
});
