import { z } from 'zod';
import type { Notice } from '../../kube/notice.ts';
import {
  conditionOf,
  predecessorsIn,
  type Remediation,
  replacedIn,
  risenAtMs,
  severityOf,
  snoozedUntil,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { isUnattended, needsSomebody, shownPhase } from '../cards/head.ts';
import { isRisen } from './rise.ts';

/** Why somebody gets a reminder: nobody answered, a snooze is over, the fix failed, or it became critical. */
const reminderKinds = ['unanswered', 'snoozeOver', 'failed', 'worse'] as const;
export type ReminderKind = (typeof reminderKinds)[number];

/**
 * Annotation of a Notice of the form `reminder`: its kind, and the message it replies to; no message if that is in
 * another chat.
 */
export const reminderAnnotation = 'tapfix.dev/reminder';
const reminderSchema = z.object({ kind: z.enum(reminderKinds), replyTo: z.string().max(128).optional() });

/** undefined if it is not ours, or from another version. */
export function reminderOf({ metadata }: Notice): z.infer<typeof reminderSchema> | undefined {
  try {
    return reminderSchema.parse(JSON.parse(metadata.annotations?.[reminderAnnotation] ?? ''));
  } catch {
    return undefined;
  }
}

export interface Reminder {
  kind: ReminderKind;
  /** The message that nobody answered. */
  card: Notice;
  members: Remediation[];
  /** Equal for the same reminder, whoever plans it. It is part of the name of its Notice. */
  of: string;
}

export interface ReminderFacts {
  notices: readonly Notice[];
  fix(uid: string): Remediation | undefined;
  nowMs: number;
  /** How long a message may stay unanswered; 0: for ever. */
  reminderMs: number;
  isMuted(fix: Remediation): boolean;
}

/** Older failures without a reminder are history: tapfix was away, or an older version ran. */
const freshMs = 3_600_000;

/** Pure. Every reminder that should exist by now, sent or not, and when the next one is due. */
export function planReminders(facts: ReminderFacts): { due: Reminder[]; againInMs?: number } {
  const all = facts.notices.flatMap((card) => remindersOf(card, facts));
  const waits = all.map(({ atMs }) => atMs - facts.nowMs).filter((ms) => ms > 0);
  return {
    due: all.filter(({ atMs }) => atMs <= facts.nowMs),
    ...(waits.length > 0 && { againInMs: Math.min(...waits) }),
  };
}

type Planned = Reminder & { atMs: number };

function remindersOf(card: Notice, facts: ReminderFacts): Planned[] {
  const postedAtMs = Date.parse(card.status?.postedAt ?? '');
  if (!['card', 'boot', 'storm'].includes(card.spec.form) || !card.status?.message || !(postedAtMs > 0)) return [];
  const known = card.spec.members.flatMap(({ uid }) => facts.fix(uid) ?? []);
  const replaced = replacedIn(known);
  const members = known.filter((fix) => !replaced.has(fix.metadata.uid) && !facts.isMuted(fix));
  return [
    ...unanswered(card, members, known, postedAtMs, facts),
    ...members.flatMap((fix) => [...afterSnooze(card, fix, facts), ...afterFailure(card, fix, postedAtMs, facts)]),
  ];
}

/** One reminder for the whole message, however many of its members are unanswered. */
function unanswered(
  card: Notice,
  members: readonly Remediation[],
  known: readonly Remediation[],
  postedAtMs: number,
  { nowMs, reminderMs }: ReminderFacts,
): Planned[] {
  const predecessorOf = predecessorsIn(known);
  const wasTaken = (fix: Remediation): boolean => {
    const before = predecessorOf(fix);
    return before !== undefined && whoIsOnIt(before) !== undefined;
  };
  const atMs = (fix: Remediation): number =>
    Math.max(postedAtMs, Date.parse(fix.metadata.creationTimestamp), risenAtMs(fix) ?? 0) + reminderMs;
  const waiting = reminderMs > 0 ? members.filter((fix) => isUnanswered(fix) && !wasTaken(fix)) : [];
  if (waiting.length === 0) return [];
  const firstMs = Math.min(...waiting.map(atMs));
  const late = waiting.filter((fix) => atMs(fix) <= Math.max(firstMs, nowMs));
  return [{ kind: 'unanswered', card, members: late, of: card.spec.members[0]!.uid, atMs: firstMs }];
}

/** Critical, broken, and nobody reacted. A snooze is an answer; its end has its own reminder. */
const isUnanswered = (fix: Remediation): boolean =>
  severityOf(fix) === 'critical' && isOpen(fix) && fix.metadata.annotations?.[snoozedUntil] === undefined;

const isOpen = (fix: Remediation): boolean =>
  needsSomebody(fix) && fix.spec.approval.state === 'Pending' && whoIsOnIt(fix) === undefined;

/** Somebody who asked for an hour of silence wants a reminder afterwards. */
function afterSnooze(card: Notice, fix: Remediation, { nowMs }: ReminderFacts): Planned[] {
  const until = fix.metadata.annotations?.[snoozedUntil] ?? '';
  const atMs = Date.parse(until);
  if (!Number.isFinite(atMs) || !isOpen(fix) || atMs < nowMs - freshMs) return [];
  return [{ kind: 'snoozeOver', card, members: [fix], of: `${fix.metadata.uid} ${until}`, atMs }];
}

/** An edit makes no sound, and a failure needs somebody. A message that was posted as a failure has made its sound. */
function afterFailure(card: Notice, fix: Remediation, postedAtMs: number, { nowMs }: ReminderFacts): Planned[] {
  const failedAtMs = Date.parse(conditionOf(fix, 'Failed')?.lastTransitionTime ?? '');
  if (!hasFailed(fix) || !(failedAtMs > postedAtMs)) return [];
  const atMs = Math.max(failedAtMs, snoozedUntilMs(fix, nowMs) ?? 0);
  if (atMs < nowMs - freshMs) return [];
  return [{ kind: 'failed', card, members: [fix], of: `${fix.metadata.uid} failed`, atMs }];
}

const hasFailed = (fix: Remediation): boolean => shownPhase(fix) === 'Failed' && isUnattended(fix);

/** The condition under which a member is still worth a sound. It is checked again before sending. */
const stillHolds: Readonly<Record<ReminderKind, (fix: Remediation) => boolean>> = {
  unanswered: isUnanswered,
  snoozeOver: isOpen,
  failed: hasFailed,
  worse: isRisen,
};

export function isStillDue(notice: Notice, members: readonly Remediation[], nowMs: number): boolean {
  const kind = reminderOf(notice)?.kind;
  return kind !== undefined && members.some((fix) => stillHolds[kind](fix) && snoozedUntilMs(fix, nowMs) === undefined);
}
