import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../../src/kube/notice.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { planRises } from '../../../../src/notices/plan/rise.ts';
import { aNotice, aNoticeOf, approvedByAda, at, condition, type FixOptions } from '../../../support/fixes.ts';

const postedAt = at('02:12:40');
const severe = (severitySince: string, severity: 'critical' | 'warning' = 'critical') => ({
  sightings: { count: 1, lastSeen: at('02:12:34'), ready: 0, desired: 2, severity, severitySince },
});

/** A warning that has been critical since 02:20. */
const risen = ({ status, ...over }: FixOptions = {}): Remediation =>
  aNotice({ ...over, status: { ...severe(at('02:20:00')), ...status } });
const withNote = (fix: Remediation, annotations: Record<string, string>): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, annotations },
});
const follows = ({ metadata: { name, uid } }: Remediation) => ({ follows: { name, uid } });
const replyTo = (fix: Remediation): Notice =>
  aNoticeOf([fix], { form: 'reminder' }, { message: '4712', postedAt: at('02:20:06') });

interface Scene {
  nowAt?: string;
  replies?: Notice[];
  /** Known, but in no message of its own here. */
  others?: Remediation[];
  form?: 'card' | 'storm' | 'reminder' | 'system';
  isMuted?: boolean;
}
function plan(members: Remediation[], scene: Scene = {}) {
  const { nowAt = '02:20:05', replies = [], others = [], form = 'card', isMuted = false } = scene;
  const { due, againInMs } = planRises({
    notices: [aNoticeOf(members, { form }, { message: '4711', postedAt }), ...replies],
    replies,
    fix: (uid) => [...members, ...others].find(({ metadata }) => metadata.uid === uid),
    nowMs: Date.parse(at(nowAt)),
    coalesceMs: 5_000,
    isMuted: () => isMuted,
  });
  return { said: due.map((one) => one.members.map(({ spec }) => spec.incident.object.name).join()), againInMs, due };
}

const rejected = risen({ phase: 'Rejected', approval: { ...approvedByAda, state: 'Rejected' } });
const failedAt = (clock: string): Remediation =>
  risen({ phase: 'Failed', approval: approvedByAda, conditions: [condition('Failed', clock)] });
const first = risen({ phase: 'Superseded' });
const next = risen({ n: 4, spec: follows(first) });

const rows: [string, ReturnType<typeof plan>, string[]][] = [
  ['it has become critical', plan([risen()]), ['reports']],
  ['the window is open: others may follow', plan([risen()], { nowAt: '02:20:04' }), []],
  ['it was never anything else', plan([aNotice({ incident: { severity: 'critical' } })]), []],
  ['it is a warning by now, which makes no sound', plan([risen({ status: severe(at('02:20:00'), 'warning') })]), []],
  ['it was critical before it was posted', plan([risen({ status: severe(at('02:12:39')) })]), []],
  ['a node took two with it: one reply', plan([risen(), risen({ n: 8, name: 'mail' })]), ['mail,reports']],
  ['one of two', plan([risen(), aNotice({ n: 8, name: 'mail' })]), ['reports']],
  ['in a storm', plan([risen()], { form: 'storm' }), ['reports']],
  ['of a reminder there is no reminder', plan([risen()], { form: 'reminder' }), []],
  ['there was a reply', plan([risen()], { replies: [replyTo(risen())] }), []],
  [
    'there was a reply about an earlier rise',
    plan([risen()], {
      replies: [replyTo(risen({ n: 8, status: severe(at('02:15:00')) }))],
      others: [risen({ n: 8, status: severe(at('02:15:00')) })],
    }),
    ['reports'],
  ],
  ['there was a reply about the one that it follows', plan([first, next], { replies: [replyTo(first)] }), []],
  ['it follows another', plan([first, next]), ['reports']],
  ['it is muted', plan([risen()], { isMuted: true }), []],
  ['it was rejected when it was a warning', plan([rejected]), ['reports']],
  [
    'somebody is on it since it was a warning',
    plan([withNote(risen(), { 'tapfix.dev/acknowledged-by': 'telegram:1' })]),
    ['reports'],
  ],
  ['it is silent until three', plan([withNote(risen(), { 'tapfix.dev/snoozed-until': at('03:00:00') })]), []],
  [
    'it was silent, and that is brought up by itself',
    plan([withNote(risen(), { 'tapfix.dev/snoozed-until': at('02:30:00') })], { nowAt: '02:31:00' }),
    [],
  ],
  [
    'it was silent and rejected',
    plan([withNote(rejected, { 'tapfix.dev/snoozed-until': at('02:30:00') })], { nowAt: '02:31:00' }),
    ['reports'],
  ],
  ['a fix is being applied', plan([risen({ phase: 'Applied', approval: approvedByAda })]), []],
  ['a fix is approved', plan([risen({ phase: 'Proposed', approval: approvedByAda })]), []],
  ['the fix has just failed, which is news already', plan([failedAt('02:19:30')]), []],
  ['the fix failed a while ago', plan([failedAt('02:15:00')]), ['reports']],
  ['it is over', plan([risen({ conditions: [condition('IncidentCleared', '02:20:03')] })]), []],
  ['it recovered', plan([risen({ phase: 'Recovered' })]), []],
  ['it rose hours ago, while tapfix was away', plan([risen()], { nowAt: '03:20:05' }), []],
];
for (const [name, { said }, want] of rows) test(`a rise: ${name}`, () => assert.deepEqual(said, want));

test('the next look is when the window of the first closes', () => {
  assert.equal(plan([risen()], { nowAt: '02:20:01' }).againInMs, 4_000);
  assert.equal(plan([aNotice()]).againInMs, undefined);
});

test('the same rise has the same subject, also of a successor; another rise has another', () => {
  const of = (fix: Remediation): string | undefined => plan([fix]).due[0]?.of;
  assert.equal(of(risen()), of(next));
  assert.notEqual(of(risen()), of(risen({ status: severe(at('02:19:00')) })));
});
