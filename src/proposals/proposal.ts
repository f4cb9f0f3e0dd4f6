import type { Action } from '../actions/action.ts';

/** A way back that is safe to offer, or the reason why there is none. */
export type WayBack = { revision: number; from: number; ranMs: number } | { refused: string };

/** The fix that a case takes, with why it is safe; or why there is none. */
export type Fix = { action: Action<never>; params: unknown; why: string } | { refused: string };

/** Everything read about one subject, in words, and the fix for it. */
export interface Case {
  diagnosis: string;
  changed: string[];
  evidence: string[];
  fix: Fix;
  /** Tried in this order, when those before cannot be offered. */
  orElse?: readonly Fix[];
}

/** For what tapfix can only tell of. */
export const nothingSafe = 'nothing safe to do by a tap';

/** Why none of several is offered, each reason once. */
export function reasonsInWords(refusals: readonly string[]): string {
  const [only = nothingSafe, ...others] = new Set(refusals);
  return others.length === 0 ? only : [only, ...others].map((reason) => reason.replace(/\.$/, '')).join('; ');
}
