import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchIn, notFound, parseWanted } from '../../../../src/cli/records/find-record.ts';
import { shortIdOf } from '../../../../src/kube/remediation.ts';
import { aFix, uidOf } from '../../../support/fixes.ts';

const over = aFix({ n: 1, phase: 'Recovered' });
const open = aFix({ n: 2 });
const other = aFix({ n: 3, name: 'web', phase: 'Rejected' });
const elsewhere = aFix({ n: 4, name: 'web', namespace: 'blog' });
const replaced = aFix({ n: 5, name: 'cart', phase: 'Superseded' });
const successor = aFix({ n: 6, name: 'cart', spec: { follows: { name: replaced.metadata.name, uid: uidOf(5) } } });
const facade = aFix({ n: 7, name: 'facade' });
const all = [over, open, other, elsewhere, replaced, successor, facade];

const found = (text: string): string | string[] | undefined => {
  const match = matchIn(all, parseWanted(text));
  if (!match) return undefined;
  return 'fix' in match
    ? match.fix.metadata.name
    : match.several.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
};

describe('the record that a person means', () => {
  const cases: [string, string, string | string[] | undefined][] = [
    ['its own name, also when it is over', 'checkout-3f9a1c-1', 'checkout-3f9a1c-1'],
    ['as kubectl prints it', 'remediation.tapfix.dev/checkout-3f9a1c-1', 'checkout-3f9a1c-1'],
    ['a workload: the one that is open', 'checkout', 'checkout-3f9a1c-2'],
    ['as a phone writes it', 'Checkout', 'checkout-3f9a1c-2'],
    ['its short id', shortIdOf(open), 'checkout-3f9a1c-2'],
    ['its short id without the sign', shortIdOf(open).slice(1), 'checkout-3f9a1c-2'],
    ['a workload of which nothing is open: the newest', 'shop/web', 'web-3f9a1c-3'],
    ['a workload that was proposed for again', 'cart', 'cart-3f9a1c-6'],
    ['a workload whose name could be an id', 'facade', 'facade-3f9a1c-7'],
    ['a name that is nowhere', 'nothing', undefined],
  ];
  for (const [name, text, want] of cases) test(name, () => assert.deepEqual(found(text), want));

  test('two incidents of one name that are both open', () => {
    const twin = aFix({ n: 8, incident: { key: 'shop/StatefulSet/checkout' } });
    const match = matchIn([open, twin], parseWanted('checkout'));
    assert.ok(match && 'several' in match && match.several.length === 2);
  });
});

test('words that are no name', () => {
  for (const text of ['', 'a/b/c', '/x', 'x/']) assert.throws(() => parseWanted(text), { exitCode: 2 });
});

test('what is not there: the closest name here, then the same one elsewhere, then a close one elsewhere', () => {
  const say = (text: string, here = [open], everywhere = all): string =>
    notFound(text, parseWanted(text), 'shop', here, everywhere);
  assert.match(say('chekout'), /^nothing is recorded about chekout in namespace shop: did you mean checkout\?$/);
  assert.match(say('web'), /: did you mean shop\/web or blog\/web\?$/);
  assert.match(
    say('wordpres', [open], [aFix({ name: 'wordpress', namespace: 'blog' })]),
    /: did you mean blog\/wordpress\?$/,
  );
  assert.match(say('wordpress'), /; tapfix list -A shows everything that is$/);
});
