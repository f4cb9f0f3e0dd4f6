import type { NoticeSpec } from '../../kube/notice.ts';
import { type Remediation, replacedIn, severityOf } from '../../kube/remediation.ts';
import { encodePage, verbIn } from '../payload.ts';
import {
  againButton,
  attentionLines,
  buttonsInShort,
  buttonsOf,
  confirmingNow,
  epilogue,
  fixRow,
  footerOf,
  rowsOf,
  subtitleOf,
} from './body.ts';
import { type CardContext, cardContext, type MessageContext } from './card-context.ts';
import {
  headOf,
  inOrder,
  isOverInChat,
  isSettled,
  isUnattended,
  isUnderWay,
  needsSomebody,
  shownPhase,
  stillOpen,
} from './head.ts';
import type { Button, Card, Dot, Message } from './message.ts';
import { composeStorm } from './storm-words.ts';
import { actionWords, isShared, placeOf, readiness, subjectOf } from './subject.ts';
import { timesIn } from './times.ts';

/* Only for messages about several incidents: how each is labelled, and the title for all of them. */

type Label = (fix: Remediation) => string;

const nameOf: Label = ({ spec }) => spec.incident.object.name;
const placed: Label = (fix) => [placeOf(fix), nameOf(fix)].filter(Boolean).join('/');
const whole: Label = (fix) => [placeOf(fix), fix.spec.incident.object.kind, nameOf(fix)].filter(Boolean).join('/');

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** The one namespace that all of them are in; undefined when there are several. */
export function sharedNamespace(shown: readonly Remediation[]): string | undefined {
  const [first, ...others] = new Set(shown.map(placeOf));
  return others.length === 0 ? first : undefined;
}

/** The label of each on buttons and in the title. Two teams may both have an "api". */
export function labelsFor(shown: readonly Remediation[]): Label {
  const ways = sharedNamespace(shown) === undefined ? [placed] : [nameOf, placed];
  return ways.find((label) => areDistinct(shown.map(label))) ?? whole;
}

/** The place of all of them. If there are several namespaces, each headline names its own. */
export const whereAll = (shown: readonly Remediation[], cluster: string): string =>
  [sharedNamespace(shown), cluster].filter(Boolean).join(' · ');

const mostNamed = 3;

/** The lock-screen line for all of them. */
function titleOf(shown: readonly Remediation[], dots: readonly Dot[]): { dot: Dot; text: string } {
  const failing = shown.filter(needsSomebody);
  const underWay = shown.filter(isUnderWay);
  const namespace = sharedNamespace(shown);
  const where = namespace ? ` in ${namespace}` : '';
  const names = (some: readonly Remediation[]): string => namesOf(some, labelsFor(shown));
  if (failing.length === shown.length) {
    const what = shown.some(isShared) ? 'incidents' : 'workloads are failing';
    return { dot: worstOf(failing), text: `${shown.length} ${what}${where}: ${names(failing)}` };
  }
  if (failing.length > 0) {
    const text = `${failing.length} of ${shown.length} ${stillOpen(shown)}${where}: ${names(failing)}`;
    return { dot: worstOf(failing), text };
  }
  const dot = calmest.find((one) => dots.includes(one)) ?? 'grey';
  if (underWay.length === 0) return { dot, text: `All ${shown.length} are over${where}` };
  return { dot, text: `${underWay.length} of ${shown.length} being fixed${where}: ${names(underWay)}` };
}

/** The title of a boot message: what was broken when tapfix started, and how many are still broken. */
function bootTitleOf(shown: readonly Remediation[]): { dot: Dot; text: string } {
  const what = shown.length === 1 ? '1 thing was' : `${shown.length} things were`;
  const label = labelsFor(shown);
  const others = shown.length > mostNamed ? ` and ${shown.length - mostNamed} more` : '';
  const names = `${shown.slice(0, mostNamed).map(label).join(', ')}${others}`;
  return { dot: 'grey', text: `tapfix started: ${what} already broken (${names})${sinceStart(shown)}` };
}

function sinceStart(shown: readonly Remediation[]): string {
  const failing = shown.filter(needsSomebody).length;
  const underWay = shown.filter(isUnderWay).length;
  if (failing === shown.length || shown.length === 1) return '';
  if (failing > 0) return `; ${failing} ${stillOpen(shown)}`;
  return underWay > 0 ? `; ${underWay} being fixed` : '; all are over';
}

export const worstOf = (failing: readonly Remediation[]): Dot =>
  failing.some((fix) => severityOf(fix) === 'critical') ? 'red' : 'orange';

/** When nobody is needed, the title takes the first of these dots that occurs: the least advanced state. */
const calmest: readonly Dot[] = ['yellow', 'blue', 'green', 'grey'];

function namesOf(some: readonly Remediation[], label: Label): string {
  const names = some.slice(0, mostNamed).map((fix) => [label(fix), readiness(fix).replace(' ready', '')]);
  const others = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
  return `${names.map((parts) => parts.filter(Boolean).join(' ')).join(', ')}${others}`;
}

/** One Remediation in full: what is broken, what changed, why, what the fix does, what could go wrong, until when. */
export function composeCard(fix: Remediation, context: CardContext): Card {
  const head = headOf(fix, context);
  if (isOverInChat(fix)) {
    const [subtitle, footer, buttons] = [whereAndWhen(fix, context), epilogue(fix, context), againButton(fix, context)];
    return { ...head, subtitle, rows: [], footer, buttons };
  }
  const subtitle = subtitleOf(fix, context);
  const phase = shownPhase(fix);
  if (phase !== 'Proposed' && phase !== 'Noticed')
    return { ...head, subtitle, rows: fixRow(fix), footer: [], buttons: [] };
  const rows = rowsOf(fix, context);
  return { ...head, subtitle, rows, footer: footerOf(fix, context), buttons: buttonsOf(fix, context) };
}

const placeIn = (fix: Remediation, { cluster }: Pick<CardContext, 'cluster'>): string =>
  [placeOf(fix), cluster].filter(Boolean).join(' · ');

function whereAndWhen(fix: Remediation, context: CardContext): string {
  const where = placeIn(fix, context);
  if (shownPhase(fix) === 'Recovered') return where;
  return `${where} · seen ${timesIn(context.timeZone, context.nowMs).atZoned(fix.spec.incident.firstSeen)}`;
}

/**
 * More would not be read on a phone, nor fit in a message. Members that can be decided come first, and move back once
 * decided.
 */
const mostCards = 10;

/** One message about all its members: the most severe open one in full, the others in a line each. */
export function composeMessage(
  members: readonly Remediation[],
  context: MessageContext,
  form: NoticeSpec['form'] = 'card',
): Message {
  if (form === 'storm') return composeStorm(withoutReplaced(members), context);
  const shown = inOrder(withoutReplaced(members));
  const silent = shown.every((fix) => (isSettled(fix) && !isUnattended(fix)) || severityOf(fix) !== 'critical');
  const [first] = shown;
  if (!first) return { cards: [], silent };
  const bootTitle = form === 'boot' ? { title: bootTitleOf(shown) } : {};
  if (shown.length === 1) return { ...bootTitle, cards: [composeCard(first, cardContext(first, context))], silent };
  const label = labelsFor(shown);
  const where = (fix: Remediation): string =>
    sharedNamespace(shown) === undefined && placeOf(fix) ? `${placeOf(fix)}: ` : '';
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
    ...bootTitle,
    cards: saysWhere(cards, whereAll(shown, context.cluster)),
    silent,
    ...(more > 0 && restOf(more, shown.length, context)),
  };
}

/** Every message names the cluster. If no card is shown in full, the first card names it. */
const saysWhere = (cards: Card[], subtitle: string): Card[] =>
  cards.some((card) => card.subtitle)
    ? cards
    : cards.map((card, index) => (index === 0 ? { ...card, subtitle } : card));

/** Members that do not fit are one tap away. */
function restOf(more: number, all: number, { notice }: MessageContext): Pick<Message, 'rest' | 'buttons'> {
  const data = notice === undefined ? undefined : encodePage({ notice, page: 1 });
  if (data === undefined) return { rest: `and ${more} more: kubectl get fix -A` };
  return { rest: `and ${more} more`, buttons: [[{ label: `+${more} more: show all ${all}`, data }]] };
}

/** A successor's card also covers the one it replaces. */
export function withoutReplaced(members: readonly Remediation[]): Remediation[] {
  const replaced = replacedIn(members);
  return members.filter((fix) => !replaced.has(fix.metadata.uid));
}

/** Buttons of several cards are below one message, so each label starts with its owner: a phone cuts off the end. */
export function named(card: Card, label: string): Card {
  const isNamed = ({ data, label: words }: Button): boolean => verbIn(data) === 'c' && words.includes(label);
  const whose = (button: Button): Button =>
    isNamed(button) ? button : { ...button, label: `${label} · ${button.label}` };
  return { ...card, buttons: card.buttons.map((row) => row.map(whose)) };
}

export function inOneLine(card: Card, fix: Remediation, context: MessageContext): Card {
  const words = actionWords(fix);
  const buttons = buttonsInShort(card.buttons);
  const rows = buttons.length > 0 && words && !isOverInChat(fix) ? [{ label: 'Fix', lines: [words.summary] }] : [];
  const isSaid = isUnattended(fix) || confirmingNow(fix, cardContext(fix, context)) !== undefined;
  const footer = isSaid ? card.footer : isOverInChat(fix) ? [] : attentionLines(fix, cardContext(fix, context));
  return { dot: card.dot, headline: card.headline, rows, footer, buttons };
}

/** The last edit of a message whose Remediations are gone: it has no buttons any more. */
export function composeFarewell(members: readonly Remediation[], context: MessageContext): Message {
  const cards = inOrder(withoutReplaced(members)).map((fix): Card => {
    if (isOverInChat(fix)) return composeCard(fix, cardContext(fix, context));
    const what =
      fix.spec.approval.state === 'Pending'
        ? 'its record was deleted, nothing was changed by tapfix'
        : 'the record of its fix was deleted, tapfix no longer watches it';
    const subtitle = placeIn(fix, context);
    return { dot: 'grey', headline: `${subjectOf(fix)}: ${what}`, subtitle, rows: [], footer: [], buttons: [] };
  });
  const more = cards.length - mostCards;
  return { cards: cards.slice(0, mostCards), silent: true, ...(more > 0 && { rest: `and ${more} more` }) };
}
