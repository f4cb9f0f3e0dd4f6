import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, approvedByAda, aQuotaFix, at, condition, executed, type FixOptions } from '../../../support/fixes.ts';

const green: FixOptions = {
  phase: 'Recovered',
  approval: approvedByAda,
  conditions: [condition('Recovered', '02:14:53')],
};
const status = (ready?: number, desired?: number) => ({
  execution: executed,
  sightings: {
    count: 14,
    lastSeen: at('02:14:34'),
    ...(ready !== undefined && { ready }),
    ...(desired !== undefined && { desired }),
  },
});
const headline = (fix: ReturnType<typeof aFix>): string => composeMessage([fix], aContext()).cards[0]!.headline;

/** The controller's reading makes it green; the watcher's count may be older, and must not contradict it. */
const cases: [string, ReturnType<typeof aFix>, string][] = [
  [
    'all are ready',
    aFix({ ...green, status: status(3, 3) }),
    'checkout is healthy again after 41 s, 3/3 ready, stable for 30 s',
  ],
  [
    'more than wanted',
    aFix({ ...green, status: status(4, 3) }),
    'checkout is healthy again after 41 s, 4/3 ready, stable for 30 s',
  ],
  [
    'the count is older',
    aFix({ ...green, status: status(0, 3) }),
    'checkout is healthy again after 41 s, stable for 30 s',
  ],
  [
    'one was missing when last counted',
    aFix({ ...green, status: status(2, 3) }),
    'checkout is healthy again after 41 s, stable for 30 s',
  ],
  [
    'nothing was counted',
    aFix({ ...green, status: status() }),
    'checkout is healthy again after 41 s, stable for 30 s',
  ],
  [
    'only what is wanted was counted',
    aFix({ ...green, status: status(undefined, 3) }),
    'checkout is healthy again after 41 s, stable for 30 s',
  ],
  [
    'it was to be switched off',
    aFix({
      ...green,
      conditions: [condition('Recovered', '02:14:53', { reason: 'SwitchedOff' })],
      status: status(3, 3),
    }),
    'checkout is switched off as asked after 41 s, stable for 30 s',
  ],
  [
    'a quota, its count is older',
    aQuotaFix({ ...green, status: status(0, 11) }),
    'Quota platform-hardening is healthy again after 41 s, stable for 30 s',
  ],
];
for (const [name, fix, wanted] of cases)
  test(`the green headline when ${name}`, () => assert.equal(headline(fix), wanted));
