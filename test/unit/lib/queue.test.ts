import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../src/lib/errors.ts';
import { createQueue, type Outcome, type Queue, type QueueDeps } from '../../../src/lib/queue.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';

interface QueueRig {
  queue: Queue;
  clock: FakeClock;
  passes: string[];
  errors: { key: string; retryInMs: number }[];
  stop(): void;
}

/** A queue whose passes are written down; `handle` gets the number of the pass. */
function queueRig(handle: (key: string, pass: number) => Promise<Outcome>, over: Partial<QueueDeps> = {}): QueueRig {
  const clock = fakeClock();
  const passes: string[] = [];
  const errors: QueueRig['errors'] = [];
  const stopping = new AbortController();
  const queue = createQueue({
    clock,
    handle: (key) => handle(key, passes.push(key)),
    onError: (key, _error, retryInMs) => void errors.push({ key, retryInMs }),
    signal: stopping.signal,
    random: () => 1,
    ...over,
  });
  return { queue, clock, passes, errors, stop: () => stopping.abort() };
}

const done = async (): Promise<Outcome> => undefined;

/** Passes that end when told. */
function gate(): { handle: () => Promise<Outcome>; open: () => void } {
  const opened = Promise.withResolvers<Outcome>();
  return { handle: () => opened.promise, open: () => opened.resolve(undefined) };
}

test('a burst of one key is one pass', async () => {
  const { queue, clock, passes } = queueRig(done, { concurrency: 1 });
  for (const key of ['x', 'a', 'a', 'a', 'b']) queue.add(key);
  await clock.advance(0);
  assert.deepEqual(passes, ['x', 'a', 'b']);
});

test('a key is never passed twice at once, and gets one more pass if added meanwhile', async () => {
  const { handle, open } = gate();
  const { queue, clock, passes } = queueRig(handle);
  queue.add('a');
  queue.add('a');
  queue.add('a');
  await clock.advance(0);
  assert.deepEqual(passes, ['a']);
  open();
  await clock.advance(0);
  assert.deepEqual(passes, ['a', 'a']);
});

test('what is urgent goes before all that waits, in its own order', async () => {
  const { handle, open } = gate();
  const { queue, clock, passes } = queueRig(handle, { concurrency: 1, isUrgent: (key) => /^[A-Z]/.test(key) });
  for (const key of ['x', 'a', 'b', 'B', 'A', 'B']) queue.add(key);
  open();
  await clock.advance(0);
  assert.deepEqual(passes, ['x', 'B', 'A', 'a', 'b']);
});

test('what has become urgent since it was added goes first, and once', async () => {
  const { handle, open } = gate();
  let isUrgent = false;
  const { queue, clock, passes } = queueRig(handle, { concurrency: 1, isUrgent: (key) => isUrgent && key === 'b' });
  for (const key of ['x', 'a', 'b']) queue.add(key);
  isUrgent = true;
  queue.add('b');
  isUrgent = false;
  queue.add('b');
  open();
  await clock.advance(0);
  assert.deepEqual(passes, ['x', 'b', 'a']);
});

test('no more passes run at once than allowed', async () => {
  const { handle, open } = gate();
  const { queue, clock, passes } = queueRig(handle, { concurrency: 2 });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.advance(0);
  assert.deepEqual(passes, ['a', 'b']);
  open();
  await clock.advance(0);
  assert.deepEqual(passes, ['a', 'b', 'c']);
});

test('a pass may ask to come back', async () => {
  const { queue, clock, passes } = queueRig(async (_key, pass) => (pass === 1 ? { againInMs: 1000 } : undefined));
  queue.add('a');
  await clock.advance(999);
  assert.equal(passes.length, 1);
  await clock.advance(1);
  assert.equal(passes.length, 2);
  await clock.advance(60_000);
  assert.equal(passes.length, 2);
});

test('of two appointments the sooner counts, and an addition replaces both', async () => {
  const { queue, clock, passes } = queueRig(done);
  queue.addAfter('a', 5000);
  queue.addAfter('a', 1000);
  queue.addAfter('a', 9000);
  await clock.advance(1000);
  assert.equal(passes.length, 1);
  queue.addAfter('a', 1000);
  queue.add('a');
  await clock.advance(60_000);
  assert.equal(passes.length, 2);
});

test('a failure backs off, doubling; success forgets it', async () => {
  const fails = new Set([1, 2, 3, 5]);
  const { queue, clock, errors } = queueRig(async (_key, pass) => {
    if (fails.has(pass)) throw new Error('boom');
  });
  queue.add('a');
  await clock.advance(10_000);
  queue.add('a');
  await clock.advance(10_000);
  assert.deepEqual(
    errors.map(({ retryInMs }) => retryInMs),
    [500, 1000, 2000, 500],
  );
});

test('an error that says when is believed; one that is nothing at all is survived', async () => {
  const thrown = [new RetryLater('later', 7000), undefined];
  const { queue, clock, errors, passes } = queueRig(async (_key, pass) => {
    if (pass <= thrown.length) throw thrown[pass - 1];
  });
  queue.add('a');
  await clock.advance(10_000);
  assert.deepEqual(
    errors.map(({ retryInMs }) => retryInMs),
    [7000, 1000],
  );
  assert.equal(passes.length, 3);
});

test('a stopped queue starts nothing more', async () => {
  const { queue, clock, passes, stop } = queueRig(done);
  queue.addAfter('a', 1000);
  stop();
  queue.add('b');
  queue.addAfter('c', 1);
  await clock.advance(60_000);
  assert.deepEqual(passes, []);
});

test('idle waits for the pass that runs', async () => {
  const { handle, open } = gate();
  const { queue, clock } = queueRig(handle);
  let idle = false;
  await queue.idle();
  queue.add('a');
  const waiting = queue.idle().then(() => (idle = true));
  await clock.advance(0);
  assert.equal(idle, false);
  open();
  await waiting;
});
