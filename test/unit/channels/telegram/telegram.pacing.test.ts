import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, NotSent, type Turn } from '../../../../src/channels/channel.ts';
import { hurriedClock } from '../../../support/hurried-clock.ts';
import { usualLimits } from '../../../support/telegram-limits.ts';
import { saying } from '../saying.ts';
import { aChannel, place, until } from '../telegram-rig.ts';

/* A Telegram as strict as its published limits, on the same compressed clock as the channel. */

const groups = ['-100500', '-100501'];
const ada = '123456789';
const details: Answer = { say: 'Here.', alert: false, show: saying('Details') };

async function aStrictChannel(t: Parameters<typeof aChannel>[0], times = 100) {
  const clock = hurriedClock(times);
  const sent: { method: string; text: string; chat: string; atMs: number }[] = [];
  const onCall = (method: string, body: Record<string, unknown>): void => {
    if (method === 'getUpdates') return;
    sent.push({ method, text: String(body['text']), chat: String(body['chat_id']), atMs: clock.now() });
  };
  const limits = usualLimits;
  const rig = await aChannel(t, { clock, now: clock.now, limits, onCall, known: [...groups, ada] });
  return { ...rig, clock, sent };
}

test('two minutes of a storm with edits, presses, Details and commands: not one 429, and nothing is lost', async (t) => {
  const { fake, channel, run, clock, sent } = await aStrictChannel(t);
  run(async () => details, { onCommand: async () => ({ say: 'Nothing is open.', alert: false }) });
  await until(fake.isWaiting);
  const everything: Promise<unknown>[] = [];
  let presses = 0;
  for (let minute = 0; minute < 2; minute++) {
    for (const chat of [...groups, ada]) {
      // As the outbox does at most: four posts and twelve edits a minute, all at once.
      for (let n = 0; n < 4; n++) {
        const turn: Turn = { urgency: n % 2 ? 'critical' : 'usual' };
        const posted = channel.post({ chat }, saying(`post ${minute}.${n}`), undefined, turn).then(async (id) => {
          for (let m = 0; m < 3; m++) await channel.edit({ chat }, id, saying(`edit ${minute}.${n}.${m}`), turn);
        });
        everything.push(posted);
      }
      for (let n = 0; n < 4; n++) fake.write(`/open ${n}`, { chat, from: Number(ada) });
      for (let n = 0; n < 12; n++, presses++)
        fake.press(`a${n}`, { chat, from: Number(ada), message: n < 4 ? 4711 : 9_000 + n });
    }
    await clock.sleep(60_000);
  }
  await Promise.all(everything);
  const silent = (): number => fake.messages().filter((one) => one.silent).length;
  const messages = 2 * 3 * 4;
  await until(() => silent() === presses + messages);
  assert.equal(fake.refused(), 0);
  assert.equal(fake.answers.length, presses);
  assert.equal(fake.messages().length, messages + silent());
  assert.equal(new Set(sent.map(({ chat }) => chat)).size >= 3, true);
});

test('presses are answered first, critical incidents are posted before the others, and lists come last', async (t) => {
  const { fake, channel, run, sent } = await aStrictChannel(t);
  let answer: Answer = details;
  run(async () => answer);
  await until(fake.isWaiting);
  fake.press('details');
  await until(() => fake.messages().length === 1);
  answer = { say: 'Approved.', alert: false };
  const turns: NonNullable<Turn['urgency']>[] = ['rest', 'usual', 'rest', 'usual', 'critical', 'critical'];
  const posts = turns.map((urgency) => channel.post(place, saying(urgency), undefined, { urgency }));
  for (let n = 0; n < 5; n++) fake.press('a', { message: 5_000 + n });
  await until(() => fake.answers.length === 6);
  assert.ok(fake.messages().length < 4, `${fake.messages().length} messages before the presses were answered`);
  await Promise.all(posts);
  const order = sent
    .filter(({ method }) => method === 'sendMessage')
    .map(({ text }) => /rest|usual|critical/.exec(text)?.[0]);
  assert.deepEqual(order.slice(-6), ['critical', 'critical', 'usual', 'usual', 'rest', 'rest']);
  assert.equal(fake.refused(), 0);
});

test('the first message waits for nothing', async (t) => {
  const { channel, clock } = await aStrictChannel(t, 10);
  const beganMs = clock.now();
  await channel.post(place, saying('first'));
  assert.ok(clock.now() - beganMs < 1_000);
});

test('a wait for our own turn is no silence of Telegram: a call’s timeout begins when it is sent', async (t) => {
  const clock = hurriedClock(1);
  const { fake, channel } = await aChannel(t, { clock, callTimeoutSeconds: 1 });
  const posts = [1, 2, 3].map((n) => channel.post(place, saying(`message ${n}`)));
  assert.equal(new Set(await Promise.all(posts)).size, 3); // the last one waited for two seconds
  assert.equal(fake.messages().length, 3);
});

test('a post that still waits when its caller stops is not sent later: the next leader posts it, once', async (t) => {
  const { fake, channel, clock } = await aStrictChannel(t);
  const leader = new AbortController();
  const { signal } = leader;
  const first = channel.post(place, saying('first'), undefined, { signal });
  const waiting = channel.post(place, saying('second'), undefined, { signal });
  await first;
  leader.abort();
  await assert.rejects(waiting, NotSent);
  await clock.sleep(5_000);
  await channel.post(place, saying('second'));
  await clock.sleep(5_000);
  assert.deepEqual(
    fake.messages().map(({ text }) => /first|second/.exec(text)?.[0]),
    ['first', 'second'],
  );
});

test('a stop answers the press, and leaves nothing behind that waits for its turn', async (t) => {
  const { fake, channel, run, stop, clock } = await aStrictChannel(t);
  run(async () => details);
  await until(fake.isWaiting);
  for (let n = 0; n < 8; n++) fake.press('a', { message: 5_000 + n });
  await until(() => fake.answers.length === 8);
  stop.abort();
  await until(() => channel.health().detail === 'stopped');
  const shown = fake.messages().length;
  assert.ok(shown < 8);
  await clock.sleep(120_000);
  assert.ok(fake.messages().length <= shown + 1, 'only what was under way');
});
