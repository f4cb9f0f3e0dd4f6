import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Press } from '../../../src/channels/channel.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { botToken, tooManyRequests } from '../../support/fake-telegram.ts';
import { aChannel, card, later, place, until } from './telegram-rig.ts';

test('a card is posted with its buttons, and edited in place', async (t) => {
  const { fake, channel } = await aChannel(t);
  const id = await channel.post(place, card);
  assert.equal(id, '4711');
  assert.match(fake.messages()[0]!.text, /^🔴 checkout keeps crashing, 0\/3 ready\n/);
  assert.deepEqual(
    fake.messages()[0]!.buttons.map(({ text }) => text),
    ['Approve undo', 'Reject', "I'm on it", 'Details', 'Snooze 1h'],
  );
  await channel.edit(place, id, later);
  assert.deepEqual(fake.messages()[0]!.buttons, []);
});

test('it goes to the topic, silently when it should', async (t) => {
  const { fake, channel } = await aChannel(t);
  await channel.post({ ...place, thread: '7' }, { ...card, silent: true });
  assert.equal(fake.messages()[0]!.thread, 7);
  assert.equal(fake.messages()[0]!.silent, true);
});

test('an identical edit and a message that is gone are not errors', async (t) => {
  const { fake, channel, said } = await aChannel(t);
  const id = await channel.post(place, card);
  await channel.edit(place, id, card);
  fake.forget(4711);
  await channel.edit(place, id, later);
  assert.deepEqual(said(), ['telegram message is gone']);
});

const failures = [
  { name: '429 is tried again when Telegram says', fault: tooManyRequests(17), afterMs: 17_000, says: /wait 17 s/ },
  {
    name: 'a server error is tried again',
    fault: { status: 502, body: '{"ok":false,"error_code":502,"description":"Bad Gateway"}' },
    afterMs: 5_000,
    says: /in trouble/,
  },
  {
    name: 'a page instead of an answer is tried again',
    fault: { status: 200, body: '<html>login</html>' },
    afterMs: 5_000,
    says: /not its API/,
  },
  {
    name: 'null instead of an answer is tried again',
    fault: { status: 200, body: 'null' },
    afterMs: 5_000,
    says: /not its API/,
  },
  {
    name: 'a lost answer is tried again later, never at once',
    fault: 'hang up' as const,
    afterMs: 5_000,
    says: /cannot be reached/,
  },
  {
    name: 'an answer that does not come is not waited for',
    fault: 'silence' as const,
    afterMs: 5_000,
    says: /cannot be reached \(no answer\)/,
  },
];
for (const { name, fault, afterMs, says } of failures) {
  test(`posting: ${name}`, async (t) => {
    const { fake, channel } = await aChannel(t, { callTimeoutSeconds: 0.2 });
    fake.fail('sendMessage', fault);
    await assert.rejects(channel.post(place, card), (error) => {
      assert.ok(error instanceof RetryLater);
      assert.equal(error.afterMs, afterMs);
      assert.match(error.message, says);
      return true;
    });
    assert.equal(fake.calls.length, 1);
  });
}

test('posting to a chat that is not there is refused in words, without the token', async (t) => {
  const { channel } = await aChannel(t);
  await assert.rejects(channel.post({ chat: '-1' }, card), (error: Error) => {
    assert.match(error.message, /chat not found/);
    assert.ok(!JSON.stringify(error, Object.getOwnPropertyNames(error)).includes(botToken));
    return !(error instanceof RetryLater);
  });
});

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

for (const fault of [{ status: 502, body: 'Bad Gateway' }, tooManyRequests(1), 'hang up'] as const)
  test(`an answer that got lost is given again: ${JSON.stringify(fault)}`, async (t) => {
    const { fake, run, slept, said } = await aChannel(t);
    run(async () => ({ say: "You are not on the approvers' list.", alert: true }));
    fake.fail('answerCallbackQuery', fault);
    fake.press('a:data');
    await until(() => fake.answers.length === 1);
    assert.equal(fake.answers[0]!.text, "You are not on the approvers' list.");
    assert.ok(
      slept.some((ms) => ms >= 1_000 && ms <= 3_000),
      slept.join(),
    );
    assert.deepEqual(
      said().filter((line) => line === 'press not answered'),
      [],
    );
  });

test('an answer that cannot be given is given up after three tries', async (t) => {
  const { fake, run, said } = await aChannel(t);
  run();
  for (let n = 0; n < 3; n++) fake.fail('answerCallbackQuery', 'hang up');
  fake.press('a:data');
  await until(() => said().includes('press not answered'));
  assert.equal(fake.calls.filter((call) => call === 'answerCallbackQuery').length, 3);
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
  await until(() => channel.health().ok);
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
  assert.deepEqual(
    lines.map(({ message }) => message),
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
