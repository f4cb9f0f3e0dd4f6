import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Column, cutAtWord, tableLines } from '../../../../src/cli/records/columns.ts';
import { age } from '../../../../src/cli/records/list.ts';

interface Row {
  name: string;
  state: string;
  note: string;
}

const columns: Column<Row>[] = [
  { title: 'NAME', rank: 0, cell: ({ name }) => name, ending: /-\d+$/ },
  { title: 'NOTE', rank: 1, cell: ({ note }) => note },
  { title: 'STATE', rank: 0, cell: ({ state }) => state, paint: ({ state }) => (state === 'bad' ? 'red' : undefined) },
];
const rows: Row[] = [
  { name: 'payments-worker-for-the-large-customers-17', state: 'bad', note: 'since this morning' },
  { name: 'web', state: 'good', note: '' },
];

test('without a width nothing is left out, and an empty cell is a dash', () => {
  assert.deepEqual(tableLines(rows, columns, { columns: undefined, colour: false }), [
    'NAME                                         NOTE                 STATE',
    'payments-worker-for-the-large-customers-17   since this morning   bad',
    'web                                          -                    good',
  ]);
});

test('a narrow window: first the column that matters least goes, then a name is cut behind a whole word', () => {
  assert.deepEqual(tableLines(rows, columns, { columns: 60, colour: false }), [
    'NAME                                         STATE',
    'payments-worker-for-the-large-customers-17   bad',
    'web                                          good',
  ]);
  assert.deepEqual(tableLines(rows, columns, { columns: 40, colour: false }), [
    'NAME                               STATE',
    'payments-worker-for-the-…-17       bad',
    'web                                good',
  ]);
});

test('colour does not count as width, and is only there when asked for', () => {
  const [, bad] = tableLines(rows, columns, { columns: undefined, colour: true });
  assert.equal(bad, 'payments-worker-for-the-large-customers-17   since this morning   \u001b[31mbad\u001b[0m');
});

test('a character that cannot be seen, or that a terminal obeys, does not get there', () => {
  const odd = [{ name: 'web\u001b[2J\u202e', state: 'good', note: 'x' }];
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(tableLines(odd, columns, { columns: 80, colour: false }).join('\n'), /[\u001b\u202e]/);
});

test('a word is cut in its middle only when there is no other way', () => {
  assert.equal(cutAtWord('short', 10), 'short');
  assert.equal(cutAtWord('shop/checkout-worker', 15), 'shop/checkout-…');
  assert.equal(cutAtWord('averyveryverylongword', 10), 'averyvery…');
  assert.equal(cutAtWord('payments-server-3f9a1c-1', 18, /-[0-9a-f]{6}-\d+$/), 'payments…-3f9a1c-1');
});

test('ages as kubectl writes them', () => {
  const ages = [0, 41_000, 119_000, 120_000, 7_200_000, 172_800_000, Number.NaN].map(age);
  assert.deepEqual(ages.join(' '), '0s 41s 119s 2m 2h 2d ');
});
