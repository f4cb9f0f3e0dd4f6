import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScreen, rowsOf } from '../../../src/demo/screen.ts';
import { aTerminal } from './terminal.ts';

test('what is live is replaced in its place, in one write', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.say('a shop');
  screen.show('waiting ... 1 s');
  screen.show('waiting ... 2 s');
  assert.deepEqual(terminal.lines(), ['a shop', 'waiting ... 2 s']);
  assert.equal(terminal.writes.length, 3);
});

test('the same again is not written: nothing flickers', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.show('red');
  screen.show('red');
  assert.equal(terminal.writes.length, 1);
});

test('what is said goes above what is live', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.show('card\nbuttons');
  screen.say('the API server does not answer');
  screen.show('card, green');
  assert.deepEqual(terminal.lines(), ['the API server does not answer', 'card, green']);
});

test('what has settled stays', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.show('card one');
  screen.settle();
  screen.show('card two');
  assert.deepEqual(terminal.lines(), ['card one', 'card two']);
});

test('a line that the terminal wraps counts as the rows it takes', () => {
  const terminal = aTerminal({ columns: 10 });
  const screen = createScreen(terminal);
  screen.show('0123456789abc\nend');
  screen.show('short');
  assert.deepEqual(terminal.lines(), ['short']);
});

const tall = (dot: string): string =>
  [
    `${dot} a card`,
    ...Array.from({ length: 30 }, (_, n) => `line ${n}`),
    '',
    'Approve until',
    '[a] [r]',
    '',
    'Press a',
  ].join('\n');

test('what is taller than the terminal loses its middle, never its first line nor what can be pressed', () => {
  const terminal = aTerminal({ rows: 13 });
  const screen = createScreen(terminal);
  screen.say('a shop');
  screen.show(tall('red'));
  assert.deepEqual(terminal.lines(), [
    'a shop',
    'red a card',
    'line 0',
    'line 1',
    'line 2',
    'line 3',
    '           ... 26 more lines, in a taller window',
    '',
    'Approve until',
    '[a] [r]',
    '',
    'Press a',
  ]);
});

test('and so it is replaced in its place, and taken away whole', () => {
  const terminal = aTerminal({ rows: 13 });
  const screen = createScreen(terminal);
  screen.show(tall('red'));
  screen.show(tall('yellow'));
  assert.equal(terminal.lines()[0], 'yellow a card');
  assert.equal(terminal.lines().length, 11);
  screen.show('green');
  assert.deepEqual(terminal.lines(), ['green']);
});

test('a window that was made smaller or taller is a smaller or taller one from then on', () => {
  const size = { rows: 12 };
  const terminal = aTerminal();
  const screen = createScreen({
    write: terminal.write,
    isTTY: true,
    columns: 80,
    get rows() {
      return size.rows;
    },
  });
  screen.show(tall('red'));
  size.rows = 50;
  screen.show(tall('yellow'));
  assert.equal(terminal.lines().length, tall('').split('\n').length);
});

test('a terminal with hardly any rows: nothing can be taken back, all of it is written below', () => {
  const terminal = aTerminal({ rows: 3 });
  const screen = createScreen(terminal);
  screen.show('1\n2\n3');
  screen.show('4');
  assert.deepEqual(terminal.lines(), ['1', '2', '3', '4']);
});

test('a pipe gets what is said, and nothing that a terminal would obey', () => {
  const terminal = aTerminal({ isTTY: false });
  const screen = createScreen(terminal);
  screen.show('waiting');
  screen.say('done');
  assert.deepEqual(terminal.writes, ['done\n']);
});

const widths: [string, string, number][] = [
  ['empty lines', 'a\n\nb', 3],
  ['exactly as wide as the terminal', 'x'.repeat(80), 1],
  ['one wider', 'x'.repeat(81), 2],
  ['an emoji is two columns wide', `🔴${'x'.repeat(78)}`, 1],
  ['and pushes the last letter over', `🔴${'x'.repeat(79)}`, 2],
];
for (const [name, text, rows] of widths)
  test(`rows of 80 columns: ${name}`, () => assert.equal(rowsOf(text, 80), rows));
