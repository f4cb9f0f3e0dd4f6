import type { ChannelName, Place } from '../../channels/channel.ts';
import { isBroken, type Remediation, severityOf, severityRank, shortIdOf } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import type { MessageContext } from './card-context.ts';
import { whereAll } from './compose.ts';
import { inOrder } from './head.ts';
import type { Alert, AlertedIncident, Mention, Message } from './message.ts';
import { answerOf, composeAnswered, stillBroken } from './reminder-words.ts';

/** An escalation shows this besides its incidents. */
export interface EscalationFrame {
  /** The same in all its events. */
  id: string;
  mentions: readonly Mention[];
  /** Where the cards of these incidents are. */
  cards: readonly (Place & { channel: ChannelName })[];
}

const vendors: Readonly<Record<ChannelName, string>> = {
  telegram: 'Telegram chat',
  slack: 'Slack channel',
  console: '',
  webhook: '',
};

/** In a chat: one line, who is called, and where the card with the buttons is. It has no buttons of its own. */
export function composeEscalation(
  event: Alert['event'],
  members: readonly Remediation[],
  context: MessageContext,
  frame: EscalationFrame,
): Message {
  const alert = alertOf(event, members, context, frame.id);
  if (event !== 'trigger') return { ...composeAnswered(members, context), alert };
  const nobody = members.some((fix) => answerOf(fix, context) !== undefined) ? 'since' : '';
  const headline = `${stillBroken(members, context)}. ${['Nobody has answered', nobody].filter(Boolean).join(' ')}.`;
  const places = frame.cards
    .filter(({ channel }) => vendors[channel] !== '')
    .map(({ channel, chat }) => `${vendors[channel]} ${chat}`);
  const footer = places.length > 0 ? [`Answer on the card: ${[...new Set(places)].join(', ')}`] : [];
  const subtitle = whereAll(members, context.cluster);
  const card = { dot: 'red' as const, headline, subtitle, rows: [], footer, buttons: [] };
  return { cards: [card], silent: false, alert, ...(frame.mentions.length > 0 && { mentions: [...frame.mentions] }) };
}

/** A storm has a thousand incidents, and PagerDuty takes 512 KB. */
const mostIncidents = 50;

function alertOf(event: Alert['event'], members: readonly Remediation[], context: MessageContext, id: string): Alert {
  const all = inOrder(members);
  const broken = all.filter(isBroken);
  const worst = all.toSorted((a, b) => severityRank(a) - severityRank(b))[0];
  const more = all.length - mostIncidents;
  const [answered] = composeAnswered(members, context).cards;
  return {
    event,
    id: `tapfix-${id}`,
    at: iso(context.nowMs),
    cluster: context.cluster,
    severity: worst ? severityOf(worst) : 'critical',
    summary: event === 'trigger' ? stillBroken(broken.length > 0 ? broken : all, context) : (answered?.headline ?? ''),
    incidents: all.slice(0, mostIncidents).map(incidentOf),
    ...(more > 0 && { more }),
  };
}

function incidentOf(fix: Remediation): AlertedIncident {
  const { object, class: failure, firstSeen } = fix.spec.incident;
  const { ready, desired } = fix.status?.sightings ?? {};
  return {
    id: shortIdOf(fix),
    namespace: fix.metadata.namespace ?? '',
    kind: object.kind,
    name: object.name,
    class: failure,
    severity: severityOf(fix),
    since: firstSeen,
    fix: fix.metadata.name,
    ...(ready !== undefined && { ready }),
    ...(desired !== undefined && { desired }),
  };
}
