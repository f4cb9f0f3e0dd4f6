import type { Answer, ChannelName, Command, CommandHint, Interaction, Place } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { isWatched } from '../config/selection.ts';
import type { Mute } from '../kube/mutes.ts';
import { isCard, type Notice } from '../kube/notice.ts';
import { isBroken, type Remediation, replacedIn, shortIdOf } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { naturalOrder } from '../lib/text.ts';
import { inOrder, isSettled } from '../notices/cards/head.ts';
import type { TestCards } from '../notices/outbox/test-cards.ts';
import { addressesOf, everyChat } from '../notices/plan/route.ts';
import type { Confirms } from './confirms.ts';
import { type Refusal, refuse } from './rules.ts';
import type { SubjectAccess } from './subject-access.ts';
import type { Request, VerbResult } from './verbs.ts';

/** Everything that a command may use. */
export interface CommandDeps {
  clock: Clock;
  current: () => Config;
  timeZone: string;
  /** tapfix's own namespace. */
  ownNamespace: string;
  confirms: Confirms;
  fixes(): Remediation[];
  noticeAt(channel: ChannelName, place: Place, message: string): Notice | undefined;
  noticesWith(uid: string): Notice[];
  /** Does what a button would do, by the same rules. */
  handle(request: Request): Promise<Answer>;
  /** Writes one audit line; returns the answer. */
  audit(interaction: Interaction, said: VerbResult): Answer;
  mutes: { active(): Mute[]; set(mute: Mute): Promise<void> };
  tests: Pick<TestCards, 'post'>;
  subjectAccess: SubjectAccess;
  /** The state of tapfix itself, one line each. */
  status(): string[];
}

/** A command that people can write. Each has a row in the table of commands.ts. */
export interface CommandRow extends CommandHint {
  /** The arguments that may or must follow its name. */
  takes: string;
  run(command: Command, words: readonly string[], deps: CommandDeps): Promise<Answer>;
}

/** How long something may be snoozed or muted. */
export const [shortestMs, longestMs] = [60_000, 7 * 86_400_000];

/** Whether tapfix is configured for this chat. In any other chat it reveals nothing. */
export const isOurChat = ({ channel, place }: Command, { current }: CommandDeps): boolean =>
  everyChat(current()).some((one) => one.channel === channel && one.chat === place.chat);

/** Remediations posted in this chat, or to be posted there, without those that a newer proposal replaced. */
function postedHere({ channel, place }: Command, { fixes, current, noticesWith }: CommandDeps): Remediation[] {
  const all = fixes();
  const replaced = replacedIn(all);
  const isHere = (fix: Remediation): boolean =>
    [...addressesOf(current(), fix.metadata.namespace ?? ''), ...noticesWith(fix.metadata.uid).map(({ spec }) => spec)] //
      .some((one) => one.channel === channel && one.chat === place.chat);
  return inOrder(all.filter((fix) => !replaced.has(fix.metadata.uid) && isHere(fix)));
}

/** Everything here that is not cleared, whatever became of its proposal, in natural order. */
export function openHere(command: Command, deps: CommandDeps): Remediation[] {
  const wordsOf = ({ metadata, spec }: Remediation): string => `${metadata.namespace} ${spec.incident.object.name}`;
  return postedHere(command, deps)
    .filter(isOpen)
    .filter(({ metadata }) => isWatched(deps.current(), metadata.namespace ?? '', deps.ownNamespace))
    .sort((a, b) => naturalOrder(wordsOf(a), wordsOf(b)));
}

/** Its workload is broken, or somebody is still at work on it. */
const isOpen = (fix: Remediation): boolean => isBroken(fix) || !isSettled(fix);

type Found = { ok: true; fix: Remediation; rest: string[] } | Refusal;

/** The purpose of the search. The more serious the consequence, the clearer it must be which one is meant. */
interface Purpose {
  isFor: 'looking' | 'attention' | 'deciding';
  /** The text after the name is a reason, in anybody's words. Without this, it might be a name. */
  reason?: true;
}

/**
 * Finds the fix by the card that the command replies to, by its name or its workload's name, or because nothing else is
 * open; `rest` is the remaining text.
 */
export function findFix(command: Command, words: readonly string[], deps: CommandDeps, purpose: Purpose): Found {
  const here = postedHere(command, deps);
  const members = repliedTo(command, here, deps);
  const found = members
    ? amongThese(words, members)
    : anywhere(words, here, () => theOnlyOne(command, words, here, deps, purpose));
  if (!found.ok || purpose.reason) return found;
  const { fix } = found;
  const other = found.rest.find((word) => !isCalled(fix, word) && here.some((one) => isCalled(one, word)));
  if (other === undefined) return found;
  return members ? notOnThatCard(fix, other) : which([fix, ...here.filter((one) => isCalled(one, other))]);
}

function anywhere(
  words: readonly string[],
  here: readonly Remediation[],
  onlyOne: () => Remediation | undefined,
): Found {
  const [word = '', ...rest] = words;
  const named = byName(word, here);
  if (named.length > 0) return theOne(named, rest);
  const only = onlyOne();
  if (only) return theOne([only], words);
  return word
    ? refuse('NotThere', `Nothing here is called ${word.slice(0, 60)}; /open lists what is broken.`)
    : refuse('NotUnderstood', 'Say which: reply to its card, or write its name or id; /open lists what is broken.');
}

/** If only one is open, nobody has to name it, unless the text might be the name of another one. */
function theOnlyOne(
  command: Command,
  [word]: readonly string[],
  here: readonly Remediation[],
  deps: CommandDeps,
  { isFor, reason }: Purpose,
): Remediation | undefined {
  const mayBeAName = word !== undefined && (!reason || here.some((fix) => isCalled(fix, word)));
  const [fix, ...others] = here.filter(isOpen);
  if (mayBeAName || !fix || others.length > 0) return undefined;
  if (isFor === 'looking') return fix;
  const card = cardOf(command, fix, deps);
  if (!card || (card.spec.thread ?? command.place.thread) !== command.place.thread) return undefined;
  return isFor === 'attention' || wasReadHere(card, here, deps.clock.now()) ? fix : undefined;
}

/** As long as somebody may take to read and to write. */
const writingMs = 60_000;

/**
 * People write about what they saw: if another one was open until just now, they may mean that one. A storm's message
 * does not show what would be done.
 */
function wasReadHere({ spec }: Notice, here: readonly Remediation[], nowMs: number): boolean {
  const isLongAgo = (time: string | undefined): boolean => nowMs - Date.parse(time ?? '') >= writingMs;
  const wasOverLongAgo = (fix: Remediation): boolean =>
    (fix.status?.conditions ?? []).every(({ lastTransitionTime }) => isLongAgo(lastTransitionTime)) &&
    (fix.spec.approval.at === undefined || isLongAgo(fix.spec.approval.at));
  return spec.form !== 'storm' && here.filter((fix) => !isOpen(fix)).every(wasOverLongAgo);
}

/** A reply to a card is about that card: no word makes it about another one. */
function amongThese(words: readonly string[], members: readonly Remediation[]): Found {
  const [word = '', ...rest] = words;
  const open = byName(word, members);
  const named = open.length > 0 ? open : members.filter((fix) => isCalled(fix, word));
  if (named.length > 0) return theOne(named, rest);
  const remaining = members.filter(isOpen);
  if (members.length > 0) return theOne(remaining.length > 0 ? remaining : members, words);
  return refuse('NotThere', 'What that card was about is no longer there; /open lists what is broken.');
}

const theOne = (some: readonly Remediation[], rest: readonly string[]): Found =>
  some.length === 1 ? { ok: true, fix: some[0]!, rest: [...rest] } : which(some);

const fullName = ({ metadata }: Remediation): string => `${metadata.namespace}/${metadata.name}`;

/** Accepts a name as a phone writes it: with a capital letter, and a comma after it. */
const plain = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]+$/, '');

const isNamed = (fix: Remediation, word: string): boolean => [fix.metadata.name, fullName(fix)].includes(plain(word));

/** "#3f9a1c" or "3f9a1c". */
const hasId = (fix: Remediation, word: string): boolean => shortIdOf(fix) === `#${plain(word).replace(/^#/, '')}`;

const isCalled = (fix: Remediation, word: string): boolean => {
  const { name } = fix.spec.incident.object;
  return isNamed(fix, word) || hasId(fix, word) || [name, `${fix.metadata.namespace}/${name}`].includes(plain(word));
};

/**
 * One that is over is found by its own name or its id only: its workload may have been broken many times. All of those
 * have one id, which then means the last of them.
 */
function byName(word: string, here: readonly Remediation[]): Remediation[] {
  const exact = here.filter((fix) => isNamed(fix, word));
  if (exact.length > 0) return exact;
  const open = here.filter((fix) => isOpen(fix) && isCalled(fix, word));
  if (open.length > 0) return open;
  const bornMs = ({ metadata }: Remediation): number => Date.parse(metadata.creationTimestamp);
  return here
    .filter((fix) => hasId(fix, word))
    .sort((one, other) => bornMs(other) - bornMs(one))
    .slice(0, 1);
}

/** undefined if it is not a reply, or not a reply to a card. */
function repliedTo(command: Command, here: readonly Remediation[], deps: CommandDeps): Remediation[] | undefined {
  const card = cardRepliedTo(command, deps);
  const uids = new Set(card?.spec.members.map(({ uid }) => uid));
  return uids.size === 0 ? undefined : here.filter(({ metadata }) => uids.has(metadata.uid));
}

const cardRepliedTo = ({ channel, place, replyTo }: Command, deps: CommandDeps): Notice | undefined =>
  replyTo === undefined ? undefined : deps.noticeAt(channel, place, replyTo);

/** "#3f9a1c shop/checkout" */
const idAndName = (fix: Remediation): string =>
  `${shortIdOf(fix)} ${fix.metadata.namespace}/${fix.spec.incident.object.name}`;

const which = (some: readonly Remediation[]): Refusal =>
  refuse('NotUnderstood', `Say which: ${some.slice(0, 4).map(idAndName).join(', ')}${some.length > 4 ? '...' : ''}`);

const notOnThatCard = (fix: Remediation, other: string): Refusal =>
  refuse(
    'NotUnderstood',
    `Say which: that card is about ${idAndName(fix)}, not about ${other.slice(0, 60)}; reply to the other card, or write its name or id without a reply.`,
  );

/**
 * Its card in this chat, if there is one: the one replied to comes first, and a reminder is used only if there is
 * nothing else.
 */
export function cardOf(command: Command, fix: Remediation, deps: CommandDeps): Notice | undefined {
  const { channel, place } = command;
  const isHere = ({ spec, status }: Notice): boolean =>
    spec.channel === channel && spec.chat === place.chat && status?.message !== undefined;
  const all = deps.noticesWith(fix.metadata.uid).filter(isHere);
  const cards = all.filter(isCard);
  const replied = cardRepliedTo(command, deps)?.metadata.name;
  return cards.find(({ metadata }) => metadata.name === replied) ?? cards[0] ?? all[0];
}
