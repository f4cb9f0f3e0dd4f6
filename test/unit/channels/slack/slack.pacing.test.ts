import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, NotSent, type Turn } from '../../../../src/channels/channel.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { tooManyRequests } from '../../../support/fake-slack.ts';
import { hurriedClock } from '../../../support/hurried-clock.ts';
import { saying } from '../saying.ts';
import { aChannel, place, until } from '../slack-rig.ts';

/* A Slack as strict as its published limits, on the same compressed clock as the channel. */

const channels = ['C0123456789', 'C0000000002', 'C0000000003', 'C0000000004', 'C0000000005'];

async function aStrictChannel(t: Parameters<typeof aChannel>[0]) {
  const clock = hurriedClock(100);
  const sent: { method: string; text: string; atMs: number }[] = [];
  const onCall = (method: string, body: Record<string, string>): void =>
    void sent.push({ method, text: String(body['text']), atMs: clock.now() });
  const rig = await aChannel(t, { clock, strict: { channels, now: clock.now, burst: 3, onCall } });
  return { ...rig, clock, sent };
}

test('two minutes of a storm in five channels, with edits and refused presses: not one 429, and nothing is lost', async (t) => {
  const { fake, channel, run, clock } = await aStrictChannel(t);
  const refused: Answer = { say: 'You are not on the list.', alert: true };
  await run(async () => refused);
  const everything: Promise<unknown>[] = [];
  for (let minute = 0; minute < 2; minute++) {
    for (const chat of channels)
      // As the outbox does at most: four posts and twelve edits a minute, all at once; 60 edits in all.
      for (let n = 0; n < 4; n++) {
        const turn: Turn = { urgency: n % 2 ? 'critical' : 'usual' };
        const posted = channel.post({ chat }, saying(`post ${n}`), undefined, turn);
        everything.push(
          posted.then(async (id) => {
            for (let m = 0; m < 3; m++) await channel.edit({ chat }, id, saying(`edit ${n}.${m}`), turn);
          }),
        );
        fake.press(`a${minute}${n}`, { channel: chat });
      }
    await clock.sleep(60_000);
  }
  await Promise.all(everything);
  await until('the answers', () => fake.ephemerals.length === 40);
  assert.equal(fake.refused(), 0);
  assert.equal(fake.messages().length, 40);
  assert.equal(fake.calls.filter((call) => call === 'chat.update').length, 120);
});

test('critical incidents go before the others; a presser waits for none of them', async (t) => {
  const { fake, channel, run, sent } = await aStrictChannel(t);
  await run(async () => ({ say: 'no', alert: true }));
  const first = channel.post(place, saying('first'));
  const turns: NonNullable<Turn['urgency']>[] = ['usual', 'usual', 'critical', 'critical'];
  const posts = turns.map((urgency) => channel.post(place, saying(urgency), undefined, { urgency }));
  fake.press('a');
  await until('the answer', () => fake.ephemerals.length === 1);
  await Promise.all([first, ...posts]);
  const order = sent.filter(({ method }) => method === 'chat.postMessage').map(({ text }) => /\w+$/m.exec(text)?.[0]);
  assert.deepEqual(order, ['first', 'critical', 'critical', 'usual', 'usual']);
  const answeredAt = sent.findIndex(({ method }) => method === 'chat.postEphemeral');
  assert.ok(answeredAt < sent.findLastIndex(({ method }) => method === 'chat.postMessage'));
  assert.equal(fake.refused(), 0);
});

test('a 429 for edits is one of the method: other channels wait as well, posts do not', async (t) => {
  const { fake, channel, clock, sent } = await aStrictChannel(t);
  const ids = await Promise.all(channels.slice(0, 2).map((chat) => channel.post({ chat }, saying('a card'))));
  fake.fail('chat.update', tooManyRequests(20));
  await assert.rejects(channel.edit({ chat: channels[0]! }, ids[0]!, saying('edited')), RetryLater);
  const refusedMs = clock.now();
  await channel.post({ chat: channels[2]! }, saying('another card'));
  await channel.edit({ chat: channels[1]! }, ids[1]!, saying('edited'));
  const postedMs = sent.findLast(({ method }) => method === 'chat.postMessage')!.atMs;
  const editedMs = sent.findLast(({ method }) => method === 'chat.update')!.atMs;
  assert.ok(postedMs - refusedMs < 15_000 && editedMs - refusedMs >= 15_000, JSON.stringify({ sent, refusedMs }));
});

test('a post that still waits when its caller stops is not sent later', async (t) => {
  const { fake, channel, clock } = await aStrictChannel(t);
  const leader = new AbortController();
  const { signal } = leader;
  const first = channel.post(place, saying('first'), undefined, { signal });
  const waiting = channel.post(place, saying('second'), undefined, { signal });
  await first;
  leader.abort();
  await assert.rejects(waiting, NotSent);
  await clock.sleep(5_000);
  assert.equal(fake.messages().length, 1);
});
