import type { ChannelName } from '../../channels/channel.ts';
import { conditionOf, expiresAtMs, isTrue, phaseOf, type Remediation } from '../../kube/remediation.ts';
import { actionWords } from './subject.ts';

/** Somebody was asked "really?" and can answer until `untilMs`. */
interface Confirming {
  by: string;
  name: string;
  untilMs: number;
}

/** The message on which they were asked. No other message shows the question. */
export interface Question extends Confirming {
  channel: ChannelName;
  /** The Notice's name. */
  notice: string;
  /** Hash of what they are asked about (payload.ts). A yes is about nothing else. */
  shown: string;
  /** The whole diff was not on the Notice's message, so it was shown apart. The yes is beside it, and only there. */
  isApart?: true;
  /** The id of the command that asked for it, if it was not a press. That command is never the answer. */
  askedBy?: string;
}

/** The open questions. Listeners are called when a question is asked, answered or has run out. */
export interface Questions {
  armedFor(uid: string, nowMs: number): Question | undefined;
  onChange(listener: (uid: string) => void): void;
}

/** Everything a card depends on besides the Remediation itself. */
export interface CardContext {
  cluster: string;
  nowMs: number;
  timeZone: string;
  /** Somebody is allowed to approve here. */
  approvable: boolean;
  /** The configuration allows this action. */
  allowed: boolean;
  /** Action types that ask for a confirmation. */
  confirm: readonly string[];
  confirming?: Confirming;
  /** Maps "telegram:123456789" to the name people know. */
  nameOf(by: string): string;
}

export interface MessageContext extends Omit<CardContext, 'approvable' | 'allowed' | 'confirming'> {
  /** The name of the Notice that shows it. A button for the members that do not fit refers to it. */
  notice?: string;
  approvable(fix: Remediation): boolean;
  allowed(fix: Remediation): boolean;
  confirming(fix: Remediation): Confirming | undefined;
  /** Why this chat gets no more news of it, as text: the configuration no longer includes it. */
  whyUnwatched?(fix: Remediation): string | undefined;
}

export function cardContext(fix: Remediation, context: MessageContext): CardContext {
  const confirming = context.confirming(fix);
  const { cluster, nowMs, timeZone, confirm, nameOf } = context;
  const approvable = context.approvable(fix);
  const allowed = context.allowed(fix);
  return { cluster, nowMs, timeZone, confirm, nameOf, approvable, allowed, ...(confirming && { confirming }) };
}

/**
 * When the time is up, the controller expires it within seconds. Only if the controller is away does the card do so
 * itself.
 */
const controllersTurnMs = 10_000;
export const closesAtMs = (fix: Remediation): number => expiresAtMs(fix) + controllersTurnMs;

/** Waiting for a decision: nobody decided, it is not over, and there is time. */
export const isPending = (fix: Remediation, nowMs: number): boolean =>
  fix.spec.action !== undefined &&
  fix.spec.approval.state === 'Pending' &&
  (phaseOf(fix) === 'Proposed' || phaseOf(fix) === '') &&
  nowMs < closesAtMs(fix);

/** The rehearsal's answer is there: accepted or refused. */
export const isRehearsed = (fix: Remediation): boolean =>
  fix.status?.preview !== undefined || conditionOf(fix, 'Rehearsed') !== undefined;

/** It was rehearsed, accepted, the controller came to the same fix by itself, and this version knows what it is. */
export const canBeApproved = (fix: Remediation, nowMs: number): boolean =>
  isPending(fix, nowMs) &&
  fix.status?.preview !== undefined &&
  isTrue(fix, 'Rehearsed') &&
  isTrue(fix, 'Confirmed') &&
  actionWords(fix)?.known === true;
