import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../src/lib/errors.ts';
import type { Answer, Press } from '../../../src/channels/channel.ts';
import { aChannel, card, later, place, until } from './telegram-rig.ts';

const ok: Answer = { say: 'Approved; it starts now.', alert: false };

test('removed from the chat: said with what to do, in the readiness as well, until it is back', async (t) => {
  const { fake, channel, run } = await aChannel(t);
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

test('a group that became a supergroup: the message goes there at once, and one line says what to change', async (t) => {
  const { fake, channel, run, said } = await aChannel(t);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  fake.upgrade('-100500', '-1007');
  const id = await channel.post(place, card);
  await channel.edit(place, id, later);
  assert.deepEqual(
    fake.messages().map(({ chat, buttons }) => [chat, buttons.length]),
    [['-1007', 0]],
  );
  fake.press('a:data', { chat: '-1007', message: Number(id) });
  await until(() => presses.length === 1);
  assert.deepEqual(presses[0]!.place, place, 'to everybody else it is the chat of the configuration');
  assert.deepEqual(said(), ['telegram group has a new id: change channels.telegram']);
  assert.equal(channel.health().ok, true);
});

test('told of it in the chat, a press there is known before anything was posted', async (t) => {
  const { fake, run } = await aChannel(t);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  fake.upgrade('-100500', '-1007', true);
  fake.press('a:data', { chat: '-1007' });
  await until(() => presses.length === 1);
  assert.deepEqual(presses[0]!.place, place);
});

test('after a restart a press in a group that moved is known, though nothing was said yet', async (t) => {
  const { fake, channel, run, said } = await aChannel(t, { chats: [place.chat], pollMs: 20 });
  fake.upgrade('-100500', '-1007');
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), ok));
  await until(() => said().length === 1);
  fake.press('a:data', { chat: '-1007' });
  await until(() => presses.length === 1);
  assert.deepEqual(presses[0]!.place, place);
  assert.equal(channel.health().ok, true);
});

test('a chat that it is not in is noticed at the start: one line, and the readiness', async (t) => {
  const { channel, run, said } = await aChannel(t, { chats: ['-100999'], pollMs: 5 });
  run();
  await until(() => !channel.health().ok && channel.health().detail.startsWith('tapfix cannot write to -100999'));
  assert.deepEqual(said(), ['telegram chat cannot be written to']);
});
