import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Sample, slopePerMs, verdictOf, warmUpMs } from '../../../scripts/soak/verdict.ts';

const minute = 60_000;
/** Half an hour of one process, a sample every half minute. */
const samples = (rssMb: (minutes: number) => number, handles: (minutes: number) => number): Sample[] =>
  Array.from({ length: 60 }, (_, n) => n / 2).map((at) => ({
    atMs: at * minute,
    role: 'watcher',
    rssMb: rssMb(at),
    handles: handles(at),
    delayMs: 1,
  }));
const failed = (all: readonly Sample[], wrong: readonly string[] = [], minutes = 30): string[] =>
  verdictOf(all, wrong, minutes).flatMap(({ ok, text }) => (ok ? [] : [text]));

test('memory that grows only while it warms up, and steady handles, pass', () => {
  const warm = samples(
    (at) => 80 + Math.min(at, 9) * 3,
    () => 30,
  );
  assert.deepEqual(failed(warm), []);
});

test('memory that grows by 1.2 MB in ten minutes fails, with the figure; one peak does not', () => {
  assert.match(
    failed(
      samples(
        (at) => 80 + at * 0.12,
        () => 30,
      ),
    ).join(),
    /watcher: RSS \+1\.20 MB per 10 minutes/,
  );
  assert.deepEqual(
    failed(
      samples(
        (at) => (at === 20 ? 200 : 80),
        () => 30,
      ),
    ),
    [],
  );
});

test('handles that grow fail, and so do books that do not balance', () => {
  assert.match(
    failed(
      samples(
        () => 80,
        (at) => 30 + at,
      ),
    ).join(),
    /watcher: 42\.25 handles after warm-up, 57\.25 at the end/,
  );
  assert.match(
    failed(
      samples(
        () => 80,
        () => 30,
      ),
      ['lost'],
    ).join(),
    /do not balance: 1 findings/,
  );
});

test('of a short time the slope is shown and not judged', () => {
  const short = samples(
    (at) => 80 + at,
    () => 30,
  ).filter(({ atMs }) => atMs < 5 * minute);
  assert.deepEqual(failed(short, [], 5), []);
  assert.match(verdictOf(short, [], 5)[0]!.text, /too short a time/);
  assert.deepEqual([warmUpMs(3), warmUpMs(30), warmUpMs(300)], [minute, 10 * minute, 10 * minute]);
  assert.equal(slopePerMs([]), 0);
});
