import type { Config } from '../config/schema.ts';
import { type Stable, windowMs } from '../health/stability.ts';
import { isStillTrue, judgedFor, type LiveHealth } from '../health/trouble.ts';
import { isBeingFixed, type Remediation } from '../kube/remediation.ts';
import type { SeenClass } from './incident.ts';

/**
 * How often a target is read again: rarely while it is broken; once it looks healthy, more often the nearer the
 * window's end.
 */
const brokenMs = 5_000;
const healingMs = { least: 1_000, most: 10_000, share: 20 };

export interface IncidentFacts {
  class: string;
  /** The longest of the whole episode: new pods have no past, but the failure has. */
  longestUptimeMs: number;
  /** The Remediation that holds the key; absent before one is recorded. */
  holder?: Remediation;
  live: LiveHealth;
  stable: Stable | undefined;
  config: Config;
  nowMs: number;
}

/**
 * How long it must still stay healthy: in all at least as long as the controller watches a fix that was applied. 0:
 * done.
 */
function remainingMs({ class: failureClass, stable, config, nowMs, longestUptimeMs, holder }: IncidentFacts): number {
  const own = windowMs(failureClass, config.recovery.stableFor, longestUptimeMs);
  const window = Math.max(own, (holder?.status?.execution?.stableSeconds ?? 0) * 1000);
  return Math.max((stable?.sinceMs ?? nowMs) + window - nowMs, 0);
}

const lookAgainMs = (remaining: number): number =>
  Math.min(Math.max(remaining / healingMs.share, healingMs.least), healingMs.most);

const shortestSilenceMs = 15 * 60_000;

/** For a class without readable state: after this long without a sighting it is "no longer seen". */
export const silenceMs = (forMs: number): number => Math.max(3 * forMs, shortestSilenceMs);

/** Decided by the live object. If that cannot show this class: whether it was seen again, and recently. */
export function isTrueNow(one: SeenClass, live: LiveHealth, nowMs: number): boolean {
  if (one.readable) return isStillTrue(one.class, judgedFor(one.class, live), one.forMs);
  return one.count > 1 && nowMs - one.lastMs < silenceMs(one.forMs);
}

export type PendingStep =
  | { do: 'wait'; ms: number }
  /** Record it as this class: the most specific one that is true. */
  | { do: 'tell'; as: SeenClass }
  | { do: 'forget'; because: 'healed' | 'gone' | 'untrue' | 'unseen' };

/** Something else is wrong with the target, which is no reason to read it for ever. */
const longestUntrueMs = 15 * 60_000;

export interface PendingFacts extends IncidentFacts {
  seen: readonly SeenClass[];
  lastSeenMs: number;
}

/**
 * Pure. Patience is over: what is still broken is recorded, what stayed healthy for the window is forgotten, all else
 * is watched further.
 */
export function decidePending(facts: PendingFacts): PendingStep {
  const { live, seen, nowMs } = facts;
  if (live.gone) return { do: 'forget', because: 'gone' };
  const [as, ...others] = seen.filter((one) => isTrueNow(one, live, nowMs));
  if (as) {
    const waitMs = Math.min(...[as, ...others].map(({ dueMs }) => dueMs)) - nowMs;
    return waitMs > 0 ? { do: 'wait', ms: waitMs } : { do: 'tell', as };
  }
  const silentMs = seen.filter(({ readable }) => !readable).map((one) => one.lastMs + silenceMs(one.forMs) - nowMs);
  const untilUnseenMs = Math.max(0, ...silentMs);
  if (!seen.some(({ readable }) => readable))
    return untilUnseenMs > 0 ? { do: 'wait', ms: untilUnseenMs } : { do: 'forget', because: 'unseen' };
  const step = decideUntrue(facts);
  return step.do === 'forget' && untilUnseenMs > 0 ? { do: 'wait', ms: untilUnseenMs } : step;
}

function decideUntrue(facts: PendingFacts): PendingStep {
  if (!facts.live.healthy) {
    const isOld = facts.nowMs - facts.lastSeenMs > longestUntrueMs;
    return isOld ? { do: 'forget', because: 'untrue' } : { do: 'wait', ms: brokenMs };
  }
  const remaining = remainingMs(facts);
  return remaining === 0 ? { do: 'forget', because: 'healed' } : { do: 'wait', ms: lookAgainMs(remaining) };
}

/** The controller's verdict comes first, and only then the end of the episode. */
const isHeldByAFix = ({ holder }: IncidentFacts): boolean => holder !== undefined && isBeingFixed(holder);

/** A card that turns green shows how many are ready, so that must be known before the window ends. */
const fixingMs = ({ config }: IncidentFacts): number =>
  Math.min(Math.max(config.recovery.stableFor / 3, healingMs.least), brokenMs);

/** An object that is deleted is often created again. Until it has been away for so long, it may only be replaced. */
const absentMs = 60_000;

/** How long it must still stay away. 0 for a cause that is gone while its workloads have their pods: that is health. */
function absenceMs({ live, stable, nowMs }: Pick<IncidentFacts, 'live' | 'stable' | 'nowMs'>): number {
  if (!live.gone || live.desired > 0) return 0;
  return Math.max((stable?.sinceMs ?? nowMs) + absentMs - nowMs, 0);
}

/** Pure. Whether the episode of an open Remediation is over, and when to look again. */
export function decideCleared(facts: IncidentFacts): { cleared: boolean; againInMs: number } {
  if (!facts.live.healthy) return { cleared: false, againInMs: isHeldByAFix(facts) ? fixingMs(facts) : brokenMs };
  const remaining = Math.max(remainingMs(facts), absenceMs(facts));
  return { cleared: remaining === 0 && !isHeldByAFix(facts), againInMs: lookAgainMs(remaining) };
}

/** Pure. The same for a class without readable state. */
export function decideUnseen(
  { live, stable, nowMs }: Pick<IncidentFacts, 'live' | 'stable' | 'nowMs'>,
  lastSeenMs: number,
  forMs: number,
): { cleared: boolean; againInMs: number } {
  const unseenMs = Math.max(lastSeenMs + silenceMs(forMs) - nowMs, 0);
  const remaining = live.gone ? Math.min(absenceMs({ live, stable, nowMs }), unseenMs) : unseenMs;
  return { cleared: remaining === 0, againInMs: Math.min(Math.max(remaining, healingMs.least), 60_000) };
}
