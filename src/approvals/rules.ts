import type { ChannelName, Press } from '../channels/channel.ts';
import type { Approver, Config } from '../config/schema.ts';
import { mayDecideIn } from '../config/selection.ts';
import type { Notice, NoticeSpec } from '../kube/notice.ts';
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
import { withoutReplaced } from '../notices/cards/compose.ts';
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
  | 'TooLongToShow'
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

/** People who are refused read their own id: it is what the approvers' list lacks. */
export const notListed = (reason: 'NotAnApprover' | 'NotAllowedHere', by: string, where: string): Refusal =>
  refuse(reason, `You are not on the approvers' list${where} (your id is ${idOf(by)}).`);

/** The id as the configuration has it: without the channel that `by` begins with. */
export const idOf = (by: string): string => by.replace(/^(telegram|slack):/, '');

export const isAKnownPerson: Rule = (facts) =>
  facts.press.channel === 'console' || entriesOf(facts.config, facts.press.channel, facts.press.by).length > 0
    ? undefined
    : notListed('NotAnApprover', facts.press.by, ` for ${namespaceOf(facts)}`);

export const mayDecideHere: Rule = (facts) =>
  facts.press.channel === 'console' || entryFor(facts)
    ? undefined
    : notListed('NotAllowedHere', facts.press.by, ` for ${namespaceOf(facts)}`);

export const refusedByRbac = (entry: Approver | undefined, namespace: string): Refusal =>
  refuse('RefusedByRbac', `Kubernetes does not let ${entry?.kubernetesUser} approve in ${namespace}.`);

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
  if (rehearsed?.status === 'False') return refuse('NotRehearsed', `The dry run failed: ${rehearsed.message}`);
  return rehearsed && fix.status?.preview
    ? undefined
    : refuse('NotRehearsed', 'The dry run is still under way; try again in a moment.');
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
  const next = isProposedByProgram(fix) ? ' A new proposal follows.' : '';
  const what = fix.spec.incident.object.name;
  return refuse('NotAsShown', `${what} has changed since this card was posted; nothing was done.${next}`);
}

export const isAsShown: Rule = ({ fix, payload }) => (isShown(payload.shown, fix) ? undefined : hasChanged(fix));

const vendors: Readonly<Record<ChannelName, string>> = {
  telegram: 'Telegram',
  slack: 'Slack',
  console: 'the terminal',
  webhook: 'a webhook',
};

export const wasAsked: Rule = ({ fix, payload, armed, press, config }) => {
  if (armed && armed.by !== press.by)
    return areOnePerson(config, armed.by, press.by)
      ? refuse('AskedElsewhere', `You are being asked about this in ${vendors[armed.channel]} right now; answer there.`)
      : refuse('SomeoneElseIsAsked', `${armed.name} is being asked about this right now.`);
  if (payload.verb !== 'c') return undefined;
  if (!armed) return refuse('NotAsked', 'The 30 s to say yes are over; nothing was done. Press it again.');
  return armed.shown === payload.shown ? undefined : hasChanged(fix);
};

/** Whatever became of the proposal, somebody is needed as long as it is broken. */
export const needsSomebodyStill: Rule = ({ fix }) =>
  isBroken(fix) ? undefined : refuse('AlreadyOver', 'This is over; there is nothing to do any more.');

/** Only those that nobody decided, or that failed, while still broken. */
export const mayBeRepeated: Rule = ({ fix }) => {
  if (isCleared(fix)) return refuse('AlreadyOver', 'It is over; there is nothing to propose.');
  if (mayBeProposedAgain(fix)) return undefined;
  return refuse('NotToBeRepeated', 'Only a proposal that expired or failed can be proposed again.');
};

/** Where the button is that was pressed, and what is beside it. */
interface Beside {
  /** The members of the Notice. */
  members: readonly Remediation[];
  form: NoticeSpec['form'];
  /** On the Notice's own message. A page, an answer and a written command are something else. */
  isOnNotice: boolean;
  /** A card about this fix alone says all that an approval would change. */
  isDiffOnCard: boolean;
}

/**
 * Pure. What cannot be seen cannot be approved: whether the whole diff was on the message that an Approve hangs on. A
 * message about several has a line for each, and a storm not even that.
 */
export const wasWholeDiffShown = ({ members, form, isOnNotice, isDiffOnCard }: Beside): boolean =>
  isOnNotice && ['card', 'boot'].includes(form) && withoutReplaced(members).length === 1 && isDiffOnCard;

/** Rules about who may decide here, whatever the decision is. */
export const byWhoMayDecide: readonly Rule[] = [hangsOnAKnownMessage, isAKnownPerson, mayDecideHere, isWatchedHere];

/** The line of the approvers' list that allows it; undefined at the console. */
export const entryFor = (facts: RuleFacts): Approver | undefined =>
  entriesOf(facts.config, facts.press.channel, facts.press.by).find((entry) => mayDecideIn(entry, namespaceOf(facts)));
