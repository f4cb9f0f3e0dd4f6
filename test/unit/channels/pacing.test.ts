import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { NotSent, type Turn } from '../../../src/channels/channel.ts';
import { createPacer } from '../../../src/channels/pacing.ts';
import { hurriedClock } from '../../support/hurried-clock.ts';
import { until } from './telegram-rig.ts';

const bot = { calls: 30, inMs: 1_000 };
const apartMs = 1_000;

/** Notes when each call was made. */
function aVendor() {
  const clock = hurriedClock(100);
  const made: { name: string; atMs: number }[] = [];
  const note = async (name: string): Promise<string> => (made.push({ name, atMs: clock.now() }), name);
  return { clock, made, note, names: () => made.map(({ name }) => name) };
}

/** The most calls in any such time. */
const mostIn = (ms: number, times: readonly { atMs: number }[]): number =>
  Math.max(...times.map(({ atMs }) => times.filter((one) => one.atMs >= atMs && one.atMs < atMs + ms).length));

test('the windows slide: never more than the limit in any window, in order', async () => {
  const { clock, made, note } = aVendor();
  const chats = createPacer({ clock, bot }).chats({ apartMs: 100, most: { calls: 4, inMs: 10_000 } });
  await Promise.all(Array.from({ length: 14 }, (_, n) => chats.call('-1', {}, () => note(String(n)))));
  assert.equal(mostIn(10_000, made), 4);
  assert.deepEqual(
    made.map(({ name }) => Number(name)),
    Array.from({ length: 14 }, (_, n) => n),
  );
});

test('all chats together keep to the limit of the bot, and a busy chat delays no other', async () => {
  const { clock, made, note, names } = aVendor();
  const chats = createPacer({ clock, bot: { calls: 5, inMs: 5_000 } }).chats({ apartMs });
  const busy = Array.from({ length: 4 }, () => chats.call('-1', {}, () => note('busy')));
  await chats.call('-2', {}, () => note('other'));
  assert.ok(names().indexOf('other') <= 1, names().join());
  const many = Array.from({ length: 12 }, (_, n) => chats.call(String(n), {}, () => note('many')));
  await Promise.all([...busy, ...many]);
  assert.ok(mostIn(5_000, made) <= 5);
});

test('who waits goes by urgency: presses, critical incidents, others, and the rest last', async () => {
  const { clock, note, names } = aVendor();
  const chats = createPacer({ clock, bot }).chats({ apartMs });
  const first = chats.call('-1', {}, () => note('first'));
  const urgencies: NonNullable<Turn['urgency']>[] = ['rest', 'usual', 'critical', 'press'];
  const others = [...urgencies, ...urgencies].map((urgency) => chats.call('-1', { urgency }, () => note(urgency)));
  await Promise.all([first, ...others]);
  assert.equal(names().join(' '), 'first press press critical critical usual usual rest rest');
});

test('of a chat’s twenty eight are kept for alerts, whatever else is asked', async () => {
  const { clock, made, note } = aVendor();
  const rates = { apartMs, most: { calls: 20, inMs: 60_000 }, rest: { calls: 3, inMs: 15_000 } };
  const chats = createPacer({ clock, bot }).chats(rates);
  const asked = Array.from({ length: 24 }, () => chats.call('-1', { urgency: 'rest' }, () => note('rest')));
  await until(() => made.length === 12);
  const beganMs = clock.now();
  await Promise.all(Array.from({ length: 8 }, () => chats.call('-1', { urgency: 'critical' }, () => note('alert'))));
  assert.ok(clock.now() - beganMs < 40_000, `eight alerts took ${clock.now() - beganMs} ms`);
  await Promise.all(asked);
  assert.equal(
    mostIn(
      60_000,
      made.filter(({ name }) => name === 'rest'),
    ) <= 12,
    true,
  );
  assert.equal(mostIn(60_000, made) <= 20, true);
});

test('what waits when its caller gives up is never sent, is told so at once, and takes nobody’s place', async () => {
  const { clock, note, names } = aVendor();
  const chats = createPacer({ clock, bot }).chats({ apartMs: 100, most: { calls: 3, inMs: 600_000 } });
  const caller = new AbortController();
  const { signal } = caller;
  await chats.call('-1', {}, () => note('sent'));
  const given = ['one', 'two'].map((name) => chats.call('-1', { signal }, () => note(name)));
  caller.abort();
  for (const dropped of given) await assert.rejects(dropped, NotSent);
  await assert.rejects(
    chats.call('-1', { signal }, () => note('late')),
    NotSent,
  );
  await Promise.all(['next', 'last'].map((name) => chats.call('-1', {}, () => note(name))));
  assert.deepEqual(names(), ['sent', 'next', 'last']);
});

test('what is under way when its caller gives up goes on: it may have arrived', async () => {
  const { clock } = aVendor();
  const chats = createPacer({ clock, bot }).chats({ apartMs });
  const caller = new AbortController();
  const answer = Promise.withResolvers<string>();
  let isSent = false;
  const call = chats.call('-1', { signal: caller.signal }, () => ((isSent = true), answer.promise));
  await until(() => isSent);
  caller.abort();
  answer.resolve('arrived');
  assert.equal(await call, 'arrived');
});

test('a vendor that asks to wait is given that time: in that chat, or in all where no chat is named', async () => {
  const { clock, made, note } = aVendor();
  const tooFast = new Error('429');
  const pauseMs = (error: unknown): number | undefined => (error === tooFast ? 20_000 : undefined);
  const pacer = createPacer({ clock, bot, pauseMs });
  const chats = pacer.chats({ apartMs, pauseMs });
  await assert.rejects(
    chats.call('-1', {}, () => Promise.reject(tooFast)),
    tooFast,
  );
  const refusedMs = clock.now();
  await Promise.all([chats.call('-1', {}, () => note('same')), chats.call('-2', {}, () => note('other'))]);
  const [other, same] = made;
  assert.deepEqual([other!.name, same!.name], ['other', 'same']);
  assert.ok(other!.atMs - refusedMs < 20_000 && same!.atMs - refusedMs >= 19_900, JSON.stringify(made));
  await assert.rejects(
    pacer.call({}, () => Promise.reject(tooFast)),
    tooFast,
  );
  await pause(10); // it hears of the failure
  const beganMs = clock.now();
  await pacer.call({}, () => note('all'));
  assert.ok(made.at(-1)!.atMs - beganMs >= 15_000, JSON.stringify(made));
});

test('a call that is never answered does not hold its chat back for long', async () => {
  const { clock, note, names } = aVendor();
  const chats = createPacer({ clock, bot }).chats({ apartMs });
  void chats.call('-1', {}, () => new Promise(() => undefined));
  await chats.call('-1', {}, () => note('next'));
  assert.deepEqual(names(), ['next']);
});

test('a chat without calls is forgotten', async () => {
  const { clock, note } = aVendor();
  const chats = createPacer({ clock, bot, idleMs: 40 }).chats({ apartMs: 1 });
  const calls = Array.from({ length: 50 }, (_, n) => chats.call(String(n), {}, () => note('')));
  assert.equal(chats.size(), 50);
  await Promise.all(calls);
  await until(() => chats.size() === 0);
});
