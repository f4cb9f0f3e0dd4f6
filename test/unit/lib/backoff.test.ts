import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../../src/lib/clock.ts';

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
