import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { countsOf, type Due, type Shown, type Wanted, whatIsDue } from '../../../src/notices/outbox/delivery.ts';
import { aFix, approvedByAda, aQuotaFix, at, condition } from '../../support/fixes.ts';

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
  ['how often it was seen', sighted({ count: 1 }), sighted({ count: 2 })],
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
  ['rejected', aFix({ approval: { ...approvedByAda, state: 'Rejected' } })],
  ['failed and healthy later', aFix({ ...failed, conditions: [condition('IncidentCleared', '02:50:00')] })],
];
for (const [name, fix] of settled) test(`no counts to follow: ${name}`, () => assert.equal(countsOf([fix]), undefined));
