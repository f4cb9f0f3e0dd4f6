import type { Remediation } from '../kube/remediation.ts';
import { isOver } from '../kube/remediation.ts';
import { startOf } from './boot.ts';
import { isRehearsed } from './context.ts';
import type { GroupFacts, Step } from './group-facts.ts';
import { isUnattended } from './head.ts';
import type { Address } from './route.ts';
import { samePlace } from './route.ts';
import type { Told } from './told.ts';

/** How long a card waits for its rehearsal before it goes out without Approve. */
export const rehearsalPatienceMs = 5_000;

/** What is to be told in one place. */
export interface Waiting {
  address: Address;
  /** Of what a start found broken: which start. */
  start: string | undefined;
  waiting: Remediation[];
}

export function waitingByPlace(facts: GroupFacts, told: Told, joined: readonly Step[]): Waiting[] {
  const replaced = replacedIn(facts);
  const places: Waiting[] = [];
  for (const fix of facts.fixes) {
    if (!isWorthTelling(fix) || replaced.has(fix.metadata.uid)) continue;
    for (const address of facts.addressesOf(fix.metadata.namespace ?? '')) {
      if (told.isTold(fix, address.channel)) continue;
      const joins = joined.some(
        (step) => step.do === 'join' && step.notice.spec.channel === address.channel && step.members.includes(fix),
      );
      if (joins) continue;
      const start = startOf(fix);
      const place = places.find((other) => samePlace(other.address, address) && other.start === start);
      if (place) place.waiting.push(fix);
      else places.push({ address, start, waiting: [fix] });
    }
  }
  return places;
}

export const replacedIn = ({ fixes }: GroupFacts): ReadonlySet<string | undefined> =>
  new Set(fixes.map((fix) => fix.spec.follows?.uid));

/** What was over before anybody heard of it is not told, unless the trouble goes on: late rather than never. */
export const isWorthTelling = (fix: Remediation): boolean => !isOver(fix) || isUnattended(fix);

/** Once its rehearsal has been answered, or has been waited for long enough. */
export function tellableAtMs(fix: Remediation, facts: GroupFacts): number {
  const { firstMs, rehearsedMs } = facts.seen(fix);
  if (!fix.spec.action) return firstMs;
  const patienceMs = firstMs + rehearsalPatienceMs;
  return isRehearsed(fix) ? Math.min(rehearsedMs ?? firstMs, patienceMs) : patienceMs;
}
