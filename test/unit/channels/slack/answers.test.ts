import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Command, Press } from '../../../../src/channels/channel.ts';
import { aChannel, card, later, place, until } from '../slack-rig.ts';

const shows: Answer = { say: '', alert: false, show: card };
const said: Answer = { say: 'Snoozed until <04:12>.', alert: false };
const nothing = async (): Promise<Answer> => said;

test('what an answer shows is for the presser alone', async (t) => {
  const { fake, run } = await aChannel(t);
  await run(async () => shows);
  fake.press('d:data', { message: '2.2', thread: '1.1' });
  await until('the answer', () => fake.ephemerals.length === 1);
  const { text, buttons, ...where } = fake.ephemerals[0]!;
  assert.match(text, /^🔴 checkout is down/);
  assert.equal(buttons?.length, 5);
  assert.deepEqual(where, { channel: place.chat, user: 'U012AB3CD', thread: '1.1' });
});

test('pressed on what was shown, that is replaced; the press says that we wrote it', async (t) => {
  const { fake, run } = await aChannel(t);
  const presses: Press[] = [];
  await run(async (press) => (presses.push(press), { ...shows, show: later, inPlace: true }));
  fake.press('p:2', { ephemeral: true });
  await until('the answer', () => fake.ephemerals.length === 1);
  const { text, ...how } = fake.ephemerals[0]!;
  assert.match(text, /^🟡 checkout/);
  assert.deepEqual(how, { via: '/response/0', replaced: true });
  fake.press('p:2');
  await until('the next', () => presses.length === 2);
  assert.deepEqual(
    presses.map(({ ours }) => ours),
    [true, undefined],
  );
});

test('/tapfix reaches the handler with who, where and what, and is answered where it was typed', async (t) => {
  const { fake, run } = await aChannel(t);
  const commands: Command[] = [];
  await run(nothing, async (command) => (commands.push(command), said));
  const press = fake.slash('mute shop-&amp;* 1h', { channel: 'D0STRANGER' })!;
  await until('an acknowledgement', () => fake.acks(press).length === 1);
  await until('the answer', () => fake.ephemerals.length === 1);
  const { by, name, place: where, text } = commands[0]!;
  assert.deepEqual([by, name, where, text], ['slack:U012AB3CD', 'ada', { chat: 'D0STRANGER' }, 'mute shop-&* 1h']);
  assert.deepEqual(fake.ephemerals, [{ text: said.say, via: '/response/0' }]);
});

test('a mention in a card’s thread is a command about that card, answered there', async (t) => {
  const { fake, run } = await aChannel(t);
  const commands: Command[] = [];
  await run(nothing, async (command) => (commands.push(command), said));
  fake.mention('reject known', { thread: '1.1' });
  await until('the answer', () => fake.ephemerals.length === 1);
  const { by, name, text, place: where, replyTo } = commands[0]!;
  assert.deepEqual(
    [by, name, text, where, replyTo],
    ['slack:U012AB3CD', 'U012AB3CD', 'reject known', { ...place, thread: '1.1' }, '1.1'],
  );
  assert.deepEqual(fake.ephemerals, [{ channel: place.chat, user: 'U012AB3CD', thread: '1.1', text: said.say }]);
});

for (const send of ['slash', 'mention'] as const)
  test(`a ${send} that Slack delivers twice is handled and answered once`, async (t) => {
    const { fake, run } = await aChannel(t);
    let commands = 0;
    await run(nothing, async () => ((commands += 1), said));
    const press = fake[send]('status', { via: 0 })!;
    fake.redeliver(press, 1);
    await until('both acknowledgements', () => fake.acks(press).length === 2);
    await until('the answer', () => fake.ephemerals.length === 1);
    assert.equal(commands, 1);
  });

test('a throwing handler is answered', async (t) => {
  const { fake, run, said: lines } = await aChannel(t);
  await run(nothing, async () => Promise.reject(new Error('boom')));
  fake.slash('status');
  await until('the answer', () => fake.ephemerals.length === 1);
  assert.match(fake.ephemerals[0]!.text, /nothing was decided/);
  assert.deepEqual(lines(), ['command not handled']);
});

for (const fault of [{ status: 503, body: '' }, 'hang up'] as const)
  test(`an answer to a command that got lost is given again: ${JSON.stringify(fault)}`, async (t) => {
    const { fake, run } = await aChannel(t);
    await run(nothing, nothing);
    fake.fail('/response/0', fault);
    fake.slash('status');
    await until('the answer', () => fake.ephemerals.length === 1);
  });

test('what could not be shown is known to be unseen', async (t) => {
  const { fake, run } = await aChannel(t);
  let unseen = 0;
  await run(async () => ({ ...shows, onUnseen: () => void unseen++ }));
  fake.press('d:data', { message: '2.2' });
  await until('the answer', () => fake.ephemerals.length === 1);
  assert.equal(unseen, 0);
  for (let n = 0; n < 3; n++) fake.fail('chat.postEphemeral', 'hang up');
  fake.press('d:other', { message: '2.2' });
  await until('what nobody saw', () => unseen === 1);
});
