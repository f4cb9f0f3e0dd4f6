import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { arrange, table } from '../../cluster/arrangement.ts';

const files = (...names: string[]): string[] => names.map((name) => `e/${name}.test.ts`);
const small = { alone: ['storm'], sharing: ['acts', 'rights', 'fixing'], longest: ['crash', 'fixing', 'loop'] };

test('what takes long begins first, the others in their order', () =>
  assert.deepEqual(
    arrange(files('a', 'loop', 'b', 'crash'), small).beside,
    files('crash', 'loop', 'a', 'b').map((f) => [f]),
  ));

test('what needs the machine has it to itself; what shares a cluster begins with the longest of it', () =>
  assert.deepEqual(arrange(files('acts', 'crash', 'fixing', 'loop', 'rights', 'storm'), small), {
    alone: files('storm'),
    beside: [files('crash'), files('fixing', 'acts', 'rights'), files('loop')],
  }));

test('one of those that share, by itself', () =>
  assert.deepEqual(arrange(files('rights'), small), { alone: [], beside: [files('rights')] }));

test('every name in the table is that of a file, and none is both alone and sharing', () => {
  const there = globSync('test/e2e/*.test.ts').map((file) => basename(file, '.test.ts'));
  const { alone, sharing, longest } = table;
  assert.deepEqual(
    [...alone, ...sharing, ...longest].filter((name) => !there.includes(name)),
    [],
  );
  assert.deepEqual(
    alone.filter((name) => sharing.includes(name)),
    [],
  );
});
