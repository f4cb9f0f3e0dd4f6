import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesIn } from '../../../src/diagnosis/logs.ts';

test('of a log only the last lines are shown, each short, no empty ones, and keys of many lines not at all', () => {
  const many = linesIn(Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('\n'));
  assert.deepEqual(many, ['> line 35', '> line 36', '> line 37', '> line 38', '> line 39']);
  assert.equal(linesIn('y'.repeat(999))[0]?.length, 202);
  const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAbCd\n-----END RSA PRIVATE KEY-----\nbye';
  assert.deepEqual(linesIn(key), ['> [redacted]', '> bye']);
});

test('a last line that the limit cut through is left out: half a token would not be known for one', () => {
  const whole = 'a line\n'.repeat(2_000);
  assert.equal(linesIn(`${whole}the key is 4f`).at(-1), '> the key is 4f');
  assert.equal(linesIn(`${whole}the key is ${'4f'.repeat(2_000)}`.slice(0, 16_384)).at(-1), '> a line');
});
