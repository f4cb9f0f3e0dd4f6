import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timesIn } from '../../../../src/notices/cards/times.ts';

const now = Date.parse('2026-11-16T12:00:00Z');
const cases: [string, string, string][] = [
  ['winter in Berlin', timesIn('Europe/Berlin', now).atZoned('2026-11-16T02:12:05Z'), '03:12:05 CET'],
  [
    'summer in Berlin',
    timesIn('Europe/Berlin', Date.parse('2026-07-01T12:00:00Z')).atZoned('2026-07-01T02:12:05Z'),
    '04:12:05 CEST',
  ],
  ['New York', timesIn('America/New_York', now).minuteZoned('2026-11-16T13:42:59Z'), '08:42 EST'],
  ['UTC', timesIn('UTC', now).atZoned('2026-11-16T00:00:00Z'), '00:00:00 UTC'],
  ['a zone without a name', timesIn('Asia/Kathmandu', now).atZoned('2026-11-16T02:12:05Z'), '07:57:05 GMT+5:45'],
  ['another day', timesIn('UTC', now).at('2026-11-15T02:12:05Z'), '15 Nov 02:12:05'],
  ['no time at all', timesIn('UTC', now).at(undefined), 'at an unknown time'],
  ['garbage', timesIn('UTC', now).minute('soon'), 'at an unknown time'],
  [
    'times within a text',
    timesIn('Europe/Berlin', now).localised('rollout 2026-11-16T02:11:40.123Z, by x'),
    'rollout 03:11:40, by x',
  ],
];
for (const [name, got, wanted] of cases) test(`times: ${name}`, () => assert.equal(got, wanted));
