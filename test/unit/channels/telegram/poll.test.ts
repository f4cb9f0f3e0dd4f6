import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Command, Press } from '../../../../src/channels/channel.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { botToken, tooManyRequests } from '../../../support/fake-telegram.ts';
import { aChannel, card, place, until } from '../telegram-rig.ts';

test('a press reaches the handler and is answered', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), { say: 'no', alert: true }));
  await until(() => fake.calls.includes('getUpdates'));
  const id = fake.press('a:data');
  await until(() => fake.answers.length === 1);
  assert.deepEqual(fake.answers, [{ id, text: 'no', alert: true }]);
  assert.deepEqual(presses, [
    { channel: 'telegram', by: 'telegram:123456789', name: 'Ada', place, message: '4711', data: 'a:data' },
  ]);
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
});

test('a press made while we were down is handled on return, once', async (t) => {
  const { fake, run } = await aChannel(t);
  let presses = 0;
  fake.press('a:data');
  run(async () => (presses++, { say: 'ok', alert: false }));
  await until(() => fake.answers.length === 1);
  fake.press('r:data');
  await until(() => fake.answers.length === 2);
  assert.equal(presses, 2);
});

test('an update is confirmed only after it was handled', async (t) => {
  const { fake, run } = await aChannel(t);
  let release: (() => void) | undefined;
  fake.press('a:data');
  run(() => new Promise((resolve) => (release = () => resolve({ say: 'ok', alert: false }))));
  await until(() => release !== undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(fake.calls, ['getUpdates']);
  release?.();
  await until(() => fake.calls.filter((call) => call === 'getUpdates').length === 2);
});

test('a stale press is swallowed, a throwing handler is answered, and polling goes on', async (t) => {
  const { fake, run, said } = await aChannel(t);
  run(async ({ data }) => {
    if (data === 'boom') throw new Error('boom');
    return { say: 'ok', alert: false };
  });
  fake.press('a:data', { old: true });
  fake.press('boom', { message: 4712 });
  await until(() => fake.answers.length === 1);
  assert.match(fake.answers[0]!.text, /nothing was decided/);
  fake.press('a:data');
  await until(() => fake.answers.length === 2);
  assert.deepEqual(said(), ['press not handled']);
});

test('two on one message are handled in order, other messages do not wait', async (t) => {
  const { fake, run } = await aChannel(t);
  const order: string[] = [];
  fake.press('first');
  fake.press('second');
  fake.press('other', { message: 4712 });
  run(async ({ data }) => {
    if (data === 'first') await new Promise((resolve) => setTimeout(resolve, 50));
    order.push(data);
    return { say: 'ok', alert: false };
  });
  await until(() => order.length === 3);
  assert.deepEqual(order, ['other', 'first', 'second']);
});

test('a refused token is said once, with back-off up to 30 s, and a new one is used at once', async (t) => {
  const { fake, channel, lines, slept, run } = await aChannel(t);
  fake.setToken('987654321:other');
  run();
  await until(() => slept.length >= 7);
  assert.match(channel.health().detail, /refused the bot token/);
  fake.setToken(botToken);
  await until(() => channel.health().ok);
  assert.deepEqual(
    lines.map(({ message, fields }) => [message, (fields as { kind?: string }).kind]),
    [
      ['telegram does not work', 'TokenRefused'],
      ['telegram works again', undefined],
    ],
  );
  assert.deepEqual(slept.slice(0, 7), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.ok(!JSON.stringify(lines).includes(botToken));
});

test('a missing token is said once and read again every 30 s', async (t) => {
  const mounted: { token?: string } = {};
  const { channel, slept, run, said } = await aChannel(t, { token: async () => mounted.token });
  run();
  await until(() => slept.length >= 2);
  assert.match(channel.health().detail, /TELEGRAM_BOT_TOKEN/);
  await assert.rejects(channel.post(place, card), RetryLater);
  mounted.token = botToken;
  await until(() => channel.health().ok);
  assert.deepEqual(new Set(slept), new Set([30_000, 250]));
  assert.deepEqual(said(), ['telegram does not work', 'telegram works again']);
});

test('a second poller, garbage, 5xx and 429: polling survives them all', async (t) => {
  const { fake, channel, slept, lines, run } = await aChannel(t);
  fake.fail('getUpdates', { status: 200, body: 'not json' });
  fake.fail('getUpdates', { status: 200, body: '{"ok":true,"result":{}}' });
  fake.fail('getUpdates', { status: 500, body: '{"ok":false,"error_code":500,"description":"Internal"}' });
  fake.fail('getUpdates', tooManyRequests(3));
  fake.fail('getUpdates', 'hang up');
  run();
  await until(() => channel.health().ok && fake.isWaiting()); // the older of two polls is told, and that must be ours
  const other = fetch(`${fake.apiRoot}/bot${botToken}/getUpdates`, { method: 'POST', body: '{"timeout":1}' });
  await until(() => lines.some(({ fields }) => (fields as { kind?: string }).kind === 'SecondPoller'));
  await other;
  fake.press('a:data');
  await until(() => fake.answers.length === 1);
  assert.ok(slept.includes(3_000));
  const kinds = lines.map(({ fields }) => (fields as { kind?: string }).kind).filter(Boolean);
  assert.deepEqual(kinds, ['Garbage', 'ServerError', 'TooFast', 'Unreachable', 'SecondPoller']);
});

test('a poll that is never answered is given up, said once, and begun again with back-off', async (t) => {
  const { fake, channel, slept, lines, run } = await aChannel(t, { pollMs: 20, callTimeoutSeconds: 0.2 });
  for (let n = 0; n < 3; n++) fake.fail('getUpdates', 'silence');
  run();
  await until(() => slept.length > 0);
  assert.deepEqual(channel.health(), { ok: false, detail: 'Telegram cannot be reached (no answer)' });
  await until(() => channel.health().ok);
  assert.deepEqual(slept.slice(0, 3), [1_000, 2_000, 4_000]);
  // A busy machine may miss the short limit later on as well, and say so.
  assert.deepEqual(
    lines.slice(0, 2).map(({ message }) => message),
    ['telegram does not work', 'telegram works again'],
  );
  fake.press('a:data');
  await until(() => fake.answers.length === 1);
});

test('stopping ends a poll that is never answered', async (t) => {
  const { fake, channel, run, stop } = await aChannel(t);
  fake.fail('getUpdates', 'silence');
  run();
  await until(() => fake.calls.length === 1);
  stop.abort();
  await until(() => channel.health().detail === 'stopped');
});

test('stopping ends a long poll at once', async (t) => {
  const { fake, channel, run, stop } = await aChannel(t);
  run();
  await until(() => fake.calls.length === 2); // a quick one first, then the long one
  stop.abort();
  await until(() => channel.health().detail === 'stopped');
});

test('a server that answers "nothing" at once, instead of waiting, is not asked without a pause', async (t) => {
  const { fake, run, slept } = await aChannel(t, { pollMs: 0 });
  run();
  await until(() => fake.calls.length > 5);
  assert.ok(slept.length >= fake.calls.length - 2 && slept.every((ms) => ms === 250), slept.join());
});

const said: Answer = { say: 'Snoozed until 04:12.', alert: false };
const nothing = async (): Promise<Answer> => said;

test('a command reaches the handler with who, where and what; the answer is a silent reply', async (t) => {
  const { fake, run } = await aChannel(t, { now: () => 1_800_000_000_999 });
  const commands: Command[] = [];
  run(nothing, { onCommand: async (command) => (commands.push(command), said) });
  const id = fake.write('/Snooze  1h', { replyTo: 4711 });
  await until(() => fake.messages().length === 1);
  const who = { channel: 'telegram', by: 'telegram:123456789', name: 'Ada', place } as const;
  const writtenMs = 1_800_000_000_000;
  const command = { ...who, id: String(id), writtenMs, receivedMs: 0, text: 'snooze 1h', replyTo: '4711' };
  assert.deepEqual(commands, [command]);
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

test('the commands are listed in the client once', async (t) => {
  const { fake, run } = await aChannel(t, { pollMs: 5 });
  run(nothing, { commands: [{ name: 'open', does: 'what is open' }] });
  await until(() => fake.calls.filter((call) => call === 'getUpdates').length > 5);
  assert.deepEqual(fake.commands(), [{ command: 'open', description: 'what is open' }]);
  assert.equal(fake.calls.filter((call) => call === 'setMyCommands').length, 1);
});

test('an update that is delivered again is handled once, in one batch and in several', async (t) => {
  const { fake, run } = await aChannel(t);
  const heard: string[] = [];
  run(async ({ data }) => (heard.push(data), said), { onCommand: async ({ text }) => (heard.push(text), said) });
  fake.press('a:data');
  fake.write('/approve');
  await until(() => heard.length === 2);
  const [press, command] = fake.everyUpdate() as [object, object];
  fake.deliver([command, press, command, press]);
  fake.deliver([press, command]);
  fake.write('/last');
  await until(() => heard.includes('last'));
  assert.deepEqual(heard.sort(), ['a:data', 'approve', 'last']);
});

test("one failure of getMe for another bot's command neither loses nor repeats the others", async (t) => {
  const { fake, run } = await aChannel(t);
  const texts: string[] = [];
  fake.fail('getMe', { status: 500, body: '{"ok":false,"error_code":500,"description":"Internal"}' });
  fake.write('/approve');
  fake.write('/x@other_bot');
  fake.write('/open@tapfix_bot');
  run(nothing, { onCommand: async ({ text }) => (texts.push(text), said) });
  fake.write('/last');
  await until(() => texts.includes('last'));
  assert.deepEqual(texts, ['approve', 'open', 'last']);
});

test('a bot whose name cannot be read takes no addressed command, and the others are handled once', async (t) => {
  const { fake, run, said: lines } = await aChannel(t);
  const texts: string[] = [];
  for (let n = 0; n < 3; n++) fake.fail('getMe', { status: 500, body: '{"ok":false,"error_code":500}' });
  fake.write('/approve');
  fake.write('/open@tapfix_bot');
  run(nothing, { onCommand: async ({ text }) => (texts.push(text), said) });
  fake.write('/last');
  await until(() => texts.includes('last'));
  assert.deepEqual(texts, ['approve', 'last']);
  assert.deepEqual(lines(), ['command not handled']);
});

test('somebody else who polls is a sign after two minutes of 409, not before, and not when it is long ago', async (t) => {
  let nowMs = 0;
  const clock = { now: () => nowMs, sleep: () => new Promise<void>((resolve) => setTimeout(resolve, 1)) };
  const { fake, channel, run, lines } = await aChannel(t, { clock, pollMs: 5 });
  const conflict = { status: 409, body: '{"ok":false,"error_code":409,"description":"Conflict"}' };
  const refuse = async (): Promise<void> => {
    const before = fake.calls.length;
    fake.fail('getUpdates', conflict);
    await until(() => fake.calls.length > before + 3);
  };
  run();
  for (const atMs of [0, 40_000, 80_000, 119_000]) {
    nowMs = atMs;
    await refuse();
    assert.equal(channel.sharedSinceMs!(), undefined);
  }
  nowMs = 130_000;
  await refuse();
  assert.equal(channel.sharedSinceMs!(), 0);
  nowMs = 260_000;
  assert.equal(channel.sharedSinceMs!(), undefined);
  await refuse();
  assert.equal(channel.sharedSinceMs!(), undefined, 'a new one begins');
  assert.ok(lines.some(({ fields }) => (fields as { kind?: string }).kind === 'SecondPoller'));
});

test('run again after it was stopped: presses arrive again, one poll at a time, and nothing is handled twice', async (t) => {
  const { fake, channel, said } = await aChannel(t);
  const presses: string[] = [];
  const handlers = {
    onPress: async ({ data }: Press): Promise<Answer> => (presses.push(data), { say: 'ok', alert: false }),
    onCommand: async (): Promise<Answer> => ({ say: '', alert: false }),
    commands: [],
  };
  for (const round of ['first', 'second', 'third']) {
    const stop = new AbortController();
    t.after(() => stop.abort());
    const running = channel.run(handlers, stop.signal);
    assert.match(channel.health().detail, /connecting|receiving/);
    await until(() => channel.health().ok && fake.isWaiting());
    fake.press(round);
    await until(() => presses.at(-1) === round && fake.isWaiting());
    stop.abort();
    await running;
    assert.deepEqual(channel.health(), { ok: false, detail: 'stopped' });
    await until(() => !fake.isWaiting());
    const polls = fake.calls.filter((call) => call === 'getUpdates').length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(fake.calls.filter((call) => call === 'getUpdates').length, polls, 'polls although it was stopped');
  }
  assert.deepEqual(presses, ['first', 'second', 'third']);
  assert.deepEqual(said(), []); // two polls at once would be a 409
});
