import type { Remediation } from '../kube/remediation.ts';
import { actionWords } from './action-words.ts';
import { buttonsOf, confirmingNow, epilogue, fixRow, footerOf, rowsOf, subtitleOf } from './body.ts';
import { labelsFor, sharedNamespace, titleOf } from './company.ts';
import type { CardContext, MessageContext } from './context.ts';
import { cardContext } from './context.ts';
import { headOf, isOverInChat, isSettled, isUnattended, shownPhase } from './head.ts';
import type { Button, Card, Message } from './message.ts';
import { inOrder, needsSomebody } from './order.ts';
import { subjectOf } from './subject.ts';
import { timesIn } from './times.ts';

/** One Remediation in full: what is broken, what changed, why, what the fix does, what could go wrong, until when. */
export function composeCard(fix: Remediation, context: CardContext): Card {
  const head = headOf(fix, context);
  if (isOverInChat(fix)) {
    return { ...head, subtitle: whereAndWhen(fix, context), rows: [], footer: epilogue(fix, context), buttons: [] };
  }
  const subtitle = subtitleOf(fix, context);
  const phase = shownPhase(fix);
  if (phase !== 'Proposed' && phase !== 'Noticed')
    return { ...head, subtitle, rows: fixRow(fix), footer: [], buttons: [] };
  const rows = rowsOf(fix, context);
  return { ...head, subtitle, rows, footer: footerOf(fix, context), buttons: buttonsOf(fix, context) };
}

function whereAndWhen(fix: Remediation, context: CardContext): string {
  const where = `${fix.metadata.namespace} · ${context.cluster}`;
  if (shownPhase(fix) === 'Recovered') return where;
  return `${where} · seen ${timesIn(context.timeZone, context.nowMs).atZoned(fix.spec.incident.firstSeen)}`;
}

/** More would not be read on a phone, nor fit in a message. What can be decided comes first, and moves back when it is. */
const mostCards = 20;

/** One message about all its members: the most severe open one in full, the others in a line each. */
export function composeMessage(members: readonly Remediation[], context: MessageContext): Message {
  const shown = inOrder(withoutReplaced(members));
  const silent = shown.every((fix) => (isSettled(fix) && !isUnattended(fix)) || fix.spec.incident.severity === 'info');
  const [first] = shown;
  if (!first) return { cards: [], silent };
  if (shown.length === 1) return { cards: [composeCard(first, cardContext(first, context))], silent };
  const label = labelsFor(shown);
  const where = (fix: Remediation): string =>
    sharedNamespace(shown) === undefined ? `${fix.metadata.namespace}: ` : '';
  const cards = shown.slice(0, mostCards).map((fix, index) => {
    const inFull = index === 0 && needsSomebody(fix) && !isOverInChat(fix);
    const whole = composeCard(fix, cardContext(fix, context));
    const card = inFull ? whole : inOneLine(whole, fix, context);
    return named({ ...card, headline: `${where(fix)}${card.headline}` }, label(fix));
  });
  const more = shown.length - cards.length;
  const dots = shown.map((fix) => headOf(fix, cardContext(fix, context)).dot);
  return {
    title: titleOf(shown, dots),
    cards,
    silent,
    ...(more > 0 && { rest: `and ${more} more: kubectl get fix -A` }),
  };
}

/** A successor speaks for what it replaces. */
function withoutReplaced(members: readonly Remediation[]): Remediation[] {
  const replaced = new Set(members.map((fix) => fix.spec.follows?.uid));
  return members.filter((fix) => !replaced.has(fix.metadata.uid));
}

/** Buttons of several cards hang below one message: each says whose it is, and first, because a phone cuts off the end. */
function named(card: Card, label: string): Card {
  const isNamed = ({ data, label: words }: Button): boolean => data.startsWith('c:') && words.includes(label);
  const whose = (button: Button): Button =>
    isNamed(button) ? button : { ...button, label: `${label} · ${button.label}` };
  return { ...card, buttons: card.buttons.map((row) => row.map(whose)) };
}

function inOneLine(card: Card, fix: Remediation, context: MessageContext): Card {
  const words = actionWords(fix);
  const rows = card.buttons.length > 0 && words ? [{ label: 'Fix', lines: [words.summary] }] : [];
  const isSaid = isUnattended(fix) || confirmingNow(fix, cardContext(fix, context)) !== undefined;
  const footer = isSaid ? card.footer : [];
  return { dot: card.dot, headline: card.headline, rows, footer, buttons: card.buttons };
}

/** The last word of a message whose Remediations are gone: nothing on it can be pressed any more. */
export function composeFarewell(members: readonly Remediation[], context: MessageContext): Message {
  const cards = inOrder(withoutReplaced(members)).map((fix): Card => {
    if (isOverInChat(fix)) return composeCard(fix, cardContext(fix, context));
    const what =
      fix.spec.approval.state === 'Pending'
        ? 'its record was deleted, nothing was changed by tapfix'
        : 'the record of its fix was deleted, tapfix no longer watches it';
    const subtitle = `${fix.metadata.namespace} · ${context.cluster}`;
    return { dot: 'grey', headline: `${subjectOf(fix)}: ${what}`, subtitle, rows: [], footer: [], buttons: [] };
  });
  return { cards: cards.slice(0, mostCards), silent: true };
}
