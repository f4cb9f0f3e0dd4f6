import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantity, quantityInWords } from '../../../src/lib/quantity.ts';

const cases: [string, number | undefined][] = [
  ['0', 0],
  ['12', 12],
  ['0.5', 0.5],
  ['.5', 0.5],
  ['500m', 0.5],
  ['128Mi', 134_217_728],
  ['1Gi', 1_073_741_824],
  ['1k', 1000],
  ['2G', 2e9],
  ['1e3', 1000],
  ['1E', 1e18],
  ['-1', -1],
  ['', undefined],
  ['many', undefined],
  ['5 Mi', undefined],
  ['5mi', undefined],
];
for (const [text, want] of cases) test(`the quantity "${text}" is ${want}`, () => assert.equal(quantity(text), want));

const amounts: [string, number, string][] = [
  ['pods', 1, '1'],
  ['pods', 1024, '1024'],
  ['requests.cpu', 0.1 + 0.2, '300m'],
  ['requests.cpu', 2, '2'],
  ['memory', 0, '0'],
  ['requests.memory', 1.5 * 2 ** 30, '1536Mi'],
  ['limits.memory', 2 ** 30, '1Gi'],
  ['requests.memory', 200e6, '200M'],
  ['requests.memory', 67_108_865, '67108865'],
  ['requests.ephemeral-storage', 2048, '2Ki'],
  ['gold.storageclass.storage.k8s.io/requests.storage', 5 * 2 ** 30, '5Gi'],
];
for (const [resource, amount, want] of amounts)
  test(`${amount} of ${resource} is written ${want}`, () => assert.equal(quantityInWords(resource, amount), want));
