import type { Notice } from '../../kube/notice.ts';
import {
  conditionOf,
  isBeingFixed,
  isBroken,
  phaseOf,
  type Remediation,
  replacedIn,
  risenAtMs,
  severityOf,
  snoozedUntil,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import type { Reminder, ReminderFacts } from './reminder.ts';
import { samePlace } from './route.ts';

/* Pure. An edit makes no sound, so an incident that became critical after its message was posted gets a short reply. */

interface RiseFacts extends Pick<ReminderFacts, 'notices' | 'fix' | 'nowMs' | 'isMuted'> {
  /** Those of the Notices that are such replies. */
  replies: readonly Notice[];
  coalesceMs: number;
}

/** Older rises without a reply are history: tapfix was away. */
const freshMs = 3_600_000;

/** A fix that failed makes a sound of its own, which shows the state of that moment. */
const sameNewsMs = 60_000;

/** Somebody decided for the fix: its outcome comes first, and is news by itself. */
const isWorkedOn = (fix: Remediation): boolean =>
  isBeingFixed(fix) || (fix.spec.approval.state === 'Approved' && ['', 'Proposed'].includes(phaseOf(fix)));

/**
 * It is broken, and has become critical. Only that makes a sound: the message of a warning is silent as well. Somebody
 * who rejected the fix or is on it did so when it was less severe, and wants to know.
 */
export const isRisen = (fix: Remediation): boolean =>
  isBroken(fix) && !isWorkedOn(fix) && severityOf(fix) === 'critical' && risenAtMs(fix) !== undefined;

/** The same for a successor, which goes on with the severity of the one before it. */
const riseOf = (fix: Remediation): string =>
  `${fix.spec.incident.key} worse ${fix.status?.sightings?.severitySince ?? ''}`;

/** Pure. Every rise that should have made a sound by now and has no reply yet, and when the next one is due. */
export function planRises(facts: RiseFacts): { due: Reminder[]; againInMs?: number } {
  const planned = facts.notices.flatMap((card) => risesOf(card, facts));
  const waits = planned.map(({ atMs }) => atMs - facts.nowMs).filter((ms) => ms > 0);
  return {
    due: planned.filter(({ atMs }) => atMs <= facts.nowMs).map(({ reminder }) => reminder),
    ...(waits.length > 0 && { againInMs: Math.min(...waits) }),
  };
}

/** One reply for all members of a message that rise within the window: a node may take many workloads with it. */
function risesOf(card: Notice, facts: RiseFacts): { reminder: Reminder; atMs: number }[] {
  const postedAtMs = Date.parse(card.status?.postedAt ?? '');
  if (!['card', 'boot', 'storm'].includes(card.spec.form) || !card.status?.message || !(postedAtMs > 0)) return [];
  const known = card.spec.members.flatMap(({ uid }) => facts.fix(uid) ?? []);
  const replaced = replacedIn(known);
  const answered = facts.replies.filter(({ spec }) => samePlace(spec, card.spec)).flatMap(({ spec }) => spec.members);
  const isAnswered = new Set(answered.flatMap(({ uid }) => facts.fix(uid) ?? []).map(riseOf));
  const risen = known
    .filter((fix) => !replaced.has(fix.metadata.uid) && isRisen(fix) && !facts.isMuted(fix))
    .filter((fix) => isNews(fix, postedAtMs, facts.nowMs) && !isAnswered.has(riseOf(fix)))
    .sort((a, b) => risenAtMs(a)! - risenAtMs(b)! || (riseOf(a) < riseOf(b) ? -1 : 1));
  const [first] = risen;
  if (!first) return [];
  const atMs = risenAtMs(first)! + facts.coalesceMs;
  return [{ reminder: { kind: 'worse', card, members: risen, of: riseOf(first) }, atMs }];
}

function isNews(fix: Remediation, postedAtMs: number, nowMs: number): boolean {
  const atMs = risenAtMs(fix)!;
  const failedAtMs = Date.parse(conditionOf(fix, 'Failed')?.lastTransitionTime ?? '');
  const soundedMs = failedAtMs > postedAtMs ? failedAtMs + sameNewsMs : postedAtMs;
  const silentUntilMs = Date.parse(fix.metadata.annotations?.[snoozedUntil] ?? '') || 0;
  if (atMs <= soundedMs || snoozedUntilMs(fix, nowMs) !== undefined) return false;
  // The end of a snooze is brought up by itself, if nobody has answered.
  const isBroughtUp = fix.spec.approval.state === 'Pending' && whoIsOnIt(fix) === undefined;
  if (atMs < silentUntilMs && isBroughtUp) return false;
  return Math.max(atMs, silentUntilMs) > nowMs - freshMs;
}
