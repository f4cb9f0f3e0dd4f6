import type { NoticeSpec } from '../../kube/notice.ts';
import {
  expiresAtMs,
  type Remediation,
  replacedIn,
  severityOf,
  severityRank,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { redact } from '../../lib/redact.ts';
import { encodeAll, encodePage, encodePress } from '../payload.ts';
import { composeCard, confirmingNow, decisionButtons } from './body.ts';
import { canBeApproved, cardContext, isPending, type MessageContext } from './card-context.ts';
import { shortCause } from './cause.ts';
import { fixWords } from './fix-words.ts';
import {
  decided,
  headOf,
  inNaturalOrder,
  inOrder,
  isSettled,
  isUnattended,
  isUnderWay,
  mayBeProposedAgain,
  needsSomebody,
  shownPhase,
} from './head.ts';
import type { Button, Card, Dot, Message } from './message.ts';
import { composeStorm } from './storm-words.ts';
import { isShared, placeOf, readiness, shortName, subjectFirst } from './subject.ts';
import { timesIn } from './times.ts';

/* Messages about several incidents: a title for all of them, then a numbered line for each, then numbered buttons. */

type Label = (fix: Remediation) => string;

const nameOf: Label = ({ spec }) => shortName(spec.incident.object.name);
const placed: Label = (fix) => [shortName(placeOf(fix)), nameOf(fix)].filter(Boolean).join('/');
const whole: Label = (fix) =>
  [shortName(placeOf(fix)), fix.spec.incident.object.kind, nameOf(fix)].filter(Boolean).join('/');

const areDistinct = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;

/** The one namespace that all of them are in; undefined when there are several. */
function sharedNamespace(shown: readonly Remediation[]): string | undefined {
  const [first, ...others] = new Set(shown.map(placeOf));
  return others.length === 0 ? first : undefined;
}

/** How each is called in the lines and in a title. Two teams may both have an "api". */
export function labelsFor(shown: readonly Remediation[]): Label {
  const ways = sharedNamespace(shown) === undefined ? [placed] : [nameOf, placed];
  return ways.find((label) => areDistinct(shown.map(label))) ?? whole;
}

/** The place of all of them. If there are several namespaces, each line names its own. */
export const whereAll = (shown: readonly Remediation[], cluster: string): string =>
  [shortName(sharedNamespace(shown) ?? ''), cluster].filter(Boolean).join(' · ');

const mostNamed = 3;

/** "api, web and 3 more" */
export function namesOf(some: readonly Remediation[], label: Label): string {
  const others = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
  return `${some.slice(0, mostNamed).map(label).join(', ')}${others}`;
}

/** "3 workloads", or "3 things" if one of them is something else. */
export function inWords(some: readonly Remediation[]): string {
  const isOther = ({ spec }: Remediation): boolean =>
    ['PersistentVolumeClaim', 'HorizontalPodAutoscaler'].includes(spec.incident.object.kind);
  const noun = some.some((fix) => isShared(fix) || isOther(fix)) ? 'thing' : 'workload';
  return `${some.length} ${noun}${some.length === 1 ? '' : 's'}`;
}

/** The lock-screen line for all of them. */
function titleOf(shown: readonly Remediation[], dots: readonly Dot[]): { dot: Dot; text: string } {
  const broken = shown.filter(needsSomebody).length;
  const underWay = shown.filter(isUnderWay).length;
  const namespace = sharedNamespace(shown);
  const where = namespace ? ` in ${shortName(namespace)}` : '';
  if (broken === shown.length) return { dot: 'red', text: `${inWords(shown)} are broken${where}` };
  if (broken > 0) return { dot: 'red', text: `${broken} of ${shown.length} still broken${where}` };
  const dot = calmest.find((one) => dots.includes(one)) ?? 'grey';
  if (underWay === 0) return { dot, text: `All ${shown.length} are over${where}` };
  return { dot, text: `${underWay} of ${shown.length} being fixed${where}` };
}

/** When nobody is needed, the title takes the first of these dots that occurs: the least advanced state. */
const calmest: readonly Dot[] = ['yellow', 'blue', 'green', 'grey'];

/** The title of a boot message: what was broken when tapfix started, and how many still are. */
function bootTitleOf(shown: readonly Remediation[]): { dot: Dot; text: string } {
  const what = shown.length === 1 ? '1 thing was' : `${shown.length} things were`;
  const names = namesOf(shown, labelsFor(shown));
  return { dot: 'grey', text: `tapfix started. ${what} already broken: ${names}${sinceStart(shown)}` };
}

function sinceStart(shown: readonly Remediation[]): string {
  const broken = shown.filter(needsSomebody).length;
  const underWay = shown.filter(isUnderWay).length;
  const are = (count: number): string => `${count} ${count === 1 ? 'is' : 'are'}`;
  if (broken === shown.length || shown.length === 1) return '';
  if (broken > 0) return `. ${are(broken)} still broken`;
  return underWay > 0 ? `. ${are(underWay)} being fixed` : '. All are over';
}

/** More would not be read on a phone, nor fit in a message. Members that need somebody come first. */
const mostLines = 10;

/** One message about all its members: one in full, several in a line each. */
export function composeMessage(
  members: readonly Remediation[],
  context: MessageContext,
  form: NoticeSpec['form'] = 'card',
): Message {
  if (form === 'storm') return composeStorm(withoutReplaced(members), context);
  const current = withoutReplaced(members);
  const silent = !current.some(isWorthASound);
  const [first, ...others] = current;
  if (!first) return { cards: [], silent };
  const bootTitle = form === 'boot' ? { title: bootTitleOf(inListOrder(current)) } : {};
  if (others.length === 0) return { ...bootTitle, cards: [composeCard(first, cardContext(first, context))], silent };
  const all = inListOrder(current);
  const kept = new Set(inOrder(current).slice(0, mostLines));
  const shown = all.flatMap((fix, index) => (kept.has(fix) ? [{ fix, number: index + 1 }] : []));
  const dots = all.map((fix) => headOf(fix, cardContext(fix, context)).dot);
  const buttons = [...numberedButtons(shown, context), ...buttonsOfAll(all, shown.length, context)];
  return {
    title: titleOf(all, dots),
    ...bootTitle,
    cards: listCards(shown, labelsFor(all), context),
    isList: true,
    rest: restLine(all, shown.length, context),
    buttons,
    silent,
  };
}

/** Critical, and nobody decided about it or the fix failed. */
export const isWorthASound = (fix: Remediation): boolean =>
  severityOf(fix) === 'critical' && (!isSettled(fix) || isUnattended(fix)) && shownPhase(fix) !== 'Rejected';

/** One line of a list; its number is also on its button. */
interface Numbered {
  fix: Remediation;
  number: number;
}

/** The most severe first, then by name as people count. A decision does not change this order, nor the numbers. */
export const inListOrder = (members: readonly Remediation[]): Remediation[] =>
  members.toSorted((a, b) => severityRank(a) - severityRank(b) || inNaturalOrder(a, b));

/** "1 checkout 0/3 · crashing after 1.42 · roll back" */
export const listCards = (shown: readonly Numbered[], label: Label, context: MessageContext): Card[] =>
  shown.map(({ fix, number }) => {
    const { dot, headline } = headOf(fix, cardContext(fix, context), label(fix));
    const text = needsSomebody(fix) ? brokenLine(fix, label(fix), context) : headline;
    return { dot, headline: `${number} ${text}`, rows: [], footer: [], buttons: [] };
  });

function brokenLine(fix: Remediation, label: string, context: MessageContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const name = isShared(fix) ? subjectFirst(fix) : [label, readiness(fix)].filter(Boolean).join(' ');
  const who = whoIsOnIt(fix);
  const asked = confirmingNow(fix, cardContext(fix, context));
  return [
    name,
    shortCause(fix, times),
    outcomeOf(fix, context),
    ...(who ? [`${redact(context.nameOf(who))} is on it`] : []),
    ...(asked ? [`${redact(asked.name)} is asked once more`] : []),
  ].join(' · ');
}

/** The end of a list's line: the fix that is offered, or the end of an earlier one. */
function outcomeOf(fix: Remediation, context: MessageContext): string {
  const until = timesIn(context.timeZone, context.nowMs).minute(expiresAtMs(fix));
  const { noun, short } = fixWords(fix);
  switch (shownPhase(fix)) {
    case 'Rejected':
      return decided(fix, context);
    case 'Expired':
      return fix.spec.approval.state === 'Approved' ? 'approved, not taken up' : `no decision by ${until}`;
    case 'Failed':
      return `${noun} ${fix.status?.execution?.appliedAt ? 'did not help' : 'not applied'}`;
    default:
      if (!fix.spec.action) return 'no one-tap fix';
      return isPending(fix, context.nowMs) ? short.toLowerCase() : `expired ${until}`;
  }
}

const buttonsInARow = 3;

/** One button for each that needs somebody: what decides, or else Details. A phone has no room for more. */
export function numberedButtons(shown: readonly Numbered[], context: MessageContext): Button[][] {
  const asked: Button[][] = [];
  const single: Button[] = [];
  for (const { fix, number } of shown) {
    const own = cardContext(fix, context);
    if (!own.approvable || !needsSomebody(fix)) continue;
    const named = (button: Button): Button => ({ ...button, label: `${number} ${button.label}` });
    if (confirmingNow(fix, own)) asked.push(...decisionButtons(fix, own).map((row) => row.map(named)));
    else single.push(named(buttonInList(fix, context)));
  }
  const rows = Array.from({ length: Math.ceil(single.length / buttonsInARow) }, (_, row) =>
    single.slice(row * buttonsInARow, (row + 1) * buttonsInARow),
  );
  return [...asked, ...rows];
}

function buttonInList(fix: Remediation, context: MessageContext): Button {
  if (mayBeProposedAgain(fix)) return { label: 'Propose again', data: encodePress('g', fix) };
  if (context.allowed(fix) && canBeApproved(fix, context.nowMs))
    return { label: fixWords(fix).short, data: encodePress('a', fix) };
  return { label: 'Details', data: encodePress('d', fix) };
}

/** Buttons for the whole message: the members that have no line, and "I'm on all of it". */
function buttonsOfAll(all: readonly Remediation[], shown: number, context: MessageContext): Button[][] {
  const { notice } = context;
  if (notice === undefined) return [];
  const page = all.length > shown ? encodePage({ notice, page: 1 }) : undefined;
  const mine = all.some((fix) => needsSomebody(fix) && context.approvable(fix)) ? encodeAll(notice) : undefined;
  return [
    ...(page ? [[{ label: `Show all ${all.length}`, data: page }]] : []),
    ...(mine ? [[{ label: "I'm on all of it", data: mine }]] : []),
  ];
}

/** "and 2 more · prod-eu · until 03:42": every message names the cluster, and until when something can be decided. */
function restLine(all: readonly Remediation[], shown: number, context: MessageContext): string {
  const more = all.length - shown;
  const where = sharedNamespace(all) === undefined ? '' : shortName(sharedNamespace(all)!);
  const pending = all.filter((fix) => isPending(fix, context.nowMs) && needsSomebody(fix)).map(expiresAtMs);
  const until =
    pending.length > 0 ? `until ${timesIn(context.timeZone, context.nowMs).minute(Math.min(...pending))}` : '';
  const how = context.notice === undefined ? ': kubectl get fix -A' : '';
  return [more > 0 ? `and ${more} more${how}` : '', where, context.cluster, until].filter(Boolean).join(' · ');
}

/** A successor's card also covers the one it replaces. */
export function withoutReplaced(members: readonly Remediation[]): Remediation[] {
  const replaced = replacedIn(members);
  return members.filter((fix) => !replaced.has(fix.metadata.uid));
}

/** The last edit of a message whose Remediations are gone: it has no buttons any more. */
export function composeFarewell(members: readonly Remediation[], context: MessageContext): Message {
  const cards = inOrder(withoutReplaced(members)).map((fix): Card => {
    if (isSettled(fix)) return composeCard(fix, cardContext(fix, context));
    const what =
      fix.spec.approval.state === 'Approved'
        ? 'the record of its fix was deleted, tapfix no longer watches it'
        : 'its record was deleted, nothing was changed by tapfix';
    const footer = [whereAll([fix], context.cluster)];
    return { dot: 'grey', headline: `${subjectFirst(fix)}: ${what}`, rows: [], footer, buttons: [] };
  });
  const more = cards.length - mostLines;
  return { cards: cards.slice(0, mostLines), silent: true, ...(more > 0 && { rest: `and ${more} more` }) };
}
