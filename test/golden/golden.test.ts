import { test } from 'node:test';
import { composeDetails } from '../../src/notices/cards/details.ts';
import { composeReminder } from '../../src/notices/cards/reminder-words.ts';
import type { ReminderKind } from '../../src/notices/plan/reminder.ts';
import { aFix, aNotice, approvedByAda, at, condition, executed } from '../support/fixes.ts';
import { compareWords } from './compare.ts';
import { aContext, messageIn, scenes } from './scenes.ts';

for (const scene of scenes) test(`the words of ${scene.name}`, () => compareWords(scene.name, messageIn(scene)));

const failed = aFix({
  phase: 'Failed',
  approval: approvedByAda,
  status: { execution: executed, sightings: { count: 14, lastSeen: at('02:24:00'), ready: 0, desired: 3 } },
  conditions: [condition('Failed', '02:24:12', { reason: 'NotRecovered' })],
});
const reminders: [string, ReminderKind, Parameters<typeof composeReminder>[1]][] = [
  ['reminder of one', 'unanswered', [aFix()]],
  ['reminder of several', 'unanswered', ['checkout', 'web', 'mail', 'cart'].map((name, n) => aFix({ n, name }))],
  ['reminder after a snooze', 'snoozeOver', [aNotice()]],
  ['reminder of a failure', 'failed', [failed]],
];
for (const [name, kind, members] of reminders)
  test(`the words of a ${name}`, () =>
    compareWords(name, composeReminder(kind, members, aContext({ nowMs: Date.parse(at('02:24:20')) }))));

const event = { namespace: 'shop', name: 'e', uid: 'e', type: 'Warning', count: 14 };
const object = { kind: 'Pod', name: 'checkout-6b8c9d7f54-x2x4z', namespace: 'shop', uid: 'p' };
const events = [
  { ...event, object, reason: 'BackOff', message: 'Back-off restarting failed container app', lastSeenMs: Date.parse(at('02:14:02')) },
  { ...event, object, count: 1, reason: 'Failed', message: 'Error: token=abc123secret', lastSeenMs: Date.parse(at('02:12:05')) },
];
test('the words of details', () => compareWords('details', composeDetails(aFix(), events, aContext())));
test('the words of details of a failure', () => compareWords('details of a failure', composeDetails(failed, [], aContext())));
