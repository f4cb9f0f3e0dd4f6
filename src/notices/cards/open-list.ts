import { type Remediation, shortIdOf } from '../../kube/remediation.ts';
import { verbIn } from '../payload.ts';
import type { MessageContext } from './card-context.ts';
import { composeMessage } from './compose.ts';
import type { Button, Card, Message } from './message.ts';
import { isShared, placeOf } from './subject.ts';

/** As many as a person can read and press on a phone. The others have a line without buttons, as far as there is room. */
const mostWithButtons = 10;
const mostListed = 25;

/**
 * Everything that is broken, one line and one number each, in the order in which it is given. The numbers stand on the
 * buttons as well.
 */
export function composeOpenList(fixes: readonly Remediation[], context: MessageContext): Message {
  if (fixes.length === 1) return { ...composeMessage(fixes, context), silent: true };
  const cards = fixes.slice(0, mostListed).map((fix, index) => numbered(fix, index, context));
  const more = fixes.length - cards.length;
  const what = fixes.some(isShared) ? 'incidents are open' : 'workloads are broken';
  const dot = cards.some((card) => card.dot === 'red') ? 'red' : (cards[0]?.dot ?? 'grey');
  return {
    title: { dot, text: `${fixes.length} ${what}, ${context.cluster}` },
    cards,
    ...(more > 0 && { rest: `and ${more} more: kubectl get fix -A` }),
    silent: true,
  };
}

function numbered(fix: Remediation, index: number, context: MessageContext): Card {
  const [{ dot, headline, buttons } = nothing] = composeMessage([fix], context).cards;
  const line = [headline, placeOf(fix), shortIdOf(fix)].filter(Boolean).join(' · ');
  const number = index + 1;
  const rows = number <= mostWithButtons ? inShort(buttons).map((row) => row.map(named(number))) : [];
  return { dot, headline: `${number} ${line}`, rows: [], footer: [], buttons: rows };
}

const nothing: Card = { dot: 'grey', headline: '', rows: [], footer: [], buttons: [] };

const named =
  (number: number) =>
  (button: Button): Button => ({ ...button, label: `${number} ${button.label}` });

/** The buttons that decide, or else Details. */
function inShort(rows: readonly Button[][]): Button[][] {
  const having = (verbs: string): Button[][] =>
    rows.map((row) => row.filter(({ data }) => verbs.includes(verbIn(data)))).filter((row) => row.length > 0);
  const deciding = having('arg');
  return deciding.length > 0 ? deciding : having('d');
}
