import type { Remediation } from '../kube/remediation.ts';
import { unreachable } from '../lib/errors.ts';
import { refuse } from './rules.ts';
import type { Refusal } from './rules.ts';

/** What became of the wish to propose something once more. */
export type Again =
  | { ok: true; name: string }
  | { ok: false; because: 'gone' | 'replaced' | 'over' | 'healthy' | 'too often' }
  /** The same fix failed, or nothing is safe any more: in words. */
  | { ok: false; because: 'nothing'; why: string };

export type ProposeAgain = (fix: Remediation) => Promise<Again>;

/** What the presser reads. */
export function proposedAgain(
  again: Again,
  localised: (text: string) => string,
): Refusal | { ok: true; decision: 'ProposedAgain'; say: string } {
  if (again.ok) return { ok: true, decision: 'ProposedAgain', say: 'Proposed again; this message shows it.' };
  switch (again.because) {
    case 'gone':
      return refuse('Gone', 'It is no longer there; nothing was proposed.');
    case 'replaced':
      return refuse('AlreadyProposed', 'It was proposed again already; nothing was done.');
    case 'over':
      return refuse('AlreadyOver', 'It is over; there is nothing to propose.');
    case 'healthy':
      return refuse('NothingToPropose', 'It looks healthy at this moment; nothing was proposed.');
    case 'too often':
      return refuse('NothingToPropose', 'It was proposed ten times already; nothing was proposed.');
    case 'nothing':
      return refuse('NothingToPropose', `Nothing was proposed: ${localised(again.why)}`.slice(0, 190));
    default:
      return unreachable(again);
  }
}
