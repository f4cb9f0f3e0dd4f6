import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readObjects } from '../../../src/replay/recording.ts';

/* Whatever way it is written down; what is broken costs only itself. */

const a = '{"n":1,"text":"} ] \\" {"}';
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
const list = { apiVersion: 'v1', kind: 'EventList', metadata: { resourceVersion: '' }, items: [{ n: 1 }, { n: 2, deep: { items: [{ n: 9 }] } }] }; // prettier-ignore

/** Text, numbers and lines of what was read, lines of what was not. */
const cases: [string, string, string[], number[]][] = [
  ['nothing', '', [], []],
  ['one object', a, ['1 in 1'], []],
  ['one a line', `${a}\n{"n":2}\n\n{"n":3}\n`, ['1 in 1', '2 in 2', '3 in 4'], []],
  ['one a line, as Windows writes it', `\uFEFF${a}\r\n{"n":2}\r\n`, ['1 in 1', '2 in 2'], []],
  ['one a line, the last cut off', `${a}\n{"n":2}\n{"n":3,"te`, ['1 in 1', '2 in 2'], [3]],
  [
    'one a line, something else in between',
    `${a}\noops\n{"n":2}\n\u0000\u0007\n{"n":3}`,
    ['1 in 1', '2 in 3', '3 in 5'],
    [2, 4],
  ],
  ['a list', `[${a},{"n":2}]`, ['1 in 1', '2 in 1'], []],
  ['a list over several lines', pretty([{ n: 1 }, { n: 2 }]), ['1 in 2', '2 in 5'], []],
  ['a list with other things in it', '[1,\n{"n":2},\nnull,"x",\n{"n":3}]', ['2 in 2', '3 in 4'], [1, 3, 3]],
  ['a list that is cut off in an object', '[{"n":1},\n{"n":2},\n{"n":3,"x":"y', ['1 in 1', '2 in 2'], [3]],
  ['a list that is cut off between two', '[{"n":1},\n{"n":2},', ['1 in 1', '2 in 2'], []],
  ['a list with a broken object', '[{"n":1},\n{"n":oops},\n{"n":3}]', ['1 in 1', '3 in 3'], [2]],
  ['a string that is never closed costs its own object', '[{"n":1,"t":"abc\n},\n{"n":2}]', ['2 in 3'], [1]],
  ['a List of Kubernetes', pretty(list), ['1 in 8', '2 in 11'], []],
  ['the same on one line', JSON.stringify(list), ['1 in 1', '2 in 1'], []],
  ['the same cut off', pretty(list).slice(0, -60), ['1 in 8'], [11]],
  ['a List with another list before it', '{"metadata":{"items":[{"n":7}]},"items":[{"n":1}]}', ['1 in 1'], []],
  ['an empty List', '{"kind":"EventList","items":[]}', [], []],
  ['one after the other', `${pretty({ n: 1 })}\n${pretty({ n: 2 })}`, ['1 in 1', '2 in 4'], []],
  ['no JSON at all', 'LAST SEEN   TYPE\n5m          Warning', [], [1, 2]],
];
for (const [name, text, records, unreadable] of cases)
  test(name, () => {
    const read = readObjects(text);
    assert.deepEqual(
      read.records.map(({ value, line }) => `${(value as { n: number }).n} in ${line}`),
      records,
    );
    assert.deepEqual(read.unreadable, unreadable);
  });

test('too deep to be read is unreadable, not the end', () => {
  const deep = `{"n":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  const { records, unreadable } = readObjects(`[${deep},\n{"n":2}]`);
  assert.equal(records.length + unreadable.length, 2);
  assert.deepEqual(records.at(-1), { value: { n: 2 }, line: 2 });
});

test('whatever is written down properly is read whole; whatever text there is, nothing throws', () => {
  const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 8 });
  fc.assert(
    fc.property(objects, fc.constantFrom(0, 2), (all, indent) => {
      const values = (text: string): unknown[] => readObjects(text).records.map(({ value }) => value);
      const plain = JSON.parse(JSON.stringify(all)) as unknown[];
      assert.deepEqual(values(JSON.stringify(all, null, indent)), plain);
      assert.deepEqual(values(JSON.stringify({ kind: 'List', items: all }, null, indent)), plain);
    }),
  );
  fc.assert(fc.property(fc.string(), fc.nat(200), (text, at) => void readObjects(`[{"n":1},${text}`.slice(0, at))));
});
