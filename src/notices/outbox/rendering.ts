import type { NoticeSubject, Notice } from '../../kube/notice.ts';
import {
  conditionOf,
  isCleared,
  type Phase,
  type Remediation,
  severityOf,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { hashOf } from '../../lib/hash.ts';
import { confirmingNow } from '../cards/body.ts';
import { cardContext, isPending, type MessageContext } from '../cards/card-context.ts';
import { composeMessage, withoutReplaced } from '../cards/compose.ts';
import { composeEscalation, type EscalationFrame } from '../cards/escalation-words.ts';
import { isUnattended, mayBeProposedAgain, needsSomebody, shownPhase } from '../cards/head.ts';
import type { Message } from '../cards/message.ts';
import { composeAnswered, composeReminder } from '../cards/reminder-words.ts';
import { stormHash } from '../cards/storm-words.ts';
import { composeSystem, systemHash } from '../cards/system-words.ts';
import { eventFor } from '../plan/escalation.ts';
import { isOpenFor, reminderOf } from '../plan/reminder.ts';
import { asShown } from '../plan/unwatched.ts';
import { countsOf, type Wanted } from './delivery.ts';

/**
 * A hash of the state that a message shows, not of its text: changed counts alone and better wording cause no edit.
 * After a restart the hash shows whether the message on the phone is still true.
 */
export function stateHash(members: readonly Remediation[], context: MessageContext): string {
  const states = members.map((fix) => stateOf(fix, context));
  return hashOf(states.sort((a, b) => (a.uid < b.uid ? -1 : 1)));
}

/** Once the fix is applied, the number of ready pods is the news itself. Before that it is just a count. */
const readyIsState: readonly Phase[] = ['Applied', 'Failed', 'Recovered'];

function stateOf(fix: Remediation, context: MessageContext) {
  const phase = shownPhase(fix);
  const pending = isPending(fix, context.nowMs);
  const { ready, desired } = fix.status?.sightings ?? {};
  const shown = [
    phase,
    ...(pending ? ['Rehearsed', 'Confirmed'] : []),
    ...(['Failed', 'Expired'].includes(phase) || (phase === 'Rejected' && isCleared(fix)) ? ['IncidentCleared'] : []),
  ];
  return {
    uid: fix.metadata.uid,
    phase,
    approval: fix.spec.approval,
    preview: fix.status?.preview ?? null,
    conditions: shown.map((type) => {
      const { status = '', reason = '', message = '' } = conditionOf(fix, type) ?? {};
      return { type, status, reason, message };
    }),
    ready: readyIsState.includes(phase) ? [ready ?? null, desired ?? null] : null,
    ...(severityOf(fix) !== fix.spec.incident.severity && { severity: severityOf(fix) }),
    pending,
    approvable: pending && context.approvable(fix),
    allowed: pending && context.allowed(fix),
    ...(mayBeProposedAgain(fix) && context.approvable(fix) && { again: true }),
    ...attentionOf(fix, context.nowMs),
    confirming: confirmingNow(fix, cardContext(fix, context)) ?? null,
  };
}

/** Empty if nobody took it, so that messages posted before this feature existed are not edited because of it. */
function attentionOf(fix: Remediation, nowMs: number): object {
  if (!needsSomebody(fix)) return {};
  const who = whoIsOnIt(fix);
  const untilMs = snoozedUntilMs(fix, nowMs);
  return { ...(who && { who }), ...(untilMs !== undefined && { untilMs }) };
}

/** The content of a message: Remediations, or a report about tapfix itself. */
export interface Content {
  members: Remediation[];
  system?: { about: NoticeSubject; found: number };
  escalation?: EscalationFrame;
}

/** A storm grows every second. Nobody reads that fast. */
export const stormEveryMs = 30_000;

/** The state that the message should show, and its text. */
export function renderingOf(
  notice: Notice,
  { members, system, escalation }: Content,
  context: MessageContext,
): { wanted: Wanted; message(): Message } {
  if (system) {
    const { about, found } = system;
    const wanted = { shown: systemHash(about, found), counts: undefined };
    return { wanted, message: () => composeSystem(about, found, context) };
  }
  const shown = asShown(members, context);
  if (notice.spec.form === 'storm') {
    const current = withoutReplaced(shown);
    const wanted = { shown: stormHash(current), counts: undefined, apartMs: stormEveryMs };
    return { wanted, message: () => composeMessage(current, context, notice.spec.form) };
  }
  const reminder = notice.spec.form === 'reminder' ? reminderOf(notice) : undefined;
  if (reminder) {
    const { kind } = reminder;
    const isOpen = members.some(
      (fix) => isOpenFor(kind, fix, context.nowMs) && (kind !== 'expired' || isUnattended(fix)),
    );
    return isOpen
      ? { wanted: { shown: kind, counts: undefined }, message: () => composeReminder(kind, members, context) }
      : { wanted: { shown: 'answered', counts: undefined }, message: () => composeAnswered(members, context) };
  }
  if (escalation) {
    const event = eventFor(members, context.nowMs);
    const message = (): Message => composeEscalation(event, members, context, escalation);
    return { wanted: { shown: event, counts: undefined }, message };
  }
  const wanted = { shown: stateHash(shown, context), counts: countsOf(shown) };
  return { wanted, message: () => composeMessage(shown, context, notice.spec.form) };
}

/**
 * The order of what a reminder or an escalation shows. It never goes back: a reminder is edited once, and an escalation is
 * triggered, acknowledged and resolved once each.
 */
const stages: Readonly<Record<string, number>> = { answered: 1, acknowledge: 1, resolve: 2 };

/** Whether a message that was posted as `shown` has nothing more to show. A card can always change. */
export const isShownForGood = (notice: Notice, shown: string | undefined, wanted: string): boolean =>
  ['reminder', 'escalation'].includes(notice.spec.form) &&
  shown !== undefined &&
  (stages[wanted] ?? 0) <= (stages[shown] ?? 0);

/** Signals that had to wait arrive all at once; finding their owners takes a moment. */
const catchingUpMs = 15_000;
/** Long enough for every incident that was found to pass its patience. */
const countingMs = 600_000;

/** Pure. How many of these incidents could be seen only after tapfix could see again. */
export function foundAfter(about: NoticeSubject, fixes: readonly Remediation[]): number {
  if (about.what !== 'blind') return 0;
  const [fromMs, untilMs] = [Date.parse(about.from), Date.parse(about.until) + catchingUpMs];
  const isFound = ({ spec }: Remediation): boolean => {
    const seenMs = Date.parse(spec.incident.firstSeen);
    return seenMs > fromMs && seenMs <= untilMs;
  };
  return new Set(fixes.filter(isFound).map(({ spec }) => spec.incident.key)).size;
}

/** After that the number stays as it is, because Remediations are deleted some day. */
export const isCounting = (about: NoticeSubject, nowMs: number): boolean =>
  about.what === 'blind' && nowMs < Date.parse(about.until) + countingMs;
