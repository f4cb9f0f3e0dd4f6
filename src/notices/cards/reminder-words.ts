import {
  acknowledgedUntilMs,
  expiresAtMs,
  isBroken,
  phaseOf,
  type Remediation,
  severityOf,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { encodeAll, encodePress } from '../payload.ts';
import { answerMs } from '../plan/answer.ts';
import { isOpenFor, type ReminderKind } from '../plan/reminder.ts';
import { cardContext, type MessageContext } from './card-context.ts';
import { labelsFor, namesOf, whereAll } from './compose.ts';
import { decidedAt, headOf, inOrder, mayBeProposedAgain } from './head.ts';
import type { Button, Message } from './message.ts';
import { readiness, subjectOf, whatIsBroken } from './subject.ts';
import { timesIn } from './times.ts';

/** One short line in reply to the card, with the state of this moment. */
export function composeReminder(kind: ReminderKind, members: readonly Remediation[], context: MessageContext): Message {
  const [first] = inOrder(members);
  const silent = members.every((fix) => severityOf(fix) === 'info');
  if (!first) return { cards: [], silent };
  const headline = headlines[kind](members, context);
  const buttons = kind === 'expired' ? buttonsFor(members, context) : [];
  const footer = [whereAll(members, context.cluster)];
  return { cards: [{ dot: 'red', headline, rows: [], footer, buttons }], silent };
}

/** The last edit of a reminder: it was answered, or it is over. It has no buttons, and never changes again. */
export function composeAnswered(members: readonly Remediation[], context: MessageContext): Message {
  const [first, ...others] = inOrder(members);
  if (!first) return { cards: [], silent: true };
  const broken = members.filter(isBroken);
  const over = headOf(first, cardContext(first, context));
  const names = namesOfAll(members);
  const card =
    others.length === 0 && broken.length === 0
      ? over
      : {
          dot: broken.length > 0 ? ('red' as const) : ('grey' as const),
          headline: `${names}: ${answered(broken, context)}`,
        };
  const footer = [whereAll(members, context.cluster)];
  return { cards: [{ ...card, rows: [], footer, buttons: [] }], silent: true };
}

function answered(broken: readonly Remediation[], context: MessageContext): string {
  if (broken.length === 0) return 'over';
  const words = [...new Set(broken.map((fix) => answerOf(fix, context) ?? 'proposed again'))];
  return words.join('; ');
}

/** "Ada is on it since 03:14", "rejected by Ada at 03:14"; undefined if nobody has answered. */
export function answerOf(fix: Remediation, { nowMs, timeZone, nameOf }: MessageContext): string | undefined {
  const times = timesIn(timeZone, nowMs);
  const who = whoIsOnIt(fix);
  const { state, by } = fix.spec.approval;
  if (state !== 'Pending')
    return `${state.toLowerCase()}${by ? ` by ${nameOf(by)}` : ''} at ${times.minute(decidedAt(fix))}`;
  const untilMs = acknowledgedUntilMs(fix);
  if (who)
    return `${nameOf(who)} is on it${Number.isFinite(untilMs) ? ` since ${times.minute(untilMs! - answerMs)}` : ''}`;
  const snoozedMs = snoozedUntilMs(fix, nowMs);
  return snoozedMs === undefined ? undefined : `silent until ${times.minuteZoned(snoozedMs)}`;
}

type Headline = (members: readonly Remediation[], context: MessageContext) => string;

const headlines: Readonly<Record<ReminderKind, Headline>> = {
  unanswered: (members, context) => `${stillBroken(members, context)}. ${whoAnswered(members, context)}`,
  expired: (members, context) => {
    const [first, ...others] = inOrder(members.filter((fix) => isOpenFor('expired', fix, context.nowMs)));
    if (!first || others.length > 0 || phaseOf(first) !== 'Expired') return headlines.unanswered(members, context);
    const until = timesIn(context.timeZone, context.nowMs).minute(expiresAtMs(first));
    const what =
      first.spec.approval.state === 'Approved' ? 'the approved fix was not applied by' : 'the proposal expired at';
    return `${subjectOf(first)}: ${what} ${until}, still ${readiness(first) ? `${readiness(first)} ready` : 'broken'}.`;
  },
  snoozeOver: (members, context) => `${stillBroken(members, context)}. The snooze is over.`,
  failed: (members, context) => {
    const [first] = inOrder(members);
    return headOf(first!, cardContext(first!, context)).headline;
  },
  worse: (members, context) => {
    const [first, ...others] = inOrder(members);
    const what = others.length > 0 ? namesOfAll(members) : headOf(first!, cardContext(first!, context)).headline;
    return `It got worse: ${what}`;
  },
};

/** "checkout is still down, 0/3 ready, for 10 min" */
export function stillBroken(members: readonly Remediation[], { nowMs }: Pick<MessageContext, 'nowMs'>): string {
  const [first, ...others] = inOrder(members);
  const sinceMs = Math.min(...members.map(({ spec }) => Date.parse(spec.incident.firstSeen)));
  const duration = `for ${spokenDuration(nowMs - sinceMs)}`;
  if (others.length > 0) return `${namesOfAll(members)} are still broken, ${duration}`;
  return `${whatIsBroken(first!, { still: true })}, ${duration}`;
}

const namesOfAll = (members: readonly Remediation[]): string =>
  namesOf(inOrder(members), members.length === 1 ? subjectOf : labelsFor(members));

function whoAnswered(members: readonly Remediation[], context: MessageContext): string {
  const answers = new Set(members.map((fix) => answerOf(fix, context)));
  if (answers.size > 1) return 'Nobody has answered since.';
  const [answer] = answers;
  return answer === undefined ? 'Nobody has answered.' : `${answer.charAt(0).toUpperCase()}${answer.slice(1)}.`;
}

/** Where nobody is listed as an approver there are none. */
function buttonsFor(members: readonly Remediation[], context: MessageContext): Button[][] {
  const [first, ...others] = members.filter((fix) => context.approvable(fix));
  if (!first) return [];
  if (others.length === 0) {
    const again = mayBeProposedAgain(first) ? [{ label: 'Propose again', data: encodePress('g', first) }] : [];
    return [[...again, { label: "I'm on it", data: encodePress('k', first) }]];
  }
  const data = encodeAll(context.notice ?? '');
  return data === undefined ? [] : [[{ label: "I'm on all of it", data }]];
}
