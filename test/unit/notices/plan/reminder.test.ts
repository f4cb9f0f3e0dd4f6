import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { planReminders, type ReminderFacts } from '../../../../src/notices/plan/reminder.ts';
import { aFix, aNotice, aNoticeOf, approvedByAda, at, condition, executed } from '../../../support/fixes.ts';

const minutes = (n: number): number => n * 60_000;
const postedAt = at('02:12:40');
const postedMs = Date.parse(postedAt);

const withNote = (fix: Remediation, annotations: Record<string, string>): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, annotations },
});
const taken = (fix: Remediation): Remediation => withNote(fix, { 'tapfix.dev/acknowledged-by': 'telegram:222' });
const snoozed = (fix: Remediation, until: string): Remediation => withNote(fix, { 'tapfix.dev/snoozed-until': until });
const failed = (over = {}): Remediation =>
  aFix({
    phase: 'Failed',
    approval: approvedByAda,
    status: { execution: executed },
    conditions: [condition('Failed', '02:24:12', { reason: 'NotRecovered' })],
    ...over,
  });

function plan(members: Remediation[], over: Partial<ReminderFacts> & { form?: 'card' | 'storm' | 'reminder' } = {}) {
  const { form = 'card', ...rest } = over;
  const card = aNoticeOf(members, { form }, { message: '4711', postedAt });
  const { due, againInMs } = planReminders({
    notices: [card],
    fix: (uid) => members.find(({ metadata }) => metadata.uid === uid),
    nowMs: postedMs + minutes(10),
    reminderMs: minutes(10),
    isMuted: () => false,
    ...rest,
  });
  const said = due.map(
    ({ kind, members: about }) => `${kind}: ${about.map(({ spec }) => spec.incident.object.name).join()}`,
  );
  return { said, againInMs, due };
}

const critical = aNotice({ n: 5, name: 'mail', incident: { severity: 'critical' } });
const rows: [string, ReturnType<typeof plan>, string[]][] = [
  ['nobody answered something critical', plan([aFix()]), ['unanswered: checkout']],
  ['not yet', plan([aFix()], { nowMs: postedMs + minutes(10) - 1 }), []],
  ['nothing can be done about it', plan([critical]), ['unanswered: mail']],
  ['it is no more than a warning', plan([aNotice()]), []],
  ['reminders are switched off', plan([aFix()], { reminderMs: 0 }), []],
  ['somebody is on it', plan([taken(aFix())]), []],
  ['it is silent', plan([snoozed(aFix(), at('03:00:00'))]), []],
  ['it is muted', plan([aFix()], { isMuted: () => true }), []],
  ['it was rejected', plan([aFix({ approval: { ...approvedByAda, state: 'Rejected' } })]), []],
  ['it is being fixed', plan([aFix({ approval: approvedByAda, phase: 'Applied' })]), []],
  ['it healed', plan([aFix({ phase: 'Resolved' })]), []],
  ['nobody decided in time, and it goes on', plan([aFix({ phase: 'Expired' })]), ['unanswered: checkout']],
  [
    'several in one message: one reminder',
    plan([aFix(), critical, aNotice(), taken(aFix({ n: 2, name: 'web' }))]),
    ['unanswered: checkout,mail'],
  ],
  ['a storm', plan([aFix(), critical], { form: 'storm' }), ['unanswered: checkout,mail']],
  ['of a reminder nobody is reminded', plan([aFix()], { form: 'reminder' }), []],
  ['a snooze that is over', plan([snoozed(aFix(), at('02:20:00'))]), ['snoozeOver: checkout']],
  ['the same of a warning: somebody asked for it', plan([snoozed(aNotice(), at('02:20:00'))]), ['snoozeOver: reports']],
  ['a snooze that ended long ago', plan([snoozed(aFix(), at('02:20:00'))], { nowMs: postedMs + minutes(90) }), []],
  ['a snooze that is no time', plan([snoozed(aFix(), 'later')]), []],
  ['the fix failed', plan([failed()], { nowMs: postedMs + minutes(12) }), ['failed: checkout']],
  [
    'it failed, and somebody who is on it approved it',
    plan([taken(failed())], { nowMs: postedMs + minutes(12) }),
    ['failed: checkout'],
  ],
  ['it failed while it is silent', plan([snoozed(failed(), at('03:00:00'))], { nowMs: postedMs + minutes(12) }), []],
  ['it failed before it was told', plan([failed({ conditions: [condition('Failed', '02:12:00')] })]), []],
  ['it failed hours ago', plan([failed()], { nowMs: postedMs + minutes(120) }), []],
  [
    'it failed, and is well by now',
    plan([failed({ conditions: [condition('Failed', '02:24:12'), condition('IncidentCleared', '02:25:00')] })], {
      nowMs: postedMs + minutes(13),
    }),
    [],
  ],
];
for (const [name, { said }, want] of rows) test(`who is reminded: ${name}`, () => assert.deepEqual(said, want));

test('the next look is when the first falls due', () => {
  assert.equal(plan([aFix()], { nowMs: postedMs + minutes(1) }).againInMs, minutes(9));
  assert.equal(plan([snoozed(aFix(), at('02:30:00'))], { nowMs: Date.parse(at('02:29:00')) }).againInMs, minutes(1));
  assert.equal(plan([taken(aFix())]).againInMs, undefined);
});

test('a successor has its own time, and whoever took what it replaces has taken it', () => {
  const replaced = aFix({ phase: 'Superseded' });
  const next = aFix({ n: 2, spec: { follows: { name: replaced.metadata.name, uid: replaced.metadata.uid } } });
  next.metadata.creationTimestamp = at('02:20:00');
  assert.deepEqual(plan([replaced, next]).said, []);
  const later = { nowMs: Date.parse(at('02:30:00')) };
  assert.deepEqual(plan([replaced, next], later).said, ['unanswered: checkout']);
  assert.deepEqual(plan([taken(replaced), next], later).said, []);
});

test('the same reminder has the same subject, another snooze another one', () => {
  const of = (fix: Remediation): string | undefined => plan([fix]).due[0]?.of;
  assert.equal(of(aFix()), of(aFix()));
  assert.notEqual(of(snoozed(aFix(), at('02:20:00'))), of(snoozed(aFix(), at('02:21:00'))));
});
