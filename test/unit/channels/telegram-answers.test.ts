import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Command, Press } from '../../../src/channels/channel.ts';
import { tooManyRequests } from '../../support/fake-telegram.ts';
import { aChannel, card, later, place, until } from './telegram-rig.ts';

const shows: Answer = { say: '', alert: false, show: card };
const said: Answer = { say: 'Snoozed until 04:12.', alert: false };
const nothing = async (): Promise<Answer> => said;

test('what an answer shows is a reply to the pressed message, without a sound', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  await channel.post(place, card);
  run(async () => shows);
  fake.press('d:data');
  await until(() => fake.messages().length === 2);
  const { text, silent, replyTo, buttons } = fake.messages()[1]!;
  assert.match(text, /^🔴 checkout keeps crashing/);
  assert.deepEqual({ silent, replyTo, pressable: buttons.length }, { silent: true, replyTo: 4711, pressable: 5 });
  assert.deepEqual(
    fake.answers.map(({ text }) => text),
    [''],
    'and the spinner ends',
  );
});

test('pressed on what was shown, that is edited instead; the press says that we wrote it', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  await channel.post(place, card);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), { ...shows, show: later, inPlace: true }));
  fake.press('p:2', { message: 4711 });
  await until(() => fake.messages()[0]!.buttons.length === 0);
  assert.equal(fake.messages().length, 1);
  fake.press('p:2', { message: 99 });
  await until(() => presses.length === 2);
  assert.deepEqual(
    presses.map(({ ours }) => ours),
    [true, undefined],
  );
});

test('a command reaches the handler with who, where and what; the answer is a silent reply', async (t) => {
  const { fake, run } = await aChannel(t);
  const commands: Command[] = [];
  run(nothing, { onCommand: async (command) => (commands.push(command), said) });
  const id = fake.write('/Snooze  1h', { replyTo: 4711 });
  await until(() => fake.messages().length === 1);
  assert.deepEqual(commands, [
    { channel: 'telegram', by: 'telegram:123456789', name: 'Ada', place, text: 'snooze 1h', replyTo: '4711' },
  ]);
  const { text, silent, replyTo } = fake.messages()[0]!;
  assert.deepEqual({ text, silent, replyTo }, { text: said.say, silent: true, replyTo: id });
});

const written = [
  { name: 'addressed to us', text: '/open@tapfix_bot', want: ['open'] },
  { name: 'addressed to another bot', text: '/open@other_bot', want: [] },
  { name: 'no command', text: 'open the door', want: [] },
  { name: 'a path', text: '/etc/tapfix', want: [] },
  {
    name: 'a reason over two lines',
    text: '/reject known,\nfix is on its way',
    want: ['reject known,\nfix is on its way'],
  },
  { name: 'forwarded from somebody else', text: '/approve', forwarded: true, want: [] },
];
for (const { name, text, want, forwarded = false } of written)
  test(`what counts as a command: ${name}`, async (t) => {
    const { fake, run } = await aChannel(t);
    const texts: string[] = [];
    run(nothing, { onCommand: async (command) => (texts.push(command.text), said) });
    fake.write(text, { forwarded });
    fake.write('/last');
    await until(() => texts.includes('last'));
    assert.deepEqual(texts.slice(0, -1), want);
  });

test('a throwing handler is answered, and the next command is taken', async (t) => {
  const { fake, run, said: lines } = await aChannel(t);
  run(nothing, {
    onCommand: async ({ text }) => {
      if (text === 'boom') throw new Error('boom');
      return said;
    },
  });
  fake.write('/boom');
  fake.write('/status');
  await until(() => fake.messages().length === 2);
  const texts = fake.messages().map(({ text }) => text);
  assert.ok(texts.some((text) => /nothing was decided/.test(text)));
  assert.deepEqual(lines(), ['command not handled']);
});

test('an answer is tried again when Telegram asks to wait, and given up when it refuses', async (t) => {
  const { fake, run, slept, lines } = await aChannel(t);
  run(nothing, { onCommand: async () => said });
  fake.fail('sendMessage', tooManyRequests(2));
  fake.write('/status');
  await until(() => fake.messages().length === 1);
  assert.ok(slept.includes(2_000));
  fake.write('/status', { chat: '-100999' });
  await until(() => lines.length === 1);
  assert.deepEqual(lines[0]!.message, 'command not answered');
});

test('the commands are listed in the client once', async (t) => {
  const { fake, run } = await aChannel(t, { pollMs: 5 });
  run(nothing, { commands: [{ name: 'open', does: 'what is open' }] });
  await until(() => fake.calls.filter((call) => call === 'getUpdates').length > 5);
  assert.deepEqual(fake.commands(), [{ command: 'open', description: 'what is open' }]);
  assert.equal(fake.calls.filter((call) => call === 'setMyCommands').length, 1);
});

test('what is said in reply to a card is a reply, with its sound', async (t) => {
  const { fake, channel } = await aChannel(t);
  const id = await channel.post(place, card);
  await channel.post(place, { ...card, silent: false }, id);
  const { replyTo, silent } = fake.messages()[1]!;
  assert.deepEqual({ replyTo: String(replyTo), silent }, { replyTo: id, silent: false });
});
