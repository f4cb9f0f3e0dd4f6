import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScreen, rowsOf } from '../../../src/demo/screen.ts';
import { aTerminal } from './terminal.ts';

test('what is live is replaced in its place, in one write', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.print('a shop');
  screen.showCard('waiting ... 1 s');
  screen.showCard('waiting ... 2 s');
  assert.deepEqual(terminal.lines(), ['a shop', 'waiting ... 2 s']);
  assert.equal(terminal.writes.length, 3);
});

test('the same again is not written: nothing flickers', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.showCard('red');
  screen.showCard('red');
  assert.equal(terminal.writes.length, 1);
});

test('what is said goes above what is live', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.showCard('card\nbuttons');
  screen.print('the API server does not answer');
  screen.showCard('card, green');
  assert.deepEqual(terminal.lines(), ['the API server does not answer', 'card, green']);
});

test('the status stands below the card, and its end leaves the card where it is', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.showStatus('waiting ... 1 s');
  screen.showCard('card\nbuttons');
  assert.deepEqual(terminal.lines(), ['card', 'buttons', 'waiting ... 1 s']);
  screen.showStatus('');
  assert.deepEqual(terminal.lines(), ['card', 'buttons']);
});

test('a card that settles while something is waited for leaves the status below it', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.showCard('card');
  screen.showStatus('waiting ... 1 s');
  screen.settle();
  screen.showStatus('waiting ... 2 s');
  assert.deepEqual(terminal.lines(), ['card', 'waiting ... 2 s']);
});

const json = '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"x"}}';
const folds: { name: string; line: string; columns: number; want: string[] }[] = [
  { name: 'a line that fits', line: 'one two', columns: 7, want: ['one two'] },
  { name: 'between words, two columns further in', line: '  one two six', columns: 9, want: ['  one two', '    six'] },
  { name: 'spaces within a line stay', line: 'a  b ccc', columns: 6, want: ['a  b', '  ccc'] },
  { name: 'a command stays one command', line: ' kubectl get po', columns: 14, want: [' kubectl get \\', '   po'] },
  {
    name: 'JSON between two fields',
    line: json,
    columns: 30,
    want: ['{"apiVersion":"v1",', '  "kind":"ResourceQuota",', '  "metadata":{"name":"x"}}'],
  },
  {
    name: 'a word wider than the window, by the terminal',
    line: 'x'.repeat(12),
    columns: 10,
    want: ['xxxxxxxxxx', 'xx'],
  },
];
for (const { name, line, columns, want } of folds)
  test(`a line that is too wide is broken: ${name}`, () => {
    const terminal = aTerminal({ columns });
    const screen = createScreen(terminal);
    screen.print(line);
    screen.showCard(line);
    assert.deepEqual(terminal.lines(), [...want, ...want]);
  });

test('a sentence is as wide as the window and at most 80 columns wide', () => {
  const width = (over: Parameters<typeof aTerminal>[0]): number => createScreen(aTerminal(over)).width;
  assert.deepEqual(
    [width({ columns: 60 }), width({ columns: 120 }), width({ isTTY: false, columns: 60 })],
    [60, 80, 80],
  );
});

test('what has settled stays', () => {
  const terminal = aTerminal();
  const screen = createScreen(terminal);
  screen.showCard('card one');
  screen.settle();
  screen.showCard('card two');
  assert.deepEqual(terminal.lines(), ['card one', 'card two']);
});

test('a line that the terminal wraps counts as the rows it takes', () => {
  const terminal = aTerminal({ columns: 10 });
  const screen = createScreen(terminal);
  screen.showCard('0123456789abc\nend');
  screen.showCard('short');
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
  screen.print('a shop');
  screen.showCard(tall('red'));
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
  screen.showCard(tall('red'));
  screen.showCard(tall('yellow'));
  assert.equal(terminal.lines()[0], 'yellow a card');
  assert.equal(terminal.lines().length, 11);
  screen.showCard('green');
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
  screen.showCard(tall('red'));
  size.rows = 50;
  screen.showCard(tall('yellow'));
  assert.equal(terminal.lines().length, tall('').split('\n').length);
});

test('a terminal with hardly any rows: nothing can be taken back, all of it is written below', () => {
  const terminal = aTerminal({ rows: 3 });
  const screen = createScreen(terminal);
  screen.showCard('1\n2\n3');
  screen.showCard('4');
  assert.deepEqual(terminal.lines(), ['1', '2', '3', '4']);
});

test('a pipe gets what is said, and nothing that a terminal would obey', () => {
  const terminal = aTerminal({ isTTY: false });
  const screen = createScreen(terminal);
  screen.showCard('waiting');
  screen.print('done');
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
