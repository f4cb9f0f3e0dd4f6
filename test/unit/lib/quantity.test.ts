import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantity } from '../../../src/lib/quantity.ts';

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
