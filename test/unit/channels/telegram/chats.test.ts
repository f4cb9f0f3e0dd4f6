import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, ChatMoved, type Command, type Press } from '../../../../src/channels/channel.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { aChannel, card, later, place, until } from '../telegram-rig.ts';

const ok: Answer = { say: 'Approved; it starts now.', alert: false };

test('removed from the chat: said with what to do, in the readiness as well, until it is back', async (t) => {
  const { fake, channel, run } = await aChannel(t, { chats: () => [place.chat] });
  run();
  await until(() => channel.health().ok);
  fake.kick('-100500');
  await assert.rejects(channel.post(place, card), (error) => {
    assert.ok(!(error instanceof RetryLater));
    assert.match(String(error), /cannot write to -100500: add the bot to that chat.*bot was kicked/);
    return true;
  });
  assert.match(channel.health().detail, /^tapfix cannot write to -100500/);
  assert.equal(channel.health().ok, false);
  fake.kick('-100500', true);
  await channel.post(place, card);
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
});

test('a chat that cannot be written to is no reason to be deaf, and other chats are written to', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  await assert.rejects(channel.post({ chat: '-100999' }, card), /cannot write to -100999/);
  await channel.post(place, card);
  fake.press('a:data');
  await until(() => presses.length === 1);
});

const isMoved = (error: unknown): boolean => error instanceof ChatMoved && error.to === '-1007';

test('a group that became a supergroup: who posts there is told the new id, and one line says what to change', async (t) => {
  const { fake, channel, said } = await aChannel(t);
  const before = await channel.post(place, card);
  fake.upgrade('-100500', '-1007');
  await assert.rejects(channel.post(place, card), isMoved);
  await assert.rejects(channel.post(place, card), isMoved);
  assert.equal(channel.chatNow?.('-100500'), '-1007');
  const after = await channel.post({ chat: '-1007' }, card);
  await channel.edit({ chat: '-1007' }, after, later);
  await channel.edit(place, before, later);
  const wanted = [['-100500', 0], ['-1007', 0]]; // prettier-ignore
  assert.deepEqual(
    fake.messages().map(({ chat, buttons }) => [chat, buttons.length]),
    wanted,
    'each where it is',
  );
  assert.deepEqual(said(), ['telegram group has a new id: change channels.telegram']);
  assert.equal(channel.health().ok, false, 'only because it does not receive yet');
});

test('a press is where it was pressed: on an old card in the group, on a new one in the supergroup', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  const before = await channel.post(place, card);
  fake.upgrade('-100500', '-1007', true);
  const after = await channel.post({ chat: '-1007' }, card);
  fake.press('a:data', { chat: '-100500', message: Number(before) });
  fake.press('a:data', { chat: '-1007', message: Number(after) });
  await until(() => presses.length === 2);
  assert.deepEqual(
    presses.map(({ place: { chat }, message, ours }) => [chat, message, ours]),
    [
      ['-100500', before, true],
      ['-1007', after, true],
    ],
  );
});

test('what an old card shows on demand is shown in the supergroup', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  run(async () => ({ ...ok, show: later }));
  const before = await channel.post(place, card);
  fake.upgrade('-100500', '-1007');
  fake.press('d:data', { message: Number(before) });
  await until(() => fake.messages().length === 2);
  assert.deepEqual([fake.messages()[1]!.chat, fake.messages()[1]!.replyTo], ['-1007', undefined]);
});

test('told of it in the chat, or by asking at the start, it is known before anything was posted', async (t) => {
  const told = await aChannel(t);
  told.run();
  told.fake.upgrade('-100500', '-1007', true);
  await until(() => told.channel.chatNow?.('-100500') === '-1007');
  const asks = await aChannel(t, { chats: () => [place.chat], pollMs: 20 });
  asks.fake.upgrade('-100500', '-1007');
  asks.run();
  await until(() => asks.channel.chatNow?.('-100500') === '-1007');
  assert.deepEqual(asks.said(), ['telegram group has a new id: change channels.telegram']);
  assert.equal(asks.channel.health().ok, true);
});

test('a topic that is gone, or has no number: said in the chat itself rather than nowhere, and one line says so', async (t) => {
  const { fake, channel, said, lines } = await aChannel(t);
  fake.endTopic(17);
  const id = await channel.post({ ...place, thread: '17' }, card);
  await channel.post({ ...place, thread: '17' }, card);
  await channel.edit({ ...place, thread: '17' }, id, later);
  await channel.post({ ...place, thread: '1' }, card);
  await channel.post({ ...place, thread: '7' }, card);
  assert.deepEqual(
    fake.messages().map(({ thread }) => thread),
    [undefined, undefined, undefined, 7],
  );
  assert.deepEqual(said(), Array(2).fill('telegram topic is not there, said in its chat'));
  assert.deepEqual(lines[0]!.fields, { chat: '-100500', thread: '17' });
});

test('a chat that it is not in is noticed at the start: one line, and the readiness', async (t) => {
  const { channel, run, said } = await aChannel(t, { chats: () => ['-100999'], pollMs: 5 });
  run();
  await until(() => !channel.health().ok && channel.health().detail.startsWith('tapfix cannot write to -100999'));
  assert.deepEqual(said(), ['telegram chat cannot be written to']);
});

test('a chat that the configuration names later is asked for as well; of one that it names no more nothing is said', async (t) => {
  let chats = [place.chat];
  const { channel, run, said } = await aChannel(t, { chats: () => chats, pollMs: 5 });
  run();
  await until(() => channel.health().ok);
  chats = [place.chat, '-100999'];
  await until(() => channel.health().detail.startsWith('tapfix cannot write to -100999'));
  chats = [place.chat];
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
  assert.deepEqual(said(), ['telegram chat cannot be written to']);
});

/** Ada's own chat with the bot: it bears her number. */
const chat = '123456789';

test('a private chat: a card is posted and edited there, and a press on it is known to be on ours', async (t) => {
  const { fake, channel, run, said } = await aChannel(t, { known: [chat], chats: () => [chat] });
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  const id = await channel.post({ chat }, card);
  const pressed = fake.press('a:data', { chat, message: Number(id) });
  await until(() => fake.answers.length === 1);
  assert.deepEqual(fake.answers, [{ id: pressed, text: ok.say, alert: false }]);
  assert.deepEqual(presses, [
    {
      channel: 'telegram',
      by: `telegram:${chat}`,
      name: 'Ada',
      place: { chat },
      message: id,
      data: 'a:data',
      ours: true,
    },
  ]);
  await channel.edit({ chat }, id, later);
  assert.deepEqual(
    fake.messages().map((message) => [message.chat, message.buttons.length]),
    [[chat, 0]],
  );
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
  assert.deepEqual(said(), []);
});

test('a private chat: what is written there is answered there', async (t) => {
  const { fake, run } = await aChannel(t, { known: [chat] });
  const written: Command[] = [];
  run(undefined, { onCommand: async (command) => (written.push(command), { say: '', alert: false, show: card }) });
  const asked = fake.write('/open', { chat });
  await until(() => fake.messages().length === 1);
  const heard = written.map(({ by, place, text }) => ({ by, place, text }));
  assert.deepEqual(heard, [{ by: `telegram:${chat}`, place: { chat }, text: 'open' }]);
  assert.deepEqual([fake.messages()[0]!.chat, fake.messages()[0]!.replyTo], [chat, asked]);
});

test('a private chat has no topics: what a route sends to one is said in the chat', async (t) => {
  const { fake, channel, said } = await aChannel(t, { known: [chat] });
  await channel.post({ chat, thread: '7' }, card);
  assert.deepEqual([fake.messages()[0]!.chat, fake.messages()[0]!.thread], [chat, undefined]);
  assert.deepEqual(said(), ['telegram topic is not there, said in its chat']);
});

test('who blocked the bot, or never spoke to it, is told what to do: nobody can add it to a private chat', async (t) => {
  const { fake, channel } = await aChannel(t, { known: [chat] });
  fake.kick(chat);
  for (const [one, why] of [
    [chat, /blocked by the user/],
    ['222', /chat not found/],
  ] as const)
    await assert.rejects(channel.post({ chat: one }, card), (error: Error) => {
      assert.match(
        error.message,
        new RegExp(`cannot write to ${one}: press Start in the chat with the bot, or check its id`),
      );
      assert.match(error.message, why);
      return !(error instanceof RetryLater);
    });
});
