import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guard } from '../../../src/controller/gather.ts';
import { aConfig } from '../../support/config.ts';

const cases = [
  { name: 'a namespace that is included', namespace: 'shop', want: undefined },
  { name: 'kube-system, although * is included', namespace: 'kube-system', want: 'ProtectedNamespace' },
  { name: 'kube-system, although it is named', namespace: 'kube-system', include: ['kube-system'], want: 'ProtectedNamespace' },
  { name: "tapfix's own", namespace: 'tapfix', want: 'ProtectedNamespace' },
  { name: 'one that is labelled', namespace: 'shop', labels: { 'tapfix.dev/protected': 'true' }, want: 'ProtectedNamespace' },
  { name: 'one that is not included', namespace: 'shop', include: ['pay-*'], want: 'NotWatched' },
  { name: 'one that is excluded: exclude wins', namespace: 'shop', exclude: ['sh*'], want: 'NotWatched' },
]; // prettier-ignore

for (const { name, namespace, include = ['*'], exclude = [], labels = {}, want } of cases) {
  test(`${name}: ${want ?? 'may be changed'}`, () => {
    const config = aConfig({ namespaces: { include, exclude } });
    assert.equal(guard({ namespace, own: 'tapfix', labels: labels as Record<string, string> }, config)?.reason, want);
  });
}
