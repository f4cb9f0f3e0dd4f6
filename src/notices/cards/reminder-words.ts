import { expiresAtMs, type Remediation, severityOf } from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import type { ReminderKind } from '../plan/reminder.ts';
import { canBeApproved, cardContext, type MessageContext } from './card-context.ts';
import { labelsFor, whereAll } from './compose.ts';
import { headOf, inOrder } from './head.ts';
import type { Message } from './message.ts';
import { subjectOf, whatIsBroken } from './subject.ts';
import { timesIn } from './times.ts';

/** One short line in reply to the card. The buttons are on the card. */
export function composeReminder(kind: ReminderKind, members: readonly Remediation[], context: MessageContext): Message {
  const [first] = inOrder(members);
  const silent = members.every((fix) => severityOf(fix) === 'info');
  if (!first) return { cards: [], silent };
  const isCritical = members.some((fix) => severityOf(fix) === 'critical');
  const headline = `${intro[kind](members, context)}${kind === 'failed' ? headOf(first, cardContext(first, context)).headline : what(members)}`;
  const dot = isCritical || kind === 'failed' ? 'red' : 'orange';
  const subtitle = whereAll(members, context.cluster);
  return { cards: [{ dot, headline, subtitle, rows: [], footer: untilWhen(first, context), buttons: [] }], silent };
}

const sinceMs = (members: readonly Remediation[]): number =>
  Math.min(...members.map(({ spec }) => Date.parse(spec.incident.firstSeen)));

const intro: Readonly<Record<ReminderKind, (members: readonly Remediation[], context: MessageContext) => string>> = {
  unanswered: (members, { nowMs }) => `Nobody has answered, broken for ${spokenDuration(nowMs - sinceMs(members))}: `,
  snoozeOver: () => 'No longer silent: ',
  failed: () => '',
  worse: () => 'It got worse: ',
};

const mostNamed = 3;

function what(members: readonly Remediation[]): string {
  const [first, ...others] = inOrder(members);
  if (others.length === 0) return whatIsBroken(first!);
  const named = inOrder(members).slice(0, mostNamed).map(labelsFor(members));
  const more = members.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function untilWhen(fix: Remediation, context: MessageContext): string[] {
  if (!canBeApproved(fix, context.nowMs) || !context.approvable(fix)) return [];
  const until = timesIn(context.timeZone, context.nowMs).minuteZoned(expiresAtMs(fix));
  return [`${subjectOf(fix)} can be approved until ${until}`];
}
