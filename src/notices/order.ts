import type { Remediation } from '../kube/remediation.ts';
import { isCleared, severityRank } from '../kube/remediation.ts';
import { isSettled, isUnattended, shownPhase } from './head.ts';

/** Broken, and nobody is at work on it: a decision, or a look, is what it waits for. */
export const needsSomebody = (fix: Remediation): boolean =>
  ['Proposed', 'Noticed'].includes(shownPhase(fix)) || isUnattended(fix);

/** Decided, and not over. */
export const isUnderWay = (fix: Remediation): boolean => !needsSomebody(fix) && !isSettled(fix);

/** "still failing": of what was rejected nobody says that it is well, so then it is "still open". */
export const stillOpen = (all: readonly Remediation[]): string =>
  `still ${all.some((fix) => shownPhase(fix) === 'Rejected' && !isCleared(fix)) ? 'open' : 'failing'}`;

/** What has a button comes before what has none. */
const waitsForDecision = (fix: Remediation): boolean => shownPhase(fix) === 'Proposed';

const standing = (fix: Remediation): number => (needsSomebody(fix) ? 0 : isUnderWay(fix) ? 1 : 2);

const rank = (fix: Remediation): readonly (number | string)[] => [
  standing(fix),
  severityRank(fix),
  waitsForDecision(fix) ? 0 : 1,
  fix.spec.incident.firstSeen,
  fix.metadata.uid,
];

function compare(a: Remediation, b: Remediation): number {
  const others = rank(b);
  for (const [index, own] of rank(a).entries()) {
    if (own !== others[index]) return own < others[index]! ? -1 : 1;
  }
  return 0;
}

/** What needs somebody first, by severity, what can be decided before what cannot, then by age; what is over last. */
export const inOrder = (members: readonly Remediation[]): Remediation[] => [...members].sort(compare);
