import { expiresAtMs, type Remediation, severityOf } from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import type { ReminderKind } from '../plan/reminder.ts';
import { canBeApproved, cardContext, type MessageContext } from './card-context.ts';
import { inWords, labelsFor, namesOf, whereAll } from './compose.ts';
import { headOf, inOrder } from './head.ts';
import type { Message } from './message.ts';
import { whatIsBroken } from './subject.ts';
import { timesIn } from './times.ts';

/** One short line in reply to the card. The buttons are on the card. */
export function composeReminder(kind: ReminderKind, members: readonly Remediation[], context: MessageContext): Message {
  const [first] = inOrder(members);
  const silent = members.every((fix) => severityOf(fix) === 'info');
  if (!first) return { cards: [], silent };
  const headline = sentences[kind](first, members, context);
  const footer = [[whereAll(members, context.cluster), ...untilWhen(first, context)].join(' · ')];
  return { cards: [{ dot: 'red', headline, rows: [], footer, buttons: [] }], silent };
}

const sinceMs = (members: readonly Remediation[]): number =>
  Math.min(...members.map(({ spec }) => Date.parse(spec.incident.firstSeen)));

type Sentence = (first: Remediation, members: readonly Remediation[], context: MessageContext) => string;
const sentences: Readonly<Record<ReminderKind, Sentence>> = {
  unanswered: (_, members, { nowMs }) =>
    `${what(members)}, for ${spokenDuration(nowMs - sinceMs(members))}. Nobody has answered.`,
  snoozeOver: (_, members) => `${what(members)}. The snooze is over.`,
  failed: (first, _, context) => headOf(first, cardContext(first, context)).headline,
};

function what(members: readonly Remediation[]): string {
  const [first, ...others] = inOrder(members);
  if (others.length === 0) return whatIsBroken(first!, { still: true });
  return `${inWords(members)} are still broken (${namesOf(inOrder(members), labelsFor(members))})`;
}

function untilWhen(fix: Remediation, context: MessageContext): string[] {
  if (!canBeApproved(fix, context.nowMs) || !context.approvable(fix)) return [];
  return [`until ${timesIn(context.timeZone, context.nowMs).minute(expiresAtMs(fix))}`];
}
