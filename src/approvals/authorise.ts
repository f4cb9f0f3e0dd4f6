import type { Approver } from '../config/schema.ts';
import type { PressFacts, Refusal, Rule } from './rules.ts';
import { entryFor, refuse } from './rules.ts';

/** `entry` is the line of the approvers' list that allows it, none at the console. */
export type Verdict = Refusal | { ok: true; entry: Approver | undefined };

/** The chain: the first refusal wins and is what the presser reads. */
export function authorise(facts: PressFacts, rules: readonly Rule[]): Verdict {
  const { fix } = facts;
  if (!fix) return refuse('Gone', 'This proposal is gone; nothing was done.');
  for (const rule of rules) {
    const refusal = rule({ ...facts, fix });
    if (refusal) return refusal;
  }
  return { ok: true, entry: entryFor({ ...facts, fix }) };
}
