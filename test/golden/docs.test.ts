import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMetrics } from '../../src/ops/metrics.ts';
import { clusterWatches, revisionWatches, scopedWatches } from '../../src/signals/source.ts';

/* What the longer pages say of the code is looked up in the code. */
const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const operations = read('docs/operations.md');

const allCode = (): string =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => read(join('src', file)))
    .join('\n');

test('every test that the safety page quotes is there, under that name', () => {
  const quoted = [...read('docs/safety.md').matchAll(/`(test\/[^`]+)`:\s+“([^”]+)”/g)];
  assert.ok(quoted.length > 40);
  const missing = quoted.filter(([, file, name]) => !existsSync(join(root, file!)) || !read(file!).includes(name!));
  assert.deepEqual(missing.map(([, file, name]) => `${file}: ${name}`), []);
});

test('the operations page names every metric there is, and no other', async () => {
  const named = new Set([...operations.matchAll(/^\| `(tapfix_\w+)`/gm)].map(([, name]) => name));
  const text = await createMetrics().text();
  const made = [...text.matchAll(/^# HELP (tapfix_\w+)/gm)].map(([, name]) => name!);
  assert.deepEqual([...named].sort(), made.sort());
});

test('the operations page names every check of /readyz, and no other', () => {
  const table = operations.slice(operations.indexOf('| check'), operations.indexOf('- `/metrics`'));
  const named = [...table.matchAll(/`((?:api|watch|channel|config)[a-z-]*)`/g)].map(([, name]) => name!);
  const watches = ['remediations', ...Object.keys(revisionWatches), 'notices', 'other-events', ...scopedWatches, ...clusterWatches];
  const channels = ['telegram', 'slack', 'console'];
  const made = ['api-server', 'config', ...watches.map((name) => `watch-${name}`), ...channels.map((name) => `channel-${name}`)];
  assert.deepEqual(named.sort(), made.sort());
});

test('the log lines, reasons and outcomes that the operations page quotes are in the code', () => {
  const code = allCode();
  const lines = [...operations.matchAll(/“([^”]+)”/g)].map(([, line]) => line!.replace(/\s+/g, ' '));
  const reasons = [...operations.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g)].map(([, word]) => word!);
  assert.ok(lines.length > 10 && reasons.length > 10);
  assert.deepEqual(lines.filter((line) => !code.includes(`'${line}')`)), [], 'as the last argument of a call of the log');
  const events = /^Fix(Approved|Applied|Recovered|Failed)$/; // put together from the phase
  assert.deepEqual(reasons.filter((word) => !code.includes(word) && !events.test(word)), []);
});

test('the comparison has a source for every mark, and uses every source', () => {
  const [text = '', sources = ''] = read('docs/comparison.md').split('## What was read');
  const used = new Set([...text.matchAll(/\b[RBKNOA]\d\b/g)].map(([mark]) => mark));
  const listed = [...sources.matchAll(/^\| ([A-Z]\d) /gm)].map(([, mark]) => mark!);
  assert.ok(listed.length > 20);
  assert.deepEqual([...used].sort(), listed.sort());
});

for (const page of pages)
  test(`every file that docs/${page} links to is there`, () => {
    const links = [...read(`docs/${page}`).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
    assert.deepEqual(links.filter((link) => !existsSync(join(root, 'docs', link))), []);
  });
