import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents } from '../../../src/diagnosis/events.ts';
import { aShop } from './support.ts';

test('events of these reasons about these objects, newest first, without the preamble of the repeated', async () => {
  const { server, reader } = aShop();
  const seed = (name: string, reason: string, uid: string, message: string, lastTimestamp: string): unknown =>
    server.seed('Event', 'shop', {
      metadata: { name },
      reason,
      message,
      lastTimestamp,
      involvedObject: { kind: 'Pod', name: 'p', uid },
    });
  seed('a', 'FailedMount', 'u1', 'old', '2026-11-16T03:20:00Z');
  seed('b', 'FailedMount', 'u1', '(combined from similar events): new', '2026-11-16T03:30:00Z');
  seed('c', 'FailedMount', 'u2', 'another', '2026-11-16T03:30:00Z');
  seed('d', 'Unhealthy', 'u1', 'other', '2026-11-16T03:30:00Z');
  const events = await readEvents(reader, 'shop', ['FailedMount'], ['u1']);
  assert.deepEqual(
    events.map(({ message }) => message),
    ['new', 'old'],
  );
});
