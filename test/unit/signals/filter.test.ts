import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSelected } from '../../../src/config/selection.ts';
import { filterOutcome, watchScopes } from '../../../src/signals/filter.ts';
import { aConfig } from '../../support/config.ts';

const selection = [
  { include: ['shop-*'], exclude: [], namespace: 'shop-eu', want: true },
  { include: ['shop-*'], exclude: ['shop-test'], namespace: 'shop-test', want: false },
  { include: ['*'], exclude: [], namespace: 'kube-system', want: false },
  { include: ['*', 'kube-system'], exclude: [], namespace: 'kube-system', want: true },
  { include: ['*', 'kube-system'], exclude: ['kube-*'], namespace: 'kube-system', want: false },
  { include: ['*'], exclude: [], namespace: 'tapfix', want: false },
  { include: ['shop'], exclude: [], namespace: 'shop-eu', want: false },
];
for (const { include, exclude, namespace, want } of selection)
  test(`${namespace} is ${want ? 'in' : 'out'} with ${include} without ${exclude || 'nothing'}`, () =>
    assert.equal(isSelected(aConfig({ namespaces: { include, exclude } }), namespace, 'tapfix'), want));

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
