import type { Command } from '../channels/channel.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { isSettled } from '../notices/head.ts';
import { contextFor } from '../notices/notice-body.ts';
import { inOrder } from '../notices/order.ts';
import { renderingOf } from '../notices/rendering.ts';
import { addressesOf, everyChat } from '../notices/route.ts';
import type { Hall } from './hall.ts';
import { refuse, type Refusal } from './rules.ts';

/** Whether tapfix speaks in this chat at all: who adds it to another one learns nothing there. */
export const isSpokenHere = ({ channel, place }: Command, { current }: Hall): boolean =>
  everyChat(current()).some((one) => one.channel === channel && one.chat === place.chat);

/** Told in this chat, or to be told there; what a newer proposal replaced is not. */
export function toldHere({ channel, place }: Command, { fixes, current, noticesWith }: Hall): Remediation[] {
  const all = fixes();
  const replaced = new Set(all.map(({ spec }) => spec.follows?.uid));
  const isHere = (fix: Remediation): boolean =>
    [...addressesOf(current(), fix.metadata.namespace ?? ''), ...noticesWith(fix.metadata.uid).map(({ spec }) => spec)] //
      .some((one) => one.channel === channel && one.chat === place.chat);
  return inOrder(all.filter((fix) => !replaced.has(fix.metadata.uid) && isHere(fix)));
}

export const openHere = (command: Command, hall: Hall): Remediation[] =>
  toldHere(command, hall).filter((fix) => !isSettled(fix));

type Found = { ok: true; fix: Remediation; rest: string[] } | Refusal;

/** By its name, its workload's name, or the card that it is a reply to; `rest` is what else was written. */
export function findFix(command: Command, words: readonly string[], hall: Hall): Found {
  const [word = '', ...rest] = words;
  const here = toldHere(command, hall);
  const named = word ? byName(word, here) : [];
  if (named.length === 1) return { ok: true, fix: named[0]!, rest };
  if (named.length > 1) return which(named);
  const replied = command.replyTo === undefined ? [] : onCard(command, command.replyTo, here, hall);
  if (replied.length === 1) return { ok: true, fix: replied[0]!, rest: [...words] };
  if (replied.length > 1) return which(replied);
  return word
    ? refuse('NotThere', `There is nothing called ${word.slice(0, 60)} here; /open says what there is.`)
    : refuse('NotUnderstood', 'Say which: reply to its card, or write its name; /open says what there is.');
}

const fullName = ({ metadata }: Remediation): string => `${metadata.namespace}/${metadata.name}`;

function byName(word: string, here: readonly Remediation[]): Remediation[] {
  const exact = here.filter((fix) => fix.metadata.name === word || fullName(fix) === word);
  if (exact.length > 0) return exact;
  const isCalled = ({ metadata, spec }: Remediation): boolean =>
    [spec.incident.object.name, `${metadata.namespace}/${spec.incident.object.name}`].includes(word);
  return here.filter((fix) => !isSettled(fix) && isCalled(fix));
}

function onCard(command: Command, message: string, here: readonly Remediation[], hall: Hall): Remediation[] {
  const uids = hall.noticeAt(command.channel, command.place, message)?.spec.members.map(({ uid }) => uid) ?? [];
  const members = here.filter(({ metadata }) => uids.includes(metadata.uid));
  const open = members.filter((fix) => !isSettled(fix));
  return open.length > 0 ? open : members;
}

const which = (some: readonly Remediation[]): Refusal =>
  refuse('NotUnderstood', `Say which: ${some.slice(0, 4).map(fullName).join(', ')}${some.length > 4 ? '...' : ''}`);

/** The card of it in this chat, if there is one. */
export const cardOf = ({ channel, place }: Command, fix: Remediation, hall: Hall): Notice | undefined =>
  hall
    .noticesWith(fix.metadata.uid)
    .find(({ spec, status }) => spec.channel === channel && spec.chat === place.chat && status?.message);

/** What is on the phone is what there is: whoever writes "approve" has nothing else to go by. */
export function isUpToDate(card: Notice, hall: Hall): boolean {
  const { clock, current, timeZone, confirms, fixes, ownNamespace: namespace } = hall;
  const uids = new Set(card.spec.members.map(({ uid }) => uid));
  const members = fixes().filter(({ metadata }) => uids.has(metadata.uid));
  const context = contextFor(card, { config: current(), nowMs: clock.now(), timeZone, confirms, namespace });
  return renderingOf(card, { members }, context).wanted.shown === card.status?.shown;
}
