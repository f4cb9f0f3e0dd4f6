import type { Press } from '../channels/channel.ts';
import type { Approver, Config } from '../config/schema.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { conditionOf, expiresAtMs, isTrue, phaseOf } from '../kube/remediation.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { Confirming } from '../notices/context.ts';
import { howItEnded } from '../notices/head.ts';
import { entriesOf, mayDecideIn, nameOf } from '../notices/people.ts';
import type { Payload } from './press.ts';
import { shownHash } from './press.ts';
import { timesIn } from '../notices/times.ts';

/** Everything a press is judged by: the live Remediation and the configuration in force at this moment. */
export interface PressFacts {
  press: Press;
  payload: Payload;
  fix: Remediation | undefined;
  /** The message the button hangs on. */
  notice: Notice | undefined;
  armed: Confirming | undefined;
  config: Config;
  nowMs: number;
  timeZone: string;
}

export type Refusal = { ok: false; reason: RefusalReason; say: string };
/** What is to be done; `entry` is the line of the approvers' list that allows it, none at the console. */
export type Verdict = Refusal | { ok: true; do: 'approve' | 'reject' | 'ask' | 'back'; entry: Approver | undefined };

export type RefusalReason =
  | 'UnknownMessage'
  | 'Gone'
  | 'NotAnApprover'
  | 'NotAllowedHere'
  | 'AlreadyDecided'
  | 'AlreadyOver'
  | 'TooLate'
  | 'NotRehearsed'
  | 'NotConfirmed'
  | 'ActionNotAllowed'
  | 'NotAsShown'
  | 'SomeoneElseIsAsked'
  | 'NotAsked'
  | 'RefusedByRbac'
  | 'RefusedByCluster'
  | 'NotRecorded'
  | 'Unreadable';

export const refuse = (reason: RefusalReason, say: string): Refusal => ({ ok: false, reason, say });

interface Facts extends PressFacts {
  fix: Remediation;
}
type Rule = (facts: Facts) => Refusal | undefined;

const namespaceOf = (facts: Facts): string => facts.fix.metadata.namespace ?? '';
const isReject = ({ payload }: Facts): boolean => payload.verb === 'r';

const hangsOnAKnownMessage: Rule = ({ notice, fix }) =>
  notice?.spec.members.some(({ uid }) => uid === fix.metadata.uid)
    ? undefined
    : refuse('UnknownMessage', 'tapfix does not know this message here; nothing was done.');

const isAKnownPerson: Rule = ({ press, config }) =>
  press.channel === 'console' || entriesOf(config, press.channel, press.by).length > 0
    ? undefined
    : refuse('NotAnApprover', 'You are not on the approvers’ list.');

const mayDecideHere: Rule = (facts) =>
  facts.press.channel === 'console' || entryFor(facts)
    ? undefined
    : refuse('NotAllowedHere', `You are not on the approvers’ list for ${namespaceOf(facts)}.`);

const isStillPending: Rule = ({ fix, press, config, nowMs, timeZone }) => {
  const { state, by, at } = fix.spec.approval;
  const phase = phaseOf(fix);
  if (state !== 'Pending') {
    const who = by === press.by ? 'You' : by ? nameOf(config, by) : 'Somebody';
    const ago = at ? ` ${spokenDuration(nowMs - Date.parse(at))} ago` : ' already';
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

const isInTime: Rule = ({ fix, nowMs, timeZone }) =>
  nowMs < expiresAtMs(fix) ? undefined : tooLate(fix, nowMs, timeZone);

const wasRehearsed: Rule = ({ fix }) => {
  const rehearsed = conditionOf(fix, 'Rehearsed');
  if (rehearsed?.status === 'False') return refuse('NotRehearsed', `The rehearsal failed: ${rehearsed.message}`);
  return rehearsed && fix.status?.preview
    ? undefined
    : refuse('NotRehearsed', 'It is still being rehearsed; try again in a moment.');
};

const wasConfirmed: Rule = ({ fix }) => {
  if (isTrue(fix, 'Confirmed')) return undefined;
  const why = conditionOf(fix, 'Confirmed')?.message;
  return refuse(
    'NotConfirmed',
    why ? `This fix is not confirmed: ${why}` : 'The controller is still checking it; try again in a moment.',
  );
};

const isAllowed: Rule = ({ fix, config }) =>
  config.actions.allow.includes(fix.spec.action?.type ?? '')
    ? undefined
    : refuse('ActionNotAllowed', `${fix.spec.action?.type} is switched off in the configuration; nothing was done.`);

export const hasChanged = ({ spec }: Remediation): Refusal =>
  refuse('NotAsShown', `The ${spec.incident.object.kind} has changed since this was shown; nothing was done.`);

const isAsShown: Rule = ({ fix, payload }) => (payload.shown === shownHash(fix) ? undefined : hasChanged(fix));

const wasAsked: Rule = ({ payload, armed, press }) => {
  if (armed && armed.by !== press.by)
    return refuse('SomeoneElseIsAsked', `${armed.name} is being asked about this right now.`);
  return payload.verb === 'c' && !armed
    ? refuse('NotAsked', 'The question has run out; press Approve again.')
    : undefined;
};

const always: readonly Rule[] = [hangsOnAKnownMessage, isAKnownPerson, mayDecideHere, isStillPending, isInTime];
/** What each verb needs beside that; saying no needs no rehearsal, and a question is its presser's own. */
const toApprove: readonly Rule[] = [wasRehearsed, wasConfirmed, isAllowed, isAsShown, wasAsked];
const chains: Readonly<Record<Payload['verb'], readonly Rule[]>> = {
  a: [...always, ...toApprove],
  c: [...always, ...toApprove],
  b: [...always, wasAsked],
  r: always,
};

/** The chain: the first refusal wins and is what the presser reads. */
export function authorise(facts: PressFacts): Verdict {
  const { fix } = facts;
  if (!fix) return refuse('Gone', 'This proposal is gone; nothing was done.');
  const known: Facts = { ...facts, fix };
  for (const rule of chains[facts.payload.verb]) {
    const refusal = rule(known);
    if (refusal) return refusal;
  }
  return { ok: true, do: whatToDo(known), entry: entryFor(known) };
}

function whatToDo(facts: Facts): 'approve' | 'reject' | 'ask' | 'back' {
  if (facts.payload.verb === 'b') return 'back';
  if (isReject(facts)) return 'reject';
  const asksOnceMore = facts.config.approval.confirm.includes(facts.fix.spec.action?.type ?? '');
  return facts.payload.verb === 'a' && asksOnceMore ? 'ask' : 'approve';
}

const entryFor = (facts: Facts): Approver | undefined =>
  entriesOf(facts.config, facts.press.channel, facts.press.by).find((entry) => mayDecideIn(entry, namespaceOf(facts)));
