import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { planReminders, reminderAnnotation, type ReminderFacts } from '../../../../src/notices/plan/reminder.ts';
import type { Notice } from '../../../../src/kube/notice.ts';
import { answerMs } from '../../../../src/notices/plan/answer.ts';
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
    gapsMs: [minutes(10), minutes(30), minutes(60)],
    repeats: true,
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
  ['reminders are switched off', plan([aFix()], { gapsMs: [] }), []],
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
  [
    'a snooze that ended long ago, of something critical',
    plan([snoozed(aFix(), at('02:20:00'))], { nowMs: postedMs + minutes(90) }),
    ['snoozeOver: checkout'],
  ],
  ['the same of a warning', plan([snoozed(aNotice(), at('02:20:00'))], { nowMs: postedMs + minutes(90) }), []],
  ['a snooze that is no time is no answer', plan([snoozed(aFix(), 'later')]), ['unanswered: checkout']],
  ['the fix failed', plan([failed()], { nowMs: postedMs + minutes(12) }), ['failed: checkout']],
  [
    'it failed, and somebody who is on it approved it',
    plan([taken(failed())], { nowMs: postedMs + minutes(12) }),
    ['failed: checkout'],
  ],
  ['it failed while it is silent', plan([snoozed(failed(), at('03:00:00'))], { nowMs: postedMs + minutes(12) }), []],
  [
    'it failed before it was posted: like everything that nobody answers',
    plan([failed({ conditions: [condition('Failed', '02:12:00')] })]),
    ['unanswered: checkout'],
  ],
  ['it failed hours ago', plan([failed()], { nowMs: postedMs + minutes(120) }), ['failed: checkout']],
  [
    'the same of a warning: history',
    plan([failed({ incident: { severity: 'warning' } })], { nowMs: postedMs + minutes(120) }),
    [],
  ],
  [
    'a warning whose impact has grown',
    plan([aNotice({ status: { sightings: { count: 1, lastSeen: at('02:12:34'), severity: 'critical' } } })]),
    ['unanswered: reports'],
  ],
  [
    'approved, and never taken up',
    plan([aFix({ phase: 'Expired', approval: approvedByAda, conditions: [condition('Expired', '02:42:35')] })], {
      nowMs: postedMs + minutes(31),
    }),
    ['expired: checkout'],
  ],
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

const hour = 60;
const isoAt = (minute: number): string => new Date(postedMs + minutes(minute)).toISOString();
const inMinutes = (type: string, minute: number) => ({
  ...condition(type, '00:00:00'),
  lastTransitionTime: isoAt(minute),
});
const decided = (state: 'Approved' | 'Rejected', minute: number) => ({ ...approvedByAda, state, at: isoAt(minute) });
const takenAt = (fix: Remediation, minute: number): Remediation =>
  withNote(fix, {
    'tapfix.dev/acknowledged-by': 'telegram:222',
    'tapfix.dev/acknowledged-until': new Date(postedMs + minutes(minute) + answerMs).toISOString(),
  });

/** What becomes of the incidents of one message: how they are at that minute. */
type Story = (minute: number) => Remediation[];

/** Lets the reminders be planned every half a minute and sent at once, unless nobody can; returns when and why. */
function pings(
  story: Story,
  {
    until = 5 * hour,
    isAway = () => false,
    ...over
  }: Partial<ReminderFacts> & { until?: number; isAway?(minute: number): boolean } = {},
): string[] {
  const heard: string[] = [];
  const sent: Notice[] = [];
  for (let minute = 0; minute <= until; minute += 0.5) {
    if (isAway(minute)) continue;
    const members = story(minute);
    const card = aNoticeOf(members, {}, { message: '4711', postedAt });
    const { due } = planReminders({
      notices: [card, ...sent],
      fix: (uid) => members.find(({ metadata }) => metadata.uid === uid),
      nowMs: postedMs + minutes(minute),
      gapsMs: [minutes(10), minutes(30), minutes(60)],
      repeats: true,
      isMuted: () => false,
      ...over,
    });
    for (const { kind, of, ordinal, members: about } of due) {
      const note = { kind, card: card.metadata.name, ...(ordinal !== undefined && { ordinal }), replyTo: '4711' };
      const reply = aNoticeOf(about, { form: 'reminder' }, { message: `${sent.length}`, postedAt: isoAt(minute) });
      Object.assign(reply.metadata, { name: of, annotations: { [reminderAnnotation]: JSON.stringify(note) } });
      assert.equal(
        sent.some(({ metadata }) => metadata.name === of),
        false,
        'each has a name of its own',
      );
      sent.push(reply);
      heard.push(`${minute} ${kind}`);
    }
  }
  return heard;
}

const pending: Story = (minute) => [
  minute < 30 ? aFix() : aFix({ phase: 'Expired', conditions: [inMinutes('Expired', 30)] }),
];
const expired = (): Remediation => pending(30)[0]!;
const stories: [string, string[], string[]][] = [
  [
    'nobody answers',
    pings(pending),
    ['10 unanswered', '30 expired', '90 unanswered', '150 unanswered', '210 unanswered', '270 unanswered'],
  ],
  [
    'nobody answers what has no fix',
    pings(() => [critical]),
    ['10', '40', '100', '160', '220', '280'].map((minute) => `${minute} unanswered`),
  ],
  [
    'other gaps',
    pings(pending, { gapsMs: [minutes(45)], until: 150 }),
    ['30 expired', '75 unanswered', '120 unanswered'],
  ],
  ['the key of earlier versions: once', pings(pending, { gapsMs: [minutes(10)], repeats: false }), ['10 unanswered']],
  [
    'the same, when the proposal expires first',
    pings(pending, { gapsMs: [minutes(45)], repeats: false }),
    ['30 expired'],
  ],
  ['no reminders', pings(pending, { gapsMs: [] }), []],
  [
    'acknowledged: quiet for two hours, then the gaps begin anew',
    pings((minute) => (minute < 35 ? pending(minute) : [takenAt(expired(), 35)])),
    ['10 unanswered', '30 expired', '155 unanswered', '165 unanswered', '195 unanswered', '255 unanswered'],
  ],
  [
    'rejected, and still broken two hours later',
    pings(
      (minute) =>
        minute < 5
          ? [aFix()]
          : [aFix({ phase: 'Rejected', approval: decided('Rejected', 5), conditions: [inMinutes('Rejected', 5)] })],
      { until: 140 },
    ),
    ['125 unanswered', '135 unanswered'],
  ],
  [
    'somebody writes a decision of the year 2099: the controller knows when it was',
    pings(
      (minute) =>
        minute < 5
          ? [aFix()]
          : [
              aFix({
                phase: 'Rejected',
                approval: { ...decided('Rejected', 5), at: '2099-01-01T00:00:00Z' },
                conditions: [inMinutes('Rejected', 5)],
              }),
            ],
      { until: 126 },
    ),
    ['125 unanswered'],
  ],
  [
    'approved, and the fix fails: unanswered again, though somebody was on it',
    pings(
      (minute) =>
        minute < 20
          ? [takenAt(minute < 5 ? aFix() : aFix({ phase: 'Applied', approval: decided('Approved', 5) }), 2)]
          : [
              takenAt(
                aFix({ phase: 'Failed', approval: decided('Approved', 5), conditions: [inMinutes('Failed', 20)] }),
                2,
              ),
            ],
      { until: 130 },
    ),
    ['20 failed', '30 unanswered', '60 unanswered', '120 unanswered'],
  ],
  [
    'approved, and for two hours nothing comes of it',
    pings(
      (minute) => [
        minute < 5
          ? aFix()
          : aFix({ phase: 'Applied', approval: decided('Approved', 5), conditions: [inMinutes('Approved', 5)] }),
      ],
      { until: 130 },
    ),
    ['125 unanswered'],
  ],
  [
    'snoozed: silent until its end',
    pings((minute) => [minute < 12 ? aFix() : snoozed(critical, isoAt(72))], { until: 85 }),
    ['10 unanswered', '72 snoozeOver', '82 unanswered'],
  ],
  [
    'it heals',
    pings((minute) => (minute < 60 ? pending(minute) : [aFix({ phase: 'Resolved' })])),
    ['10 unanswered', '30 expired'],
  ],
  [
    'tapfix, or the vendor, is away for hours: one afterwards, then the gaps go on from there',
    pings(pending, { isAway: (minute) => minute > 5 && minute < 200 }),
    ['200 unanswered', '230 unanswered', '290 unanswered'],
  ],
  [
    'proposals of one message that expire one after the other are one reply',
    pings(
      (minute) => [
        pending(minute)[0]!,
        minute < 30.5
          ? aFix({ n: 2, name: 'web' })
          : aFix({ n: 2, name: 'web', phase: 'Expired', conditions: [inMinutes('Expired', 30.5)] }),
      ],
      { until: 100 },
    ),
    ['10 unanswered', '30 expired', '90 unanswered'],
  ],
  [
    'members are answered one after the other: no reminder is repeated because of it',
    pings(
      (minute) =>
        [1, 2, 3].map((n) => {
          const fix = aFix({ n, name: `web-${n}`, phase: 'Noticed', unrehearsed: true });
          delete fix.spec.action;
          return minute >= 12 + n ? takenAt(fix, 12 + n) : fix;
        }),
      { until: 100 },
    ),
    ['10 unanswered'],
  ],
];
for (const [name, got, want] of stories) test(`reminders: ${name}`, () => assert.deepEqual(got, want));

test('a reminder that could not be sent yet is not joined by another one', () => {
  const fix = aFix();
  const card = aNoticeOf([fix], {}, { message: '4711', postedAt });
  const note = JSON.stringify({ kind: 'unanswered', card: card.metadata.name, ordinal: 1, replyTo: '4711' });
  const unsent = aNoticeOf([fix], { form: 'reminder' });
  Object.assign(unsent.metadata, { name: 'unsent', annotations: { [reminderAnnotation]: note } });
  const facts = { gapsMs: [minutes(10)], repeats: true, isMuted: () => false, fix: () => fix };
  assert.deepEqual(planReminders({ ...facts, notices: [card, unsent], nowMs: postedMs + minutes(50) }).due, []);
  const old = {
    ...unsent,
    metadata: {
      ...unsent.metadata,
      annotations: { [reminderAnnotation]: JSON.stringify({ kind: 'unanswered', replyTo: '4711' }) },
    },
  };
  assert.deepEqual(
    planReminders({ ...facts, notices: [card, old], nowMs: postedMs + minutes(50) }).due,
    [],
    'of an earlier version',
  );
});

test('the Notices of the last ten reminders of a message are kept', () => {
  const fix = critical;
  const card = aNoticeOf([fix], {}, { message: '4711', postedAt });
  const replies = Array.from({ length: 13 }, (_, index) => {
    const note = JSON.stringify({ kind: 'unanswered', card: card.metadata.name, ordinal: index + 1, replyTo: '4711' });
    const reply = aNoticeOf([fix], { form: 'reminder' }, { message: `${index}`, postedAt: isoAt(index * 60) });
    Object.assign(reply.metadata, { name: `reply-${index + 1}`, annotations: { [reminderAnnotation]: note } });
    return reply;
  });
  const { outdated, due } = planReminders({
    notices: [card, ...replies],
    fix: () => fix,
    nowMs: postedMs + minutes(13 * 60 + 1),
    gapsMs: [minutes(60)],
    repeats: true,
    isMuted: () => false,
  });
  assert.deepEqual(
    outdated.map(({ metadata }) => metadata.name),
    ['reply-3', 'reply-2', 'reply-1'],
  );
  assert.deepEqual(
    due.map(({ ordinal }) => ordinal),
    [14],
  );
});
