import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { keysAt } from '../../../src/config/problem.ts';
import { configSchema } from '../../../src/config/schema.ts';

const text = readFileSync(new URL('../../../config.example.yaml', import.meta.url), 'utf8');

/** Every key the schema knows wherever the example has a group or a list of groups. */
function keysNotShown(value: unknown, path: PropertyKey[] = []): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => keysNotShown(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  const missing = keysAt(configSchema, path).filter((key) => !Object.hasOwn(value, key));
  return [
    ...missing.map((key) => [...path, key].join('.')),
    ...Object.entries(value).flatMap(([key, inner]) => keysNotShown(inner, [...path, key])),
  ];
}

test('the example shows every key of the schema', () => {
  const example = parse(text);
  // Each class needs only what it changes; together they show all three keys.
  const { classes, ...others } = example;
  const shown = new Set(Object.values(classes as Record<string, object>).flatMap((rule) => Object.keys(rule)));
  assert.deepEqual([...shown].sort(), keysAt(configSchema, ['classes', 'CrashLoop']).sort());
  assert.deepEqual(keysNotShown({ ...others, classes: {} }), ['notices.reminder'], 'which reminders replaces');
});
