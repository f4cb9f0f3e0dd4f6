import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { covers, globMatches, isLiteral, matchesAny } from '../../../src/lib/glob.ts';

const cases: [glob: string, name: string, matches: boolean][] = [
  ['shop', 'shop', true],
  ['shop', 'shop-eu', false],
  ['shop', 'my-shop', false],
  ['shop-*', 'shop-eu', true],
  ['shop-*', 'shop-', true],
  ['shop-*', 'shop', false],
  ['*-eu', 'shop-eu', true],
  ['*', '', true],
  ['*', 'anything', true],
  ['**', 'anything', true],
  ['', '', true],
  ['', 'x', false],
  ['team-?', 'team-a', true],
  ['team-?', 'team-', false],
  ['team-?', 'team-ab', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a.b', 'axb', false],
  ['[ab]', 'a', false],
  ['(a|b)+$', '(a|b)+$', true],
  ['a*', 'a\nb', true],
];

for (const [glob, name, matches] of cases) {
  test(`"${glob}" ${matches ? 'matches' : 'does not match'} ${JSON.stringify(name)}`, () => {
    assert.equal(globMatches(glob, name), matches);
  });
}

test('it agrees with the regular expression that it stands for', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '-') });
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '-', '*', '?'), maxLength: 6 });
  fc.assert(
    fc.property(glob, text, (glob, name) => {
      const pattern = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      assert.equal(globMatches(glob, name), pattern.test(name));
    }),
  );
});

test('a glob of many stars is no trap', () => {
  assert.equal(globMatches(`${'*a'.repeat(60)}*b`, 'a'.repeat(253)), false);
});

test('one match of several is enough, none of none is not', () => {
  assert.equal(matchesAny(['x', 'shop-*'], 'shop-eu'), true);
  assert.equal(matchesAny([], 'shop-eu'), false);
});

test('literal means: no wildcard', () => {
  assert.deepEqual(['shop', 'shop-*', 'team-?'].map(isLiteral), [true, false, false]);
});

const coverings: [glob: string, pattern: string, covered: boolean][] = [
  ['*', 'shop', true],
  ['*', 'shop-*', true],
  ['*', '', true],
  ['shop', 'shop', true],
  ['shop', 'shop*', false],
  ['shop-*', 'shop-a*', true],
  ['shop-*', 'shop-*', true],
  ['shop-*', 'shop-*-eu', true],
  ['shop-*', 'shop*', false],
  ['shop-*', '*', false],
  ['shop-a*', 'shop-*', false],
  ['*-eu', 'shop-*-eu', true],
  ['*-eu', 'shop-*', false],
  ['team-?', 'team-a', true],
  ['team-?', 'team-?', true],
  ['team-?', 'team-*', false],
  ['team-?', 'team-??', false],
  ['team-*', 'team-?', true],
  ['team-?*', 'team-*', false],
  ['team-?*', 'team-*?', true],
  ['team-*?', 'team-a*', true],
  ['?*', '*a', false], // in doubt no
  ['a*b*c', 'a*b*b*c', true],
  ['a*b*c', 'a*c', false],
  ['**', '*', true],
  ['*ab?*', '*a*bc*ab*', false], // abc matches it, and so does xab, but axbcab has nothing after ab
];
for (const [glob, pattern, covered] of coverings)
  test(`"${glob}" ${covered ? 'covers' : 'does not cover'} "${pattern}"`, () => {
    assert.equal(covers(glob, pattern), covered);
  });

test('what covers a pattern matches every name that the pattern does', () => {
  const letter = fc.constantFrom('a', 'b', '*', '*', '?');
  const glob = fc.string({ unit: letter, maxLength: 5 });
  const filling = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 3 });
  const parts = fc.array(fc.tuple(letter, filling), { maxLength: 7 });
  let covered = 0;
  fc.assert(
    fc.property(glob, parts, (glob, parts) => {
      const pattern = parts.map(([letter]) => letter).join('');
      const name = parts.map(([letter, run]) => (letter === '*' ? run : letter === '?' ? (run[0] ?? 'c') : letter));
      assert.ok(globMatches(pattern, name.join('')));
      if (!covers(glob, pattern)) return;
      covered++;
      assert.ok(globMatches(glob, name.join('')), `${glob} ${pattern} ${name.join('')}`);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(covered > 500, `${covered} were covered`);
});
