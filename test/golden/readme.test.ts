import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

test('the message that README shows is one that tapfix writes', () => {
  const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
  const [, console = ''] = read('proposed.txt').split('--- console\n');
  const card = console.slice(0, console.indexOf('[a 1]'));
  assert.ok(card.length > 500);
  assert.ok(read('../../README.md').includes(`\`\`\`\n${card}[ Approve undo ] [ Reject ]\n`));
});
