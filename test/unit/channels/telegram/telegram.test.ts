import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { botToken, tooManyRequests } from '../../../support/fake-telegram.ts';
import { aChannel, card, later, place } from '../telegram-rig.ts';

test('a card is posted with its buttons, and edited in place', async (t) => {
  const { fake, channel } = await aChannel(t);
  const id = await channel.post(place, card);
  assert.equal(id, '4711');
  assert.match(fake.messages()[0]!.text, /^🔴 checkout is down, 0\/3 ready\n/);
  assert.deepEqual(
    fake.messages()[0]!.buttons.map(({ text }) => text),
    ['Roll back to 1.41', 'Reject', "I'm on it", 'Snooze 1h', 'Details'],
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
    // Only an answer that never comes is waited for in vain; the others may take as long as a busy machine needs.
    const { fake, channel } = await aChannel(t, fault === 'silence' ? { callTimeoutSeconds: 0.2 } : {});
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

test('what is said in reply to a card is a reply, with its sound', async (t) => {
  const { fake, channel } = await aChannel(t);
  const id = await channel.post(place, card);
  await channel.post(place, { ...card, silent: false }, id);
  const { replyTo, silent } = fake.messages()[1]!;
  assert.deepEqual({ replyTo: String(replyTo), silent }, { replyTo: id, silent: false });
});
