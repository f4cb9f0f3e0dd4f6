import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filterOutcome, watchScopes } from '../../../src/signals/filter.ts';
import { aConfig } from '../../support/config.ts';

test('only literal names are watched one by one, a glob needs the whole cluster', () => {
  assert.deepEqual(watchScopes(aConfig({ namespaces: { include: ['a', 'b', 'a'], exclude: ['b'] } })), ['a']);
  assert.deepEqual(watchScopes(aConfig({ namespaces: { include: ['a', 'b*'], exclude: [] } })), [undefined]);
});

const subject = { class: 'CrashLoop', namespace: 'shop', kind: 'Deployment', name: 'mail' };
const rules = [
  { name: 'a rule that fits in every part', ignore: [{ name: 'ma*', kind: 'Deployment' }], want: 'IgnoredByRule' },
  { name: 'a rule for another class', ignore: [{ class: 'QuotaExceeded' }], want: 'Kept' },
  { name: 'no rule', ignore: [], want: 'Kept' },
];
for (const { name, ignore, want } of rules)
  test(`ignore: ${name}`, () => assert.equal(filterOutcome(aConfig({ ignore }), subject, 'tapfix'), want));

test('a class that is switched off', () =>
  assert.equal(
    filterOutcome(aConfig({ classes: { CrashLoop: { enabled: false } } }), subject, 'tapfix'),
    'ClassDisabled',
  ));

test('a node is of no namespace: it is told where everything is watched, and where its pods are', () => {
  const outcome = (include: string[], namespace: string, ignore = [] as object[]) =>
    filterOutcome(
      aConfig({ namespaces: { include, exclude: [] }, ignore }),
      { class: 'NodeDown', namespace, kind: 'Node', name: 'spot-7' },
      'tapfix',
    );
  assert.equal(outcome(['*'], ''), 'Kept');
  assert.equal(outcome(['shop-*', 'pay'], ''), 'NamespaceNotSelected');
  assert.equal(outcome(['shop-*', 'pay'], 'pay'), 'Kept', 'a pod of ours was on it');
  assert.equal(outcome(['*'], '', [{ kind: 'Node', name: 'spot-*' }]), 'IgnoredByRule');
  assert.equal(outcome(['*'], 'pay', [{ class: 'NodeDown' }]), 'IgnoredByRule');
});

for (const rule of [{ namespace: 'pay-*' }, { kind: 'StatefulSet' }, { name: 'web' }, { class: 'OOMKilled' }])
  test(`a rule that fits but for ${Object.keys(rule)[0]} ignores nothing`, () => {
    const ignore = [{ namespace: 'shop', kind: 'Deployment', name: 'mail', class: 'CrashLoop', ...rule }];
    assert.equal(filterOutcome(aConfig({ ignore }), subject, 'tapfix'), 'Kept');
  });

describe('what is muted', () => {
  const subject = { class: 'CrashLoop', namespace: 'shop-eu', kind: 'Deployment', name: 'checkout' };

  const globs: [string, string][] = [
    ['shop-*', 'Muted'],
    ['*', 'Muted'],
    ['shop-eu', 'Muted'],
    ['shop-eu/check*', 'Muted'],
    ['*/checkout', 'Muted'],
    ['shop-eu/cart', 'Kept'],
    ['checkout', 'Kept'],
    ['shop', 'Kept'],
  ];
  for (const [glob, want] of globs)
    test(`a signal of shop-eu/checkout while ${glob} is muted: ${want}`, () => {
      const rules = { ...aConfig({ namespaces: { include: ['*'], exclude: [] } }), muted: [glob] };
      assert.equal(filterOutcome(rules, subject, 'tapfix'), want);
    });
});
