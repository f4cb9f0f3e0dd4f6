import type { Prepared } from '../actions/action.ts';
import type { Answer, Press } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Api } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Confirms } from './confirms.ts';
import type { Payload } from './press.ts';
import type { ProposeAgain } from './propose-again.ts';
import type { Refusal, Rule } from './rules.ts';

/** What somebody wants done: a press, or a command that means the same. */
export interface Request {
  press: Press;
  payload: Payload;
  /** Why it is rejected. */
  note?: string;
  /** For how long it is snoozed. */
  forMs?: number;
}

/** One that the rules let pass. */
export interface Case extends Request {
  fix: Remediation;
  /** The message it hangs on. */
  notice: Notice;
  /** The presser has had an answer: nothing is begun after that. */
  late: AbortSignal;
}

/** What all verbs are handed. */
export interface Desk {
  api: Pick<Api, 'get' | 'page' | 'patch'>;
  clock: Clock;
  current: () => Config;
  confirms: Confirms;
  timeZone: string;
  /** The target as it is now: what the fix would do to it, or why it would not. */
  prepare(fix: Remediation): Promise<Prepared>;
  /** From a fresh reading: a successor, or why there is none. */
  proposeAgain: ProposeAgain;
}

/** `decision` is a metric's label and a word of the audit line. */
export type Said = Refusal | ({ ok: true; decision: string; say: string } & Pick<Answer, 'show' | 'inPlace'>);

/** What a button means: its rules, and what it does. One file each, and a row in verbs/table.ts. */
export interface Verb {
  rules: readonly Rule[];
  /** It only shows something: RBAC is not asked whether its reader may approve. */
  reads?: true;
  /** undefined: somebody changed the Remediation meanwhile, so it has to be judged again. */
  act(one: Case, desk: Desk): Promise<Said | undefined>;
}
