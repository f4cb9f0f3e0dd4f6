import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { iso, systemClock } from '../../../src/lib/clock.ts';

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
