import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Command, Press } from '../../../src/channels/channel.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { aChannel, card, later, until } from './telegram-rig.ts';

/** Ada's own chat with the bot: it bears her number. */
const chat = '123456789';
const ok: Answer = { say: 'Approved; it starts now.', alert: false };

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
  assert.deepEqual(written, [
    { channel: 'telegram', by: `telegram:${chat}`, name: 'Ada', place: { chat }, text: 'open' },
  ]);
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
