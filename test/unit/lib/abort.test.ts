import assert from 'node:assert/strict';
import { test } from 'node:test';
import { untilAborted } from '../../../src/lib/clock.ts';

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
