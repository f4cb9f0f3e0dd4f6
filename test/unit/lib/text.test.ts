import assert from 'node:assert/strict';
import { test } from 'node:test';
import { line, plain } from '../../../src/lib/text.ts';

const cases: [string, string, string][] = [
  ['newline and tab stay, carriage return does not', 'a\tb\nc\rd', 'a\tb\nc d'],
  ['a bell, an escape, and the eight-bit ones', 'a\u0007b\u001b[2Jc\u009b2Jd', 'a b [2Jc 2Jd'],
  ['what makes a line read backwards', 'delete \u202etset\u202c \u2066x\u2069', 'delete  tset   x '],
  ['other writings are left as they are', 'größe 数量 😀', 'größe 数量 😀'],
];
for (const [name, text, want] of cases) test(name, () => assert.equal(plain(text, 99), want));

test('a text is cut to fit, and not in the middle of a character', () => {
  const text = plain('😀'.repeat(300), 512);
  assert.ok(text.isWellFormed() && text.length <= 512 && text.endsWith('…'));
});

test('one line', () => assert.equal(line(' a\n\t b\u0007 ', 99), 'a b'));
