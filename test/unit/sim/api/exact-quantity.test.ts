import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addQuantities,
  canonicalQuantity,
  formatQuantity,
  parseQuantity,
} from '../../../../src/sim/api/exact-quantity.ts';

const written: [unknown, string][] = [
  ['0', '0'], ['1', '1'], [1, '1'], ['0.5', '500m'], ['.5', '500m'], ['1500m', '1500m'], ['1000m', '1'], ['100m', '100m'], ['1.5', '1500m'],
  ['2000', '2k'], ['1500', '1500'], ['1e3', '1k'], ['12e-1', '1200m'], ['0.0000000001', '1n'], ['1024', '1024'], ['1Ki', '1Ki'],
  ['1024Ki', '1Mi'], ['1.5Gi', '1536Mi'], ['1000Mi', '1000Mi'], ['0.5Ki', '512'], ['128974848', '128974848'], ['129M', '129M'],
  ['-1', '-1'], ['+1', '1'], ['0Mi', '0'], ['1Ei', '1Ei'], ['9E', '9E'],
]; // prettier-ignore

for (const [given, wanted] of written)
  test(`the quantity ${JSON.stringify(given)} is written ${wanted}`, () =>
    assert.equal(canonicalQuantity(given), wanted));

for (const given of ['', 'much', '1 Gi', '1GiB', 'Gi', '1..5', '0x10', 'NaN', 'Infinity', null, {}, '1e999'])
  test(`${JSON.stringify(given)} is no quantity`, () => assert.equal(parseQuantity(given), undefined));

test('a sum is written like its first part that is not zero', () => {
  const sum = (...parts: string[]): string =>
    formatQuantity(parts.map((part) => parseQuantity(part)!).reduce(addQuantities));
  assert.equal(sum('300m', '0.5'), '800m');
  assert.equal(sum('0', '64Mi', '64Mi'), '128Mi');
  assert.equal(sum('1Gi', '1M'), '1074741824');
  assert.equal(sum('1M', '1Gi'), '1074741824');
});
