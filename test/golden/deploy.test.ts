import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alerts } from '../../scripts/chart/alerts.ts';
import { panels } from '../../scripts/chart/dashboard.ts';
import { generatedFiles } from '../../scripts/chart.ts';
import { createMetrics } from '../../src/ops/metrics.ts';

/* What is made from tables in the code is what the tables say; test/chart tries it with Helm and Prometheus. */
const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test('the chart and deploy/monitoring are what the code says', async () => {
  for (const [path, text] of await generatedFiles())
    assert.equal(read(path), text, `${path} is out of date: run \`npm run manifests\``);
});

const expressions = [...alerts.map(({ expr }) => expr), ...panels.flat().flatMap(({ queries }) => queries.map(({ expr }) => expr))];
const withoutTexts = expressions.map((expr) => expr.replace(/"[^"]*"/g, ''));
const used = new Set(withoutTexts.flatMap((expr) => expr.match(/\b(?:tapfix|process|nodejs)_\w+/g) ?? []));

test('every metric and label that an alert or the dashboard uses exists', async () => {
  const text = await createMetrics().text();
  const made = [...text.matchAll(/^# HELP (\w+)/gm)].map(([, name]) => name!);
  assert(used.size > 10);
  assert.deepEqual([...used].filter((name) => !made.includes(name)), []);
});

test('every metric of tapfix is on the dashboard', async () => {
  const text = await createMetrics().text();
  const made = [...text.matchAll(/^# HELP (tapfix_\w+)/gm)].map(([, name]) => name!);
  assert.deepEqual(made.filter((name) => !used.has(name)), []);
});

test('every alert is tried on what makes it fire, and on what does not', () => {
  const tests = read('deploy/monitoring/rules.test.yaml');
  for (const { name } of alerts)
    for (const what of ['fires', 'stays quiet']) assert(tests.includes(`- name: ${name} ${what}\n`), `${name} ${what}`);
});
