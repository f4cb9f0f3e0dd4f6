import type { Remediation } from '../../kube/remediation.ts';
import { counted } from '../../lib/text.ts';
import { encodePage, onPage, type PageRef } from '../payload.ts';
import type { MessageContext } from './card-context.ts';
import { inListOrder, labelsFor, listCards, numberedButtons, withoutReplaced } from './compose.ts';
import { needsSomebody } from './head.ts';
import type { Button, Message } from './message.ts';

/** As many as a person can read and press on a phone. */
const pageSize = 10;

/**
 * One page of all members of a message, each with its own button. A page number that does not exist becomes the nearest
 * one that does. The order does not change with a decision, so turning the page after a press skips nothing.
 */
export function composePage(members: readonly Remediation[], context: MessageContext, wanted: PageRef): Message {
  const all = inListOrder(withoutReplaced(members));
  const pages = Math.max(Math.ceil(all.length / pageSize), 1);
  const ref = { notice: wanted.notice, page: Math.min(Math.max(wanted.page, 1), pages) };
  const from = (ref.page - 1) * pageSize;
  const shown = all.slice(from, from + pageSize).map((fix, index) => ({ fix, number: from + index + 1 }));
  const numbered = numberedButtons(shown, context).map((row) => row.map((button) => onPage(button, ref)));
  return {
    title: titleOf(all, from, shown.length, ref.page, pages),
    cards: listCards(shown, labelsFor(all), context),
    isList: true,
    buttons: [...numbered, ...turning(ref, pages)],
    silent: true,
  };
}

function titleOf(all: readonly Remediation[], from: number, count: number, page: number, pages: number) {
  const dot = all.some(needsSomebody) ? 'red' : 'grey';
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
