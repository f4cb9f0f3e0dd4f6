import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { backoffMs, inTime, iso, systemClock, untilAborted } from '../../../src/lib/clock.ts';
import { fakeClock } from '../../support/fake-clock.ts';

test('a sleep ends by itself and leaves no listener', async () => {
  const { signal } = new AbortController();
  await systemClock.sleep(1, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a sleep ends at once when the signal aborts, before or during it', async () => {
  await systemClock.sleep(60_000, AbortSignal.abort());
  const stop = new AbortController();
  const sleeping = systemClock.sleep(60_000, stop.signal);
  stop.abort();
  await sleeping;
});

test('a sleep longer than a timer can hold does not end at once', async () => {
  const stop = new AbortController();
  let woke = false;
  const sleeping = systemClock.sleep(Number.MAX_SAFE_INTEGER, stop.signal).then(() => (woke = true));
  await systemClock.sleep(5);
  assert.equal(woke, false);
  stop.abort();
  await sleeping;
});

test('a time is written as Kubernetes writes it', () => assert.equal(iso(0), '1970-01-01T00:00:00.000Z'));

test('work in time: its result counts, and it is not aborted later', async () => {
  const clock = fakeClock();
  let seen: AbortSignal | undefined;
  const result = await inTime({ clock, ms: 1_000, late: 'late' }, async (isLate) => {
    seen = isLate;
    return 'done';
  });
  await clock.advance(2_000);
  assert.deepEqual([result, seen?.aborted], ['done', false]);
});

test('late work: the other value counts, the work hears of it, and its own end harms nobody', async () => {
  const clock = fakeClock();
  const end = Promise.withResolvers<string>();
  let seen: AbortSignal | undefined;
  const racing = inTime({ clock, ms: 1_000, late: 'late' }, (isLate) => {
    seen = isLate;
    return end.promise;
  });
  await clock.advance(999);
  assert.equal(seen?.aborted, false);
  await clock.advance(1);
  assert.deepEqual([await racing, seen?.aborted], ['late', true]);
  end.reject(new Error('too late to matter'));
});

test('work that fails in time fails', async () => {
  const clock = fakeClock();
  const work = inTime({ clock, ms: 1_000, late: 'late' }, () => Promise.reject(new Error('no')));
  await assert.rejects(work, /no/);
});

test('work is waited for until the signal aborts, and no longer', async () => {
  const never = new Promise<never>(() => {});
  const { signal } = new AbortController();
  assert.equal(await untilAborted(Promise.resolve(7), signal), 7);
  await assert.rejects(untilAborted(Promise.reject(new Error('boom')), signal), /boom/);
  await assert.rejects(untilAborted(never, AbortSignal.abort(new Error('stopped'))), /stopped/);
  const stop = new AbortController();
  const waiting = untilAborted(never, stop.signal);
  stop.abort(new Error('stopped later'));
  await assert.rejects(waiting, /stopped later/);
});

test('retries double from half a second to half a minute, with jitter', () => {
  assert.deepEqual(
    [1, 2, 3, 7, 8, 2000].map((failures) => backoffMs(failures, () => 1)),
    [500, 1000, 2000, 30_000, 30_000, 30_000],
  );
  assert.equal(
    backoffMs(1, () => 0),
    250,
  );
});
