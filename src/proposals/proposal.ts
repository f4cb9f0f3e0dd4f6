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
}
