import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { parseConfig } from '../../../src/config/load.ts';
import { keysAt } from '../../../src/config/problem.ts';
import { configSchema } from '../../../src/config/schema.ts';

const text = readFileSync(new URL('../../../config.example.yaml', import.meta.url), 'utf8');
const minimal = readFileSync(new URL('../../fixtures/config/minimal.yaml', import.meta.url), 'utf8');

function loaded(yaml: string) {
  const parsed = parseConfig(yaml, 'config.yaml');
  assert(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

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

test('the example loads', () => assert.equal(loaded(text).cluster, 'prod-eu'));

test('the example shows every key of the schema', () => {
  const example = parse(text);
  // Each class needs only what it changes; together they show all three keys.
  const { classes, ...others } = example;
  const shown = new Set(Object.values(classes as Record<string, object>).flatMap((rule) => Object.keys(rule)));
  assert.deepEqual([...shown].sort(), keysAt(configSchema, ['classes', 'CrashLoop']).sort());
  assert.deepEqual(keysNotShown({ ...others, classes: {} }), []);
});

test('where there is a default the example shows it', () => {
  const { cluster, namespaces, ignore, classes, extraReasons, approval, channels, ...rest } = loaded(text);
  assert(cluster && ignore.length > 0 && Object.keys(classes).length > 0, 'the example has examples');
  const defaults = loaded(minimal);
  for (const [key, value] of Object.entries(rest)) assert.deepEqual(value, defaults[key as keyof typeof rest], key);
  assert.deepEqual({ ...approval, approvers: [] }, defaults.approval);
  assert.deepEqual(namespaces.exclude, defaults.namespaces.exclude);
  const bare = loaded(minimal.replace('console: {}', 'telegram: {chat: 1}\n  slack: {channel: C012}\n  console: {}'));
  assert.equal(channels.telegram?.apiRoot, bare.channels.telegram?.apiRoot);
  assert.equal(channels.slack?.apiUrl, bare.channels.slack?.apiUrl);
  const [extra] = loaded(`${minimal}extraReasons: [{reason: BackupFailed}]\n`).extraReasons;
  assert.deepEqual(extraReasons[0], extra);
});
