import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Gap, Sight, ContactTrouble } from '../../../src/kube/contact.ts';
import { blindnessOf, seesAll, unseenOf } from '../../../src/notices/plan/blindness.ts';

/* How far the watches together see. Times are seconds, for reading. */

const gap = (from: number, until: number, why: Gap['why'] = 'unreachable'): Gap => ({
  fromMs: from * 1000,
  untilMs: until * 1000,
  why,
});
/** Last heard, known to fail since, failed last. */
const trouble = (
  since: number,
  failing: number,
  failed: number,
  why: ContactTrouble['why'] = 'unreachable',
): ContactTrouble => ({
  sinceMs: since * 1000,
  failingSinceMs: failing * 1000,
  failedAtMs: failed * 1000,
  why,
});
const sight = (over: Partial<Sight> = {}): Sight => ({ kind: 'Pod', synced: true, gaps: [], ...over });

const blind: [string, Sight[], number, [number, number, string][]][] = [
  ['nothing happened', [sight(), sight()], 1000, []],
  [
    'all were away: from the last word to the last return',
    [sight({ gaps: [gap(100, 400)] }), sight({ gaps: [gap(130, 425)] })],
    1000,
    [[130, 425, 'unreachable']],
  ],
  ['one of them was not', [sight({ gaps: [gap(100, 400)] }), sight()], 1000, []],
  [
    'all were, but not at the same time',
    [sight({ gaps: [gap(100, 200)] }), sight({ gaps: [gap(200, 300)] })],
    1000,
    [],
  ],
  ['together for less than a minute', [sight({ gaps: [gap(100, 200)] }), sight({ gaps: [gap(150, 300)] })], 1000, []],
  [
    'it still lasts',
    [sight({ trouble: trouble(100, 101, 900) }), sight({ trouble: trouble(100, 101, 900) })],
    1000,
    [],
  ],
  [
    'the second is expected back any moment',
    [sight({ gaps: [gap(100, 400)] }), sight({ trouble: trouble(100, 101, 399) })],
    420,
    [],
  ],
  [
    'the second does not come back: not waited for',
    [sight({ gaps: [gap(100, 400)] }), sight({ trouble: trouble(100, 101, 450) })],
    460,
    [[100, 400, 'unreachable']],
  ],
  [
    'one that was refused before it',
    [
      sight({ gaps: [gap(100, 400)] }),
      sight({ gaps: [gap(110, 410)] }),
      sight({ trouble: trouble(0, 1, 450, 'forbidden') }),
    ],
    480,
    [[110, 410, 'unreachable']],
  ],
  [
    'twice',
    [sight({ gaps: [gap(100, 200), gap(500, 700)] }), sight({ gaps: [gap(100, 200), gap(500, 700)] })],
    1000,
    [
      [100, 200, 'unreachable'],
      [500, 700, 'unreachable'],
    ],
  ],
  [
    'a laptop that slept: no error, only silence',
    [sight({ gaps: [gap(100, 4000, 'silent')] }), sight({ gaps: [gap(90, 4001, 'silent')] })],
    5000,
    [[100, 4001, 'silent']],
  ],
  [
    'what this installation may not see anyway does not count',
    [sight({ gaps: [gap(100, 400)] }), sight({ isOptedOut: true })],
    1000,
    [[100, 400, 'unreachable']],
  ],
];
for (const [name, sights, now, want] of blind)
  test(`blind: ${name}`, () =>
    assert.deepEqual(
      blindnessOf(sights, now * 1000).map(({ fromMs, untilMs, why }) => [fromMs / 1000, untilMs / 1000, why]),
      want,
    ));

const unseen: [string, Sight[], string[]][] = [
  [
    'refused for a minute while others are seen',
    [sight({ trouble: trouble(0, 1, 61, 'forbidden') }), sight({ kind: 'Event' })],
    ['Pod'],
  ],
  ['refused for less', [sight({ trouble: trouble(0, 1, 60, 'forbidden') }), sight({ kind: 'Event' })], []],
  [
    'dead for long, but known for a moment only',
    [sight({ trouble: trouble(0, 90, 91) }), sight({ kind: 'Event' })],
    [],
  ],
  [
    'nothing is seen at all: that is told when it is over',
    [sight({ trouble: trouble(0, 1, 300) }), sight({ trouble: trouble(0, 1, 300) })],
    [],
  ],
  [
    'the other is back, this one about to be',
    [sight({ trouble: trouble(0, 1, 299) }), sight({ kind: 'Event', gaps: [gap(0, 300)] })],
    [],
  ],
  [
    'the other is back, this one was refused for a minute since',
    [sight({ trouble: trouble(0, 1, 360) }), sight({ kind: 'Event', gaps: [gap(0, 300)] })],
    ['Pod'],
  ],
  ['what need not be seen', [sight({ isOptedOut: true }), sight({ kind: 'Event' })], []],
];
for (const [name, sights, want] of unseen)
  test(`unseen: ${name}`, () =>
    assert.deepEqual(
      unseenOf(sights).map(({ kind }) => kind),
      want,
    ));

const well: [string, Sight[], boolean][] = [
  ['everything is seen', [sight(), sight()], true],
  ['nobody watches yet', [], false],
  ['one has not been listed', [sight(), sight({ synced: false })], false],
  ['one broke half a minute ago', [sight(), sight({ trouble: trouble(970, 971, 999) })], true],
  ['one broke a minute ago', [sight(), sight({ trouble: trouble(940, 971, 999) })], false],
  ['one need not be seen', [sight(), sight({ isOptedOut: true })], true],
];
for (const [name, sights, want] of well)
  test(`all is well: ${name}: ${want}`, () => assert.equal(seesAll(sights, 1_000_000), want));
