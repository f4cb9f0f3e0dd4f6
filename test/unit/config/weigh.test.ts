import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Standing, weigh, type Weighed } from '../../../src/config/reload.ts';

const text = (hash: string) => ({ hash, isMissing: false });
const missing = { hash: 'gone', isMissing: true };

const cases: [string, Standing, Parameters<typeof weigh>[1], number, Weighed][] = [
  ['what is in force is nothing new', { judged: 'a' }, text('a'), 0, { standing: { judged: 'a' }, do: 'nothing' }],
  [
    'something new may be half written',
    { judged: 'a' },
    text('b'),
    1000,
    { standing: { judged: 'a', other: { hash: 'b', sinceMs: 1000 } }, do: 'lookAgain', inMs: 500 },
  ],
  [
    'it grew meanwhile: its time begins anew',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('bb'),
    1400,
    { standing: { judged: 'a', other: { hash: 'bb', sinceMs: 1400 } }, do: 'lookAgain', inMs: 500 },
  ],
  [
    'it stayed: it is judged',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('b'),
    1500,
    { standing: { judged: 'b' }, do: 'judge' },
  ],
  [
    'the old text is back before that: nothing happened',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('a'),
    1500,
    { standing: { judged: 'a' }, do: 'nothing' },
  ],
  [
    'a file that is not there is waited for',
    { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } },
    missing,
    6000,
    { standing: { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } }, do: 'lookAgain', inMs: 3000 },
  ],
  [
    'not for ever',
    { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } },
    missing,
    9000,
    { standing: { judged: 'gone' }, do: 'judge' },
  ],
];
for (const [name, standing, reading, nowMs, want] of cases)
  test(name, () => assert.deepEqual(weigh(standing, reading, nowMs), want));
