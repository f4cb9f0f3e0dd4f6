import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canonical, hashOf, longUid, sameValue, shortUid } from '../../../src/lib/hash.ts';

test('the order of keys does not change a hash, that of a list does', () => {
  assert.equal(hashOf({ a: 1, b: { c: 2, d: 3 } }), hashOf({ b: { d: 3, c: 2 }, a: 1 }));
  assert.notEqual(hashOf([1, 2]), hashOf([2, 1]));
  assert.equal(hashOf({}, 6).length, 6);
});

test('absent and undefined are the same value, null is another', () => {
  assert.equal(sameValue({ a: undefined }, {}), true);
  assert.equal(sameValue({ a: null }, {}), false);
  assert.equal(canonical(undefined), 'undefined');
});

test('two values are the same exactly if they are the same as JSON', () => {
  const odd = fc.constantFrom(undefined, null, NaN, [], [undefined], [null], {}, { a: undefined }, new Date(0));
  const value = fc.oneof(
    odd,
    fc.object({ maxKeys: 2, maxDepth: 2, key: fc.constantFrom('a', 'b'), values: [odd, fc.boolean()] }),
  );
  fc.assert(
    fc.property(value, value, (a, b) => assert.equal(sameValue(a, b), canonical(a) === canonical(b))),
    { numRuns: 2_000 },
  );
});

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
