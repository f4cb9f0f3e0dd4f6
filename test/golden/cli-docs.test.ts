import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cliPage, page } from '../../scripts/cli-docs.ts';

test('docs/cli.md is what the commands say of themselves (npm run docs:cli writes it)', () => {
  assert.equal(readFileSync(page, 'utf8'), cliPage());
});

test('the page has every command with its options', () => {
  const text = cliPage();
  for (const name of ['run', 'list', 'approve', 'connect', 'completion'])
    assert.match(text, new RegExp(`^## tapfix ${name}$`, 'm'));
  assert.match(text, /^ {2}-A, --all-namespaces +in all namespaces/m);
  assert.match(text, /^ {2}tapfix approve shop\/checkout$/m);
});
