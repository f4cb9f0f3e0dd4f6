import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, spokenDuration } from '../../../src/lib/duration.ts';

const parsed: [text: string, ms: number | undefined][] = [
  ['0s', 0],
  ['250ms', 250],
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['7d', 604_800_000],
  ['168h', 604_800_000],
  ['', undefined],
  ['5', undefined],
  ['5 m', undefined],
  ['-5m', undefined],
  ['1.5h', undefined],
  ['5M', undefined],
  ['5m!', undefined],
  ['99999999999999999d', undefined],
];

for (const [text, ms] of parsed) {
  test(`"${text}" is ${ms === undefined ? 'no duration' : `${ms} ms`}`, () => assert.equal(parseDuration(text), ms));
}

const spoken: [ms: number, text: string][] = [
  [-5, '0 s'],
  [0, '0 s'],
  [420, '0.4 s'],
  [3_000, '3 s'],
  [9_999, '10 s'],
  [41_300, '41 s'],
  [119_000, '119 s'],
  [120_000, '2 min'],
  [360_000, '6 min'],
  [7_200_000, '2 h'],
  [10_800_000, '3 h'],
  [518_400_000, '6 days'],
];

for (const [ms, text] of spoken) {
  test(`${ms} ms is said as "${text}"`, () => assert.equal(spokenDuration(ms), text));
}
