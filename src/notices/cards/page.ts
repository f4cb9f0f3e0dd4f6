import { type Remediation, severityRank } from '../../kube/remediation.ts';
import { counted } from '../../lib/text.ts';
import { encodePage, onPage, type PageRef } from '../payload.ts';
import { cardContext, type MessageContext } from './card-context.ts';
import { composeCard, inOneLine, labelsFor, named, sharedNamespace, withoutReplaced, worstOf } from './compose.ts';
import { needsSomebody } from './head.ts';
import type { Button, Card, Message } from './message.ts';
import { placeOf } from './subject.ts';

/** As many as a person can read and press on a phone. */
const pageSize = 10;

/**
 * This order does not change with a decision, so turning the page after a press skips nothing. The most severe comes
 * first, then by age.
 */
const rank = (fix: Remediation): string => [severityRank(fix), fix.spec.incident.firstSeen, fix.metadata.uid].join(' ');
const inPageOrder = (members: readonly Remediation[]): Remediation[] =>
  members
    .map((fix) => [rank(fix), fix] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, fix]) => fix);

/**
 * One page of all members of a message, each with its own buttons. A page number that does not exist becomes the
 * nearest one that does.
 */
export function composePage(members: readonly Remediation[], context: MessageContext, wanted: PageRef): Message {
  const all = inPageOrder(withoutReplaced(members));
  const pages = Math.max(Math.ceil(all.length / pageSize), 1);
  const ref = { notice: wanted.notice, page: Math.min(Math.max(wanted.page, 1), pages) };
  const from = (ref.page - 1) * pageSize;
  const shown = all.slice(from, from + pageSize);
  const label = labelsFor(shown);
  const isOnePlace = sharedNamespace(all) !== undefined;
  const cards = shown.map((fix): Card => {
    const card = inOneLine(composeCard(fix, cardContext(fix, context)), fix, context);
    const where = isOnePlace || !placeOf(fix) ? '' : `${placeOf(fix)}: `;
    const { buttons, ...rest } = named({ ...card, headline: `${where}${card.headline}` }, label(fix));
    return { ...rest, buttons: buttons.map((row) => row.map((button) => onPage(button, ref))) };
  });
  return {
    title: titleOf(all, from, shown.length, ref.page, pages),
    cards,
    buttons: turning(ref, pages),
    silent: true,
  };
}

function titleOf(all: readonly Remediation[], from: number, count: number, page: number, pages: number) {
  const failing = all.filter(needsSomebody);
  const dot = failing.length > 0 ? worstOf(failing) : 'grey';
  const range = count > 1 ? `${from + 1} to ${from + count}` : `${from + 1}`;
  const what = counted(all.length, 'incident');
  return { dot, text: pages === 1 ? `All ${what}` : `${range} of ${what}, page ${page} of ${pages}` } as const;
}

/** Only buttons that lead to another page. */
function turning({ notice, page }: PageRef, pages: number): Button[][] {
  const to = (label: string, target: number): Button[] => {
    const data = encodePage({ notice, page: target });
    return data && target !== page ? [{ label, data }] : [];
  };
  const beside = [...to('‹ Previous', Math.max(page - 1, 1)), ...to('Next ›', Math.min(page + 1, pages))];
  const ends = pages > 3 ? [...to('« First', 1), ...to('Last »', pages)] : [];
  const rows = beside.length + ends.length > 2 ? [beside, ends] : [[...beside, ...ends]];
  return rows.filter((row) => row.length > 0);
}
