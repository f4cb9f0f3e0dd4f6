import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import {
  countsOf,
  createDeliveries,
  createPacing,
  type Delivery,
  type Due,
  isStuck,
  type Shown,
  type Wanted,
  whatIsDue,
} from '../../../../src/notices/outbox/delivery.ts';
import { aFix, aNoticeOf, approvedByAda, aQuotaFix, at, condition } from '../../../support/fixes.ts';

const team = { channel: 'telegram', chat: '-1' } as const;

const elsewhere = { ...team, chat: '-2' } as const;

/** How long each attempt waits for the next, when each is made as soon as it may be. */
function waitsAfter(asks: readonly number[]): number[] {
  const pacing = createPacing();
  let nowMs = 0;
  return asks.map((afterMs) => {
    pacing.failed(team, afterMs, nowMs);
    const waitMs = pacing.pausedForMs(team, nowMs);
    nowMs += waitMs;
    return waitMs;
  });
}
const pauses: [string, number[], number[]][] = [
  ['a vendor that is down is asked less and less often', [5_000, 5_000, 5_000, 5_000, 5_000], [5_000, 10_000, 20_000, 30_000, 30_000]],
  ['never sooner than it asked for', [60_000, 5_000, 90_000], [60_000, 10_000, 90_000]],
]; // prettier-ignore
for (const [name, asks, waits] of pauses) test(name, () => assert.deepEqual(waitsAfter(asks), waits));

test('four messages that fail at once are one failure, and the longest wait among them counts', () => {
  const pacing = createPacing();
  for (const afterMs of [5_000, 60_000, 5_000, 5_000]) pacing.failed(team, afterMs, 0);
  assert.equal(pacing.pausedForMs(team, 0), 60_000);
  pacing.failed(team, 5_000, 60_000);
  assert.equal(pacing.pausedForMs(team, 60_000), 10_000);
  assert.equal(pacing.pausedForMs(elsewhere, 0), 0);
});

test('what arrives meanwhile does not shorten the pause that the vendor asked for', () => {
  const pacing = createPacing();
  pacing.failed(team, 60_000, 0);
  pacing.arrived(team);
  assert.equal(pacing.pausedForMs(team, 1_000), 59_000);
});

test('once something arrived the next failure is a first one again', () => {
  const pacing = createPacing();
  pacing.failed(team, 5_000, 0);
  pacing.failed(team, 5_000, 5_000);
  pacing.arrived(team);
  pacing.failed(team, 5_000, 15_000);
  assert.equal(pacing.pausedForMs(team, 15_000), 5_000);
});

test('edits have a budget per chat; a terminal needs none', () => {
  const pacing = createPacing();
  const terminal = { channel: 'console', chat: 'console' } as const;
  for (const address of [team, terminal]) for (let edit = 0; edit < 12; edit++) pacing.spend(address, 0);
  assert.equal(pacing.waitMs(team, 'state', 0), 60_000);
  assert.equal(pacing.waitMs(terminal, 'state', 0), 0);
});

const minuteMs = 60_000;
const nowMs = 100 * minuteMs;
const wanted: Wanted = { shown: 'state', counts: 'counts' };
const nothing: Due = { do: 'wait', ms: 0 };
const posted = (minutesAgo: number, over: Partial<Shown> = {}): Shown => ({
  message: '4711',
  ...wanted,
  shownAtMs: nowMs - minutesAgo * minuteMs,
  ...over,
});

const cases: [string, Shown, Due, Partial<Wanted>?][] = [
  ['it was never posted', {}, { do: 'post' }],
  ['all is as it was', posted(60), nothing],
  ['the state is another one', posted(0, { shown: 'old' }), { do: 'edit', about: 'state' }],
  ['state and counts are other ones', posted(0, { shown: 'old', counts: 'old' }), { do: 'edit', about: 'state' }],
  [
    'the state of a settled one is another',
    posted(0, { shown: 'old' }),
    { do: 'edit', about: 'state' },
    { counts: undefined },
  ],
  ['counts changed just now', posted(0, { counts: 'old' }), { do: 'wait', ms: 5 * minuteMs }],
  ['counts changed, shown 4 minutes ago', posted(4, { counts: 'old' }), { do: 'wait', ms: minuteMs }],
  ['counts changed, shown 5 minutes ago', posted(5, { counts: 'old' }), { do: 'edit', about: 'counts' }],
  ['counts changed, shown an hour ago', posted(60, { counts: 'old' }), { do: 'edit', about: 'counts' }],
  ['which counts were shown is unknown', posted(4, { counts: undefined }), { do: 'wait', ms: minuteMs }],
  [
    'which counts were shown is unknown for 5 minutes',
    posted(5, { counts: undefined }),
    { do: 'edit', about: 'counts' },
  ],
  ['counts were shown and all are settled', posted(60), nothing, { counts: undefined }],
];
for (const [name, last, due, over] of cases)
  test(`due when ${name}`, () => assert.deepEqual(whatIsDue(last, { ...wanted, ...over }, nowMs), due));

const sighted = (over: object, fix = {}): Remediation =>
  aFix({ ...fix, status: { sightings: { count: 1, lastSeen: at('02:13:00'), ready: 0, desired: 3, ...over } } });
const failed = { phase: 'Failed', approval: approvedByAda } as const;

const differing: [string, Remediation, Remediation][] = [
  ['how many are ready', sighted({ ready: 0 }), sighted({ ready: 1 })],
  ['how many are wanted', sighted({ desired: 3 }), sighted({ desired: 4 })],
  ['who is affected', sighted({ affected: ['Deployment/a'] }), sighted({ affected: ['Deployment/a', 'Deployment/b'] })],
];
for (const [name, a, b] of differing)
  test(`other counts: ${name}`, () => assert.notEqual(countsOf([a, aFix({ n: 2 })]), countsOf([b, aFix({ n: 2 })])));

const equal: [string, Remediation[], Remediation[]][] = [
  ['when it was last seen', [sighted({})], [sighted({ lastSeen: at('02:14:00') })]],
  ['a decision', [aFix()], [aFix({ approval: approvedByAda })]],
  ['what a failure does not show', [sighted({ count: 1 }, failed)], [sighted({ count: 9 }, failed)]],
  [
    'those of a settled member',
    [aFix(), sighted({ count: 1 }, { n: 2, phase: 'Resolved' })],
    [aFix(), sighted({ count: 9 }, { n: 2, phase: 'Resolved' })],
  ],
];
for (const [name, a, b] of equal) test(`the same counts: ${name}`, () => assert.equal(countsOf(a), countsOf(b)));

const settled: [string, Remediation][] = [
  ['resolved', aQuotaFix({ phase: 'Resolved' })],
  [
    'rejected and healthy later',
    aFix({ approval: { ...approvedByAda, state: 'Rejected' }, conditions: [condition('IncidentCleared', '02:50:00')] }),
  ],
  ['failed and healthy later', aFix({ ...failed, conditions: [condition('IncidentCleared', '02:50:00')] })],
];
for (const [name, fix] of settled) test(`no counts to follow: ${name}`, () => assert.equal(countsOf([fix]), undefined));

describe('what is stuck, and what has room', () => {
  const team = { channel: 'telegram', chat: '-100500' } as const;

  /* Deliveries and pacing. */

  const stuck: [string, Partial<Delivery>, boolean][] = [
    ['not tried yet', { attempts: 0, posting: false }, false],
    ['being tried for the first time', { attempts: 1, posting: true }, false],
    ['tried in vain', { attempts: 1, posting: false }, true],
    ['being tried again', { attempts: 2, posting: true }, true],
    ['posted', { attempts: 2, posting: false, message: '1' }, false],
  ];
  for (const [name, delivery, want] of stuck)
    test(`a message ${name} is ${want ? '' : 'not '}stuck`, () => assert.equal(isStuck(delivery as Delivery), want));

  test('a Notice that somebody else completed is known as posted; what we posted ourselves is not taken back', () => {
    const deliveries = createDeliveries();
    assert.equal(deliveries.of(aNoticeOf([aFix()])).message, undefined);
    const own = deliveries.of(aNoticeOf([aFix()], {}, { message: '1', shown: 'old' }));
    assert.equal(own.message, '1');
    own.shown = 'new';
    assert.equal(deliveries.of(aNoticeOf([aFix()], {}, { message: '1', shown: 'old' })).shown, 'new');
  });

  for (const [about, most, mayAsk] of [
    ['counts', 6, false],
    ['state', 12, false],
    ['state', 10, true],
    ['press', 12, true],
  ] as const)
    test(`a chat has room for ${most} edits a minute when they are about ${about}${mayAsk ? ' and somebody may be asked' : ''}`, () => {
      const pacing = createPacing();
      for (let n = 0; n < most; n++) {
        assert.equal(pacing.waitMs(team, about, 1_000, mayAsk), 0, `edit ${n + 1}`);
        pacing.spend(team, 1_000);
      }
      assert.equal(pacing.waitMs(team, about, 11_000, mayAsk), 50_000);
    });
});
