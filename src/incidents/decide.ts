import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/live.ts';
import type { Remediation } from '../kube/remediation.ts';
import { type Stable, windowMs } from '../health/stability.ts';
import { isStillTrue } from '../health/truth.ts';

/** How often a target is read again: rarely while broken; once it looks healthy, the closer the nearer the end. */
const brokenMs = 5_000;
const healingMs = { least: 1_000, most: 10_000, share: 20 };

export interface Facts {
  class: string;
  /** Of the whole episode: new pods have no past, but the trouble has. */
  longestUptimeMs: number;
  /** The Remediation that holds the key; none while nobody was told. */
  holder?: Remediation;
  live: LiveHealth;
  stable: Stable | undefined;
  config: Config;
  nowMs: number;
}

/** How long it must still hold: at least as long as the controller watches a fix that was applied. 0: it has held. */
function leftMs({ class: failureClass, stable, config, nowMs, longestUptimeMs, holder }: Facts): number {
  const own = windowMs(failureClass, config.recovery.stableFor, longestUptimeMs);
  const window = Math.max(own, (holder?.status?.execution?.stableSeconds ?? 0) * 1000);
  return Math.max((stable?.sinceMs ?? nowMs) + window - nowMs, 0);
}

const lookAgainMs = (left: number): number =>
  Math.min(Math.max(left / healingMs.share, healingMs.least), healingMs.most);

export type UntoldStep =
  { do: 'wait'; ms: number } | { do: 'tell' } | { do: 'forget'; because: 'healed' | 'gone' | 'untrue' };

/** Something else is wrong with it: no reason to read it for ever. */
const longestUntrueMs = 15 * 60_000;

/** Pure. Patience is over: still broken is told, healed for the window is forgotten, in between is watched. */
export function decideUntold(facts: Facts & { lastSeenMs: number }): UntoldStep {
  if (facts.live.gone) return { do: 'forget', because: 'gone' };
  if (isStillTrue(facts.class, facts.live)) return { do: 'tell' };
  if (!facts.live.healthy) {
    const isOld = facts.nowMs - facts.lastSeenMs > longestUntrueMs;
    return isOld ? { do: 'forget', because: 'untrue' } : { do: 'wait', ms: brokenMs };
  }
  const left = leftMs(facts);
  return left === 0 ? { do: 'forget', because: 'healed' } : { do: 'wait', ms: lookAgainMs(left) };
}

/** The controller is at work on it: its verdict comes first, and then the end of the episode. */
const isBeingFixed = ({ holder }: Facts): boolean =>
  ['Approved', 'Applying', 'Applied'].includes(holder?.status?.phase ?? '');

/** Pure. Whether the episode of an open Remediation is over, and when to look again. */
export function decideCleared(facts: Facts): { cleared: boolean; againInMs: number } {
  if (!facts.live.healthy) return { cleared: false, againInMs: brokenMs };
  const left = leftMs(facts);
  return { cleared: left === 0 && !isBeingFixed(facts), againInMs: lookAgainMs(left) };
}
