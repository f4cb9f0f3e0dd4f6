import type { ChannelName, Press } from '../channels/channel.ts';
import type { Approver, Config } from '../config/schema.ts';
import { mayDecideIn } from '../config/selection.ts';
import type { Notice } from '../kube/notice.ts';
import {
  conditionOf,
  expiresAtMs,
  isBroken,
  isCleared,
  isProposedByProgram,
  isTrue,
  phaseOf,
  type Remediation,
} from '../kube/remediation.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { Question } from '../notices/cards/card-context.ts';
import { howItEnded, mayBeProposedAgain } from '../notices/cards/head.ts';
import { areOnePerson, entriesOf, nameOf } from '../notices/cards/people.ts';
import { timesIn } from '../notices/cards/times.ts';
import { isShown, type Payload } from '../notices/payload.ts';

/** Everything that decides about a press: the live Remediation and the current configuration. */
export interface PressFacts {
  press: Press;
  payload: Payload;
  fix: Remediation | undefined;
  /** The message that has the button. */
  notice: Notice | undefined;
  armed: Question | undefined;
  /** Its namespace is no longer watched. */
  isUnwatched?: boolean;
  config: Config;
  nowMs: number;
  timeZone: string;
}

export type Refusal = { ok: false; reason: RefusalReason; say: string };

export type RefusalReason =
  | 'UnknownMessage'
  | 'Gone'
  | 'NotAnApprover'
  | 'NotAllowedHere'
  | 'NotWatched'
  | 'AlreadyDecided'
  | 'AlreadyOver'
  | 'TooLate'
  | 'NotRehearsed'
  | 'NotConfirmed'
  | 'ActionNotAllowed'
  | 'NotAsShown'
  | 'SomeoneElseIsAsked'
  | 'AskedElsewhere'
  | 'NotAsked'
  | 'NotToBeRepeated'
  | 'AlreadyProposed'
  | 'NothingToPropose'
  | 'RefusedByRbac'
  | 'RefusedByCluster'
  | 'NotRecorded'
  | 'Unreadable'
  | 'OtherInstallation'
  | 'NotUnderstood'
  | 'NotThere';

export const refuse = (reason: RefusalReason, say: string): Refusal => ({ ok: false, reason, say });

export interface RuleFacts extends PressFacts {
  fix: Remediation;
}
export type Rule = (facts: RuleFacts) => Refusal | undefined;

const namespaceOf = (facts: RuleFacts): string => facts.fix.metadata.namespace ?? '';

export const hangsOnAKnownMessage: Rule = ({ notice, fix }) =>
  notice?.spec.members.some(({ uid }) => uid === fix.metadata.uid)
    ? undefined
    : refuse('UnknownMessage', 'tapfix does not know this message here; nothing was done.');

export const isAKnownPerson: Rule = ({ press, config }) =>
  press.channel === 'console' || entriesOf(config, press.channel, press.by).length > 0
    ? undefined
    : refuse('NotAnApprover', "You are not on the approvers' list.");

export const mayDecideHere: Rule = (facts) =>
  facts.press.channel === 'console' || entryFor(facts)
    ? undefined
    : refuse('NotAllowedHere', `You are not on the approvers' list for ${namespaceOf(facts)}.`);

export const isWatchedHere: Rule = (facts) =>
  facts.isUnwatched
    ? refuse('NotWatched', `${namespaceOf(facts)} is no longer watched by tapfix; nothing was done.`)
    : undefined;

const wholeSeconds = (ms: number): number => Math.round(ms / 1000) * 1000;

export const isStillPending: Rule = ({ fix, press, config, nowMs, timeZone }) => {
  const { state, by, at } = fix.spec.approval;
  const phase = phaseOf(fix);
  if (state !== 'Pending') {
    const who = by === press.by ? 'You' : by ? nameOf(config, by) : 'Somebody';
    const ago = at ? ` ${spokenDuration(wholeSeconds(nowMs - Date.parse(at)))} ago` : ' already';
    return refuse('AlreadyDecided', `${who} ${state.toLowerCase()} this${ago}.`);
  }
  if (phase === 'Expired') return tooLate(fix, nowMs, timeZone);
  if (phase === 'Superseded') return refuse('AlreadyOver', 'A newer proposal has replaced this one; nothing was done.');
  if (phase === 'Resolved') return refuse('AlreadyOver', `${howItResolved(fix)}; nothing was done.`);
  if (!fix.spec.action || (phase !== '' && phase !== 'Proposed')) {
    return refuse('AlreadyOver', 'There is nothing to decide any more; nothing was done.');
  }
  return undefined;
};

function howItResolved(fix: Remediation): string {
  const { reason } = conditionOf(fix, 'Resolved') ?? {};
  if (reason === 'Gone') return 'It is no longer there';
  if (reason === 'NoLongerSeen') return 'It is no longer seen';
  if (reason === 'Ended') return `It is over: ${howItEnded(fix)}`;
  return 'It is healthy again by itself';
}

const tooLate = (fix: Remediation, nowMs: number, timeZone: string): Refusal =>
  refuse('TooLate', `This expired at ${timesIn(timeZone, nowMs).minute(expiresAtMs(fix))}; nothing was changed.`);

export const isInTime: Rule = ({ fix, nowMs, timeZone }) =>
  nowMs < expiresAtMs(fix) ? undefined : tooLate(fix, nowMs, timeZone);

export const wasRehearsed: Rule = ({ fix }) => {
  const rehearsed = conditionOf(fix, 'Rehearsed');
  if (rehearsed?.status === 'False') return refuse('NotRehearsed', `The rehearsal failed: ${rehearsed.message}`);
  return rehearsed && fix.status?.preview
    ? undefined
    : refuse('NotRehearsed', 'It is still being rehearsed; try again in a moment.');
};

export const wasConfirmed: Rule = ({ fix }) => {
  if (isTrue(fix, 'Confirmed')) return undefined;
  const why = conditionOf(fix, 'Confirmed')?.message;
  return refuse(
    'NotConfirmed',
    why ? `This fix is not confirmed: ${why}` : 'The controller is still checking it; try again in a moment.',
  );
};

export const isAllowed: Rule = ({ fix, config }) =>
  config.actions.allow.includes(fix.spec.action?.type ?? '')
    ? undefined
    : refuse('ActionNotAllowed', `${fix.spec.action?.type} is switched off in the configuration; nothing was done.`);

/** If the target has changed, tapfix replaces its own proposals with a new one, but not those of people. */
export function hasChanged(fix: Remediation): Refusal {
  const { kind } = fix.spec.incident.object;
  const next = isProposedByProgram(fix) ? ' A new proposal follows.' : '';
  return refuse('NotAsShown', `The ${kind} has changed since this was shown; nothing was done.${next}`);
}

export const isAsShown: Rule = ({ fix, payload }) => (isShown(payload.shown, fix) ? undefined : hasChanged(fix));

const vendors: Readonly<Record<ChannelName, string>> = {
  telegram: 'Telegram',
  slack: 'Slack',
  console: 'the terminal',
  webhook: 'a webhook',
};

export const wasAsked: Rule = ({ payload, armed, press, config }) => {
  if (armed && armed.by !== press.by)
    return areOnePerson(config, armed.by, press.by)
      ? refuse('AskedElsewhere', `You are being asked about this in ${vendors[armed.channel]} right now; answer there.`)
      : refuse('SomeoneElseIsAsked', `${armed.name} is being asked about this right now.`);
  return payload.verb === 'c' && !armed
    ? refuse('NotAsked', 'The question has run out; press Approve again.')
    : undefined;
};

/** Whatever became of the proposal, somebody is needed as long as it is broken. */
export const needsSomebodyStill: Rule = ({ fix }) =>
  isBroken(fix) ? undefined : refuse('AlreadyOver', 'This is over; there is nothing to do any more.');

/** Only those that nobody decided, or that failed, while still broken. */
export const mayBeRepeated: Rule = ({ fix }) => {
  if (isCleared(fix)) return refuse('AlreadyOver', 'It is over; there is nothing to propose.');
  if (mayBeProposedAgain(fix)) return undefined;
  return refuse('NotToBeRepeated', 'Only what nobody decided in time, or what failed, is proposed again.');
};

/** Rules about who may decide here, whatever the decision is. */
export const byWhoMayDecide: readonly Rule[] = [hangsOnAKnownMessage, isAKnownPerson, mayDecideHere, isWatchedHere];

/** The line of the approvers' list that allows it; undefined at the console. */
export const entryFor = (facts: RuleFacts): Approver | undefined =>
  entriesOf(facts.config, facts.press.channel, facts.press.by).find((entry) => mayDecideIn(entry, namespaceOf(facts)));
