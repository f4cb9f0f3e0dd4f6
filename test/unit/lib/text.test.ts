import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capitalised, cutToLines, line, linesIn, middleCut, naturalOrder, plain } from '../../../src/lib/text.ts';

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

test('names in the order in which people count', () =>
  assert.deepEqual(['svc-10', 'svc-2', 'api', 'svc-1'].sort(naturalOrder), ['api', 'svc-1', 'svc-2', 'svc-10']));

test('a long name keeps both of its ends', () => {
  assert.equal(middleCut('platform-hardening', 18), 'platform-hardening');
  assert.equal(middleCut('payments-worker-of-the-eu', 11), 'payme…he-eu');
  assert.ok(middleCut('😀'.repeat(30), 11).isWellFormed());
});

const heights: [string, number][] = [
  ['', 1],
  ['ten letters', 2],
  ['one two', 1],
  ['x'.repeat(25), 3],
  [`a ${'x'.repeat(20)}`, 3],
  [`a ${'x'.repeat(21)} b`, 4],
];
for (const [text, want] of heights)
  test(`lines of ten columns: ${text || 'nothing'}`, () => assert.equal(linesIn(text, 10), want));

test('a text is cut to so many lines, between words where that costs little', () => {
  assert.equal(cutToLines('one two', 1, 10), 'one two');
  assert.equal(cutToLines('one two three', 1, 10), 'one two …');
  assert.equal(cutToLines('x'.repeat(30), 2, 10), `${'x'.repeat(19)}…`);
  assert.equal(cutToLines('one', 0, 10), '');
});

test('a sentence begins with a capital letter, unless it begins with our name', () =>
  assert.deepEqual(['no node fits', 'tapfix does not'].map(capitalised), ['No node fits', 'tapfix does not']));
