import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { appToken, botToken, refusal, tooManyRequests } from '../../../support/fake-slack.ts';
import { aChannel, card, later, place } from '../slack-rig.ts';

test('a card is posted with its buttons, and edited in place', async (t) => {
  const { fake, channel } = await aChannel(t);
  const id = await channel.post(place, card);
  assert.equal(id, fake.messages()[0]!.ts);
  assert.match(fake.messages()[0]!.text, /^🔴 checkout is down, 0\/3 ready\n/);
  assert.match(fake.messages()[0]!.notification, /^🔴 checkout is down, 0\/3 ready\nCrashing since 03:12/);
  assert.deepEqual(
    fake.messages()[0]!.buttons.map(({ text }) => text),
    ['Roll back to 1.41', 'Reject', "I'm on it", 'Snooze 1h', 'Details'],
  );
  await channel.edit(place, id, later);
  assert.match(fake.messages()[0]!.text, /^🟡 checkout: about to roll back to 1\.41, approved by Ada/);
  assert.deepEqual(fake.messages()[0]!.buttons, []);
  assert.deepEqual(fake.calls, ['chat.postMessage', 'chat.update']);
});

test('it goes into the thread it is for', async (t) => {
  const { fake, channel } = await aChannel(t);
  await channel.post({ ...place, thread: '1700000000.000042' }, card);
  assert.equal(fake.messages()[0]!.thread, '1700000000.000042');
});

test('an identical edit and a message that is gone are not errors', async (t) => {
  const { fake, channel, said } = await aChannel(t);
  const id = await channel.post(place, card);
  await channel.edit(place, id, card);
  fake.forget(id);
  await channel.edit(place, id, later);
  fake.fail('chat.update', refusal('cant_update_message'));
  await channel.edit(place, id, later);
  assert.deepEqual(said(), ['slack message is gone', 'slack message is gone']);
});

const failures = [
  { name: '429 is tried again when Slack says', fault: tooManyRequests(17), afterMs: 17_000, says: /wait 17 s/ },
  { name: '429 without a time', fault: { status: 429, body: '' }, afterMs: 30_000, says: /wait 30 s/ },
  { name: 'a limit in an answer', fault: refusal('ratelimited'), afterMs: 30_000, says: /wait 30 s/ },
  {
    name: 'a server error is tried again',
    fault: { status: 503, body: 'no' },
    afterMs: 5_000,
    says: /in trouble \(HTTP 503\)/,
  },
  {
    name: 'trouble in an answer is tried again',
    fault: refusal('internal_error'),
    afterMs: 5_000,
    says: /in trouble \(internal_error\)/,
  },
  {
    name: 'a page instead of an answer is tried again',
    fault: { status: 200, body: '<html>login xoxb-1</html>' },
    afterMs: 5_000,
    says: /^Slack answered with something that is not its API$/,
  },
  {
    name: 'null instead of an answer is tried again',
    fault: { status: 200, body: 'null' },
    afterMs: 5_000,
    says: /not its API/,
  },
  {
    name: 'an answer without the message’s id is tried again',
    fault: { status: 200, body: '{"ok":true}' },
    afterMs: 5_000,
    says: /not its API/,
  },
  { name: 'a page that is not there', fault: { status: 404, body: '' }, afterMs: 5_000, says: /HTTP 404/ },
  {
    name: 'a lost answer is tried again later, never at once',
    fault: 'hang up' as const,
    afterMs: 5_000,
    says: /cannot be reached \(UND_ERR_SOCKET\)/,
  },
  {
    name: 'an answer that does not come is not waited for',
    fault: 'silence' as const,
    afterMs: 5_000,
    says: /cannot be reached \(TimeoutError\)/,
  },
  {
    name: 'a revoked token',
    fault: refusal('token_revoked'),
    afterMs: 30_000,
    says: /refused the bot token \(token_revoked\)/,
  },
  {
    name: 'a scope that is missing',
    fault: refusal('missing_scope', { needed: 'chat:write', provided: 'x' }),
    afterMs: 30_000,
    says: /lacks the Slack scope chat:write/,
  },
];
for (const { name, fault, afterMs, says } of failures) {
  test(`posting: ${name}`, async (t) => {
    const { fake, channel } = await aChannel(t);
    fake.fail('chat.postMessage', fault);
    await assert.rejects(channel.post(place, card), (error) => {
      assert.ok(error instanceof RetryLater);
      assert.equal(error.afterMs, afterMs);
      assert.match(error.message, says);
      assert.ok(!JSON.stringify(error, Object.getOwnPropertyNames(error)).includes('xoxb'));
      return true;
    });
    assert.deepEqual(fake.calls, ['chat.postMessage']);
  });
}

test('being told to wait is no trouble to show', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  await run();
  fake.fail('chat.postMessage', tooManyRequests(17));
  await assert.rejects(channel.post(place, card), RetryLater);
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
  fake.fail('chat.postMessage', { status: 500, body: '' });
  await assert.rejects(channel.post(place, card), RetryLater);
  assert.deepEqual(channel.health(), { ok: false, detail: 'Slack is in trouble (HTTP 500)' });
});

const refusals = [
  {
    state: 'stranger' as const,
    chat: place.chat,
    says: /^tapfix cannot write to C0123456789: it is not in that Slack channel: invite it there with \/invite/,
  },
  { state: 'archived' as const, chat: place.chat, says: /is archived: name another one/ },
  {
    state: 'member' as const,
    chat: 'C0NOTTHERE',
    says: /write to C0NOTTHERE: Slack shows it no such channel: check the id in channels\.slack/,
  },
];
for (const { state, chat, says } of refusals) {
  test(`a channel where tapfix cannot write (${chat}, ${state}): said in words, shown in health until it works`, async (t) => {
    const { fake, channel, run } = await aChannel(t, { channels: () => [chat] });
    await run();
    fake.set(place.chat, state);
    await assert.rejects(
      channel.post({ chat }, card),
      (error: Error) => says.test(error.message) && !(error instanceof RetryLater),
    );
    assert.equal(channel.health().ok, false);
    assert.match(channel.health().detail, says);
    fake.set(place.chat, 'member');
    fake.set(chat, 'member');
    await channel.post({ chat }, card);
    assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
  });
}

test('a channel that the configuration names no more is no trouble any more', async (t) => {
  let channels = ['C0NOTTHERE'];
  const { channel, run } = await aChannel(t, { channels: () => channels });
  await run();
  await assert.rejects(channel.post({ chat: 'C0NOTTHERE' }, card));
  assert.equal(channel.health().ok, false);
  channels = [place.chat];
  assert.deepEqual(channel.health(), { ok: true, detail: 'receiving' });
});

test('blocks that Slack refuses are replaced by plain ones, with their buttons', async (t) => {
  const { fake, channel, lines } = await aChannel(t);
  fake.fail('chat.postMessage', refusal('msg_blocks_too_long'));
  const id = await channel.post(place, card);
  assert.match(
    fake.messages()[0]!.text,
    /^🔴 checkout is down, 0\/3 ready\n\[ Roll back to 1\.41 \]\n\[ Reject \]\n\[ I'm on it \]/,
  );
  fake.fail('chat.update', refusal('invalid_blocks'));
  await channel.edit(place, id, later);
  assert.match(fake.messages()[0]!.text, /^🟡/);
  assert.deepEqual(
    lines.map(({ fields }) => fields.reason),
    ['Slack refused the message (msg_blocks_too_long)', 'Slack refused the message (invalid_blocks)'],
  );
});

test('a missing bot token is said with the name of its variable, and a later one is used', async (t) => {
  const mounted: { token?: string } = {};
  const { fake, channel, start, lines, clock } = await aChannel(t, { botToken: async () => mounted.token });
  await assert.rejects(channel.post(place, card), (error: Error) => {
    assert.ok(error instanceof RetryLater && error.afterMs === 30_000);
    return /set SLACK_BOT_TOKEN or SLACK_BOT_TOKEN_FILE/.test(error.message);
  });
  start();
  await assert.rejects(channel.post(place, card));
  assert.match(channel.health().detail, /SLACK_BOT_TOKEN|connecting/);
  mounted.token = botToken;
  await channel.post(place, card);
  assert.equal(fake.messages().length, 1);
  assert.ok(clock.slept.includes(30_000), 'it is read again every 30 s');
  assert.equal(lines.filter(({ message }) => message === 'slack cannot be written to').length, 1);
});

test('a rotated bot token is used for the next call', async (t) => {
  const mounted = { token: botToken };
  const { fake, channel } = await aChannel(t, { botToken: async () => mounted.token });
  const id = await channel.post(place, card);
  fake.setTokens({ bot: 'xoxb-rotated-rotated' });
  mounted.token = 'xoxb-rotated-rotated\n';
  await channel.edit(place, id, later);
  assert.match(fake.messages()[0]!.text, /^🟡/);
});

test('a bot token that is refused is noticed though there is nothing to say', async (t) => {
  const { fake, channel, run, lines } = await aChannel(t);
  fake.setTokens({ bot: 'xoxb-another-another' });
  const ran = run();
  const isRefused = (): boolean => /refused the bot token \(invalid_auth\)/.test(channel.health().detail);
  for (let i = 0; i < 300 && !isRefused(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(isRefused(), channel.health().detail);
  fake.setTokens({ bot: botToken });
  await ran;
  assert.deepEqual(
    lines.map(({ message, fields }) => [message, fields.kind]),
    [
      ['slack cannot be written to', 'TokenRefused'],
      ['slack can be written to again', undefined],
    ],
  );
  assert.ok(!JSON.stringify(lines).includes(botToken) && !JSON.stringify(lines).includes(appToken));
});

test('what is said in reply to a card is in its thread, and in the channel as well unless it is silent', async (t) => {
  const { fake, channel } = await aChannel(t);
  const ts = await channel.post(place, card);
  await channel.post(place, { ...card, silent: false }, ts);
  await channel.post(place, { ...card, silent: true }, ts);
  await channel.post({ ...place, thread: '1.1' }, { ...card, silent: false }, ts);
  assert.deepEqual(
    fake.messages().map(({ thread, broadcast }) => [thread, broadcast]),
    [
      [undefined, undefined],
      [ts, true],
      [ts, undefined],
      ['1.1', undefined],
    ],
  );
});
