import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { longUid, shortUid } from '../../../src/lib/hash.ts';

test('a uid survives being made short, in 22 characters', () => {
  fc.assert(
    fc.property(fc.uuid(), (uid) => {
      assert.equal(shortUid(uid).length, 22);
      assert.equal(longUid(shortUid(uid)), uid);
    }),
  );
});

test('what is no uid is refused', () => {
  assert.throws(() => shortUid('api-1'), RangeError);
  for (const short of ['', 'x', '!'.repeat(22), 'A'.repeat(23)]) assert.equal(longUid(short), undefined);
});
