import { z } from 'zod';
import { isCard, type Notice } from '../../kube/notice.ts';
import {
  isBroken,
  phaseOf,
  predecessorsIn,
  type Remediation,
  replacedIn,
  risenAtMs,
  severityOf,
} from '../../kube/remediation.ts';
import {
  expiredAtMs,
  failedAtMs,
  isCriticalAndUnanswered,
  isUnanswered,
  snoozeEndMs,
  unansweredSinceMs,
} from './answer.ts';
import { isRisen } from './rise.ts';

/**
 * Why somebody gets a reminder: nobody answered, the proposal expired, a snooze is over, the fix failed, or it became
 * critical (rise.ts). The first two are about a whole message, however many incidents it shows.
 */
const reminderKinds = ['unanswered', 'expired', 'snoozeOver', 'failed', 'worse'] as const;
export type ReminderKind = (typeof reminderKinds)[number];
const isOfMessage = (kind: ReminderKind): boolean => kind === 'unanswered' || kind === 'expired';

/**
 * Annotation of a Notice of the form `reminder`: its kind, the name of the card's Notice, its number among the reminders
 * of that card, and the message it replies to; no message if that is in another chat.
 */
export const reminderAnnotation = 'tapfix.dev/reminder';
const reminderSchema = z.object({
  kind: z.enum(reminderKinds),
  card: z.string().max(64).optional(),
  ordinal: z.number().int().min(1).optional(),
  replyTo: z.string().max(128).optional(),
});
export type ReminderNote = z.infer<typeof reminderSchema>;

/** undefined if it is not ours, or from another version. */
export function reminderOf({ metadata }: Notice): ReminderNote | undefined {
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
  /** Its number among the reminders of that message. */
  ordinal?: number;
}

/** The gaps between a message and its reminders, in milliseconds; the last one repeats, or there are no more. */
export interface Gaps {
  gapsMs: readonly number[];
  repeats: boolean;
}

export interface ReminderFacts extends Gaps {
  notices: readonly Notice[];
  fix(uid: string): Remediation | undefined;
  nowMs: number;
  isMuted(fix: Remediation): boolean;
}

export interface ReminderPlan {
  /** Every reminder that should exist by now. */
  due: Reminder[];
  /** Notices of reminders that nobody needs any more: newer ones of the same message have taken their place. */
  outdated: Notice[];
  /** Nothing else is due before then. */
  againInMs?: number;
}

/** Older news about something that is not critical is history: tapfix was away, or an older version ran. */
const freshMs = 3_600_000;
/** A proposal that expires this soon after a reminder is not one more reason to wake somebody. */
const apartMs = 60_000;
/** Reminders of one message whose Notices are kept. */
const mostKept = 10;

/** Pure. It goes by what the Notices record, so a restart repeats nothing, and after an outage one reminder is enough. */
export function planReminders(facts: ReminderFacts): ReminderPlan {
  const sentOf = remindersByCard(facts.notices);
  const cards = facts.notices.filter((notice) => isCard(notice) && notice.status?.message);
  const plans = cards.map((card) => planFor(card, sentOf(card), facts));
  const waits = plans.flatMap(({ times }) => times.map((atMs) => atMs - facts.nowMs)).filter((ms) => ms > 0);
  return {
    due: plans.flatMap(({ due }) => due),
    outdated: plans.flatMap(({ outdated }) => outdated),
    ...(waits.length > 0 && { againInMs: Math.min(...waits) }),
  };
}

/** A reminder of a message, as its Notice records it. */
interface Recorded extends ReminderNote {
  notice: Notice;
  /** undefined: not sent yet. */
  postedMs: number | undefined;
  uids: ReadonlySet<string>;
}

/** Those of earlier versions name only the message they reply to. */
function remindersByCard(notices: readonly Notice[]): (card: Notice) => Recorded[] {
  const byCard = new Map<string, Recorded[]>();
  for (const notice of notices) {
    const note = notice.spec.form === 'reminder' ? reminderOf(notice) : undefined;
    if (!note || note.kind === 'worse') continue; // the gaps begin with the rise itself
    const postedMs = Date.parse(notice.status?.postedAt ?? '');
    const uids = new Set(notice.spec.members.map(({ uid }) => uid));
    const key = note.card ?? messageKey(notice, note.replyTo ?? '');
    const recorded = { ...note, notice, postedMs: postedMs > 0 ? postedMs : undefined, uids };
    byCard.set(key, [...(byCard.get(key) ?? []), recorded]);
  }
  return (card) => [
    ...(byCard.get(card.metadata.name) ?? []),
    ...(byCard.get(messageKey(card, card.status?.message ?? '')) ?? []),
  ];
}

const messageKey = ({ spec }: Notice, message: string): string => `${spec.channel} ${spec.chat} ${message}`;

interface CardPlan {
  due: Reminder[];
  outdated: Notice[];
  times: number[];
}

function planFor(card: Notice, recorded: readonly Recorded[], facts: ReminderFacts): CardPlan {
  const postedMs = Date.parse(card.status?.postedAt ?? '');
  if (!(postedMs > 0)) return { due: [], outdated: [], times: [] };
  const known = card.spec.members.flatMap(({ uid }) => facts.fix(uid) ?? []);
  const replaced = replacedIn(known);
  const before = predecessorsIn(known);
  const members = known.filter((fix) => !replaced.has(fix.metadata.uid) && isBroken(fix) && !facts.isMuted(fix));
  const planned = members.flatMap((fix) => nextFor(fix, { postedMs, recorded, before, ...facts }) ?? []);
  const due = planned.filter(({ atMs }) => atMs <= facts.nowMs);
  return {
    due: [...due.flatMap((one) => aboutOne(card, one)), ...aboutAll(card, planned, recorded, facts.nowMs)],
    outdated: outdatedIn(recorded, facts.nowMs),
    times: planned.map(({ atMs }) => atMs).filter(Number.isFinite),
  };
}

/** When an incident is brought up next, and why. */
interface Next {
  fix: Remediation;
  kind: ReminderKind;
  atMs: number;
  /** Since when nobody has answered it. */
  sinceMs: number;
}

interface History extends ReminderFacts {
  postedMs: number;
  recorded: readonly Recorded[];
  before(fix: Remediation): Remediation | undefined;
}

function nextFor(fix: Remediation, history: History): Next | undefined {
  const { postedMs, recorded, before, nowMs } = history;
  const startMs = Math.max(postedMs, Date.parse(fix.metadata.creationTimestamp) || 0, risenAtMs(fix) ?? 0);
  const sinceMs = unansweredSinceMs(fix, startMs, before);
  const own = recorded.filter(({ uids }) => uids.has(fix.metadata.uid));
  const repliesMs = own.flatMap((one) => (one.postedMs !== undefined && one.postedMs >= sinceMs ? [one.postedMs] : []));
  const isPostItself = sinceMs === startMs;
  if (isPostItself || repliesMs.length > 0) return afterGap(fix, { sinceMs, repliesMs, isPostItself }, history);
  // The last answer is over, or the fix came to nothing: that is brought up at once, and the gaps begin anew.
  const kind = whyAnew(fix, own, { sinceMs, postedMs });
  if (isOfMessage(kind)) return mayRemind(fix, history) ? { fix, kind, atMs: sinceMs, sinceMs } : undefined;
  const isWorthIt = severityOf(fix) === 'critical' || sinceMs >= nowMs - freshMs;
  return isWorthIt ? { fix, kind, atMs: sinceMs, sinceMs } : undefined;
}

const mayRemind = (fix: Remediation, { gapsMs }: Gaps): boolean => severityOf(fix) === 'critical' && gapsMs.length > 0;

function whyAnew(
  fix: Remediation,
  own: readonly Recorded[],
  { sinceMs, postedMs }: { sinceMs: number; postedMs: number },
): ReminderKind {
  const failedMs = failedAtMs(fix) ?? 0;
  if (failedMs > postedMs && phaseOf(fix) === 'Expired' && failedMs === sinceMs) return 'expired';
  if (failedMs > postedMs && phaseOf(fix) === 'Failed' && !own.some(({ kind }) => kind === 'failed')) return 'failed';
  return sinceMs === snoozeEndMs(fix) ? 'snoozeOver' : 'unanswered';
}

/** The next gap begins with the last message or reply about it. If the proposal expires first, the reply comes then. */
function afterGap(
  fix: Remediation,
  { sinceMs, repliesMs, isPostItself }: { sinceMs: number; repliesMs: readonly number[]; isPostItself: boolean },
  history: History,
): Next | undefined {
  const { gapsMs, repeats } = history;
  if (!mayRemind(fix, history)) return undefined;
  const passed = repeats ? repliesMs.length - (isPostItself ? 0 : 1) : repliesMs.length;
  const gapMs = gapsMs[passed] ?? (repeats ? gapsMs.at(-1) : undefined);
  if (gapMs === undefined) return undefined;
  const lastMs = Math.max(sinceMs, ...repliesMs);
  const expiredMs = expiredAtMs(fix);
  if (expiredMs !== undefined && expiredMs > lastMs + apartMs && expiredMs <= lastMs + gapMs)
    return { fix, kind: 'expired', atMs: expiredMs, sinceMs };
  return { fix, kind: 'unanswered', atMs: lastMs + gapMs, sinceMs };
}

function aboutOne(card: Notice, { fix, kind }: Next): Reminder[] {
  const { uid } = fix.metadata;
  if (kind === 'failed') return [{ kind, card, members: [fix], of: `${uid} failed` }];
  if (kind === 'snoozeOver') return [{ kind, card, members: [fix], of: `${uid} ${snoozeEndMs(fix)}` }];
  return [];
}

/** One reminder for all that nobody has answered: the whole message is brought up, so their gaps go on together. */
function aboutAll(card: Notice, planned: readonly Next[], recorded: readonly Recorded[], nowMs: number): Reminder[] {
  const waiting = planned.filter(({ kind, sinceMs }) => isOfMessage(kind) && sinceMs <= nowMs);
  const due = waiting.filter(({ atMs }) => atMs <= nowMs);
  // It is sent as soon as it can be, and then shows what is so at that moment: one is enough.
  const isOnItsWay = recorded.some(({ kind, postedMs }) => isOfMessage(kind) && postedMs === undefined);
  if (due.length === 0 || isOnItsWay) return [];
  const kind = due.some((one) => one.kind === 'expired') ? 'expired' : 'unanswered';
  const ordinal = Math.max(0, ...recorded.map((one) => one.ordinal ?? 0)) + 1;
  return [{ kind, card, members: waiting.map(({ fix }) => fix), of: `${card.metadata.name} ${ordinal}`, ordinal }];
}

function outdatedIn(recorded: readonly Recorded[], nowMs: number): Notice[] {
  const sent = recorded
    .filter(({ kind, postedMs }) => isOfMessage(kind) && postedMs !== undefined && postedMs < nowMs - freshMs)
    .sort((a, b) => (b.ordinal ?? 0) - (a.ordinal ?? 0));
  return sent.slice(mostKept).map(({ notice }) => notice);
}

/** Pure. Whether a reminder of this kind still asks for something. It is checked again before sending. */
export function isOpenFor(kind: ReminderKind, fix: Remediation, nowMs: number): boolean {
  if (isOfMessage(kind)) return isCriticalAndUnanswered(fix, nowMs);
  if (kind === 'worse') return isRisen(fix);
  return isUnanswered(fix, nowMs) && (kind !== 'failed' || failedAtMs(fix) !== undefined);
}

export function isStillDue(notice: Notice, members: readonly Remediation[], nowMs: number): boolean {
  const kind = reminderOf(notice)?.kind;
  return kind !== undefined && members.some((fix) => isOpenFor(kind, fix, nowMs));
}
