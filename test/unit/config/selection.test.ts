import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSelected } from '../../../src/config/selection.ts';
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
