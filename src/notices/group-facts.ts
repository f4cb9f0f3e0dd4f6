import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { Address } from './route.ts';

/** When this process first saw it, and first saw its rehearsal's answer: no clock but ours is compared. */
export interface Seen {
  firstMs: number;
  rehearsedMs?: number;
}

/** Everything that decides what is said in which message. */
export interface GroupFacts {
  fixes: readonly Remediation[];
  notices: readonly Notice[];
  nowMs: number;
  coalesceMs: number;
  maxPerMinute: number;
  /** More new incidents than these in a minute, in one place, are a storm. */
  stormOver: number;
  addressesOf(namespace: string): Address[];
  seen(fix: Remediation): Seen;
  /** When the vendor took it; undefined while it has not. */
  postedAtMs(notice: Notice): number | undefined;
  /** It could not be sent so far: more may ride along, but not while it is being tried again. */
  isStuck(notice: Notice): boolean;
  isPosting(notice: Notice): boolean;
  /** Messages of the last minute in that chat that no Notice of these tells of. */
  alsoSentAtMs(address: Address): readonly number[];
}

export type Step =
  | { do: 'open'; address: Address; form: 'card' | 'boot' | 'storm'; members: Remediation[] }
  /** `unsent`: only as long as nobody has seen it. */
  | { do: 'join'; notice: Notice; members: Remediation[]; unsent: boolean };

export interface Plan {
  steps: Step[];
  /** Where so many wait that other messages keep quiet. */
  busy: Address[];
  /** Nothing more to do before then; undefined: nothing waits. */
  againInMs?: number;
}
