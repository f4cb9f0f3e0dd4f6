import type { Remediation } from '../kube/remediation.ts';
import { severities } from '../kube/remediation.ts';
import { actionWords } from './action-words.ts';
import { buttonsOf, epilogue, fixRow, footerOf, rowsOf, subtitleOf } from './body.ts';
import type { CardContext, MessageContext } from './context.ts';
import { cardContext } from './context.ts';
import { headOf, impactOf, isOverInChat, isSettled, isUnattended, shownPhase } from './head.ts';
import type { Button, Card, Message } from './message.ts';
import { isQuota } from './subject.ts';
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

/** More would not be read on a phone; as the first ones are decided, the others move up. */
const mostCards = 9;

/** One message about all its members: the most severe open one in full, the others in a line each. */
export function composeMessage(members: readonly Remediation[], context: MessageContext): Message {
  const shown = inOrder(withoutReplaced(members));
  const silent = shown.every((fix) => (isSettled(fix) && !isUnattended(fix)) || fix.spec.incident.severity === 'info');
  const [first] = shown;
  if (!first) return { cards: [], silent };
  if (shown.length === 1) return { cards: [composeCard(first, cardContext(first, context))], silent };
  const cards = shown.slice(0, mostCards).map((fix, index) => {
    const card = named(composeCard(fix, cardContext(fix, context)), fix);
    return index === 0 && !isSettled(fix) ? card : inOneLine(card, fix);
  });
  const more = shown.length - cards.length;
  return {
    title: titleOf(shown, context),
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

const rank = (fix: Remediation): number =>
  (isSettled(fix) ? severities.length : 0) + severities.indexOf(fix.spec.incident.severity);

/** What is still open first, then by severity, then by age. */
export const inOrder = (members: readonly Remediation[]): Remediation[] =>
  [...members].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      compare(a.spec.incident.firstSeen, b.spec.incident.firstSeen) ||
      compare(a.metadata.uid, b.metadata.uid),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function titleOf(shown: readonly Remediation[], context: MessageContext): { dot: Card['dot']; text: string } {
  const open = shown.filter((fix) => !isSettled(fix));
  const first = shown[0]!;
  const { dot } = headOf(first, cardContext(first, context));
  const names = open.slice(0, 3).map(impactOf).join(', ');
  const others = open.length > 3 ? ` and ${open.length - 3} more` : '';
  if (open.length === 0) return { dot, text: `All ${shown.length} are over` };
  if (open.length < shown.length)
    return { dot, text: `${open.length} of ${shown.length} still open: ${names}${others}` };
  return {
    dot,
    text: `${open.length} ${open.some(isQuota) ? 'incidents' : 'workloads are failing'}: ${names}${others}`,
  };
}

/** Buttons of several cards hang below one message: each says whose it is. */
function named(card: Card, fix: Remediation): Card {
  const whose = (button: Button): Button => ({
    ...button,
    label: `${button.label} · ${fix.spec.incident.object.name}`,
  });
  return { ...card, buttons: card.buttons.map((row) => row.map(whose)) };
}

function inOneLine(card: Card, fix: Remediation): Card {
  const words = actionWords(fix);
  const rows = card.buttons.length > 0 && words ? [{ label: 'Fix', lines: [words.summary] }] : [];
  return { dot: card.dot, headline: card.headline, rows, footer: [], buttons: card.buttons };
}
