import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/live.ts';
import { type Stable, windowMs } from '../health/stability.ts';

/** How often a target is read again: rarely while broken, closely once it looks healthy. */
const brokenMs = 5_000;
const healingMs = 1_000;

export interface Facts {
  class: string;
  live: LiveHealth;
  stable: Stable | undefined;
  config: Config;
  nowMs: number;
}

const hasHeld = ({ class: failureClass, live, stable, config, nowMs }: Facts): boolean =>
  stable !== undefined &&
  nowMs - stable.sinceMs >= windowMs(failureClass, config.recovery.stableFor, live.longestUptimeMs);

export type UntoldStep = { do: 'wait'; ms: number } | { do: 'tell' } | { do: 'forget'; because: 'healed' | 'gone' };

/** Pure. Patience is over: still broken is told, healed for the window is forgotten, in between is watched. */
export function decideUntold(facts: Facts): UntoldStep {
  if (facts.live.gone) return { do: 'forget', because: 'gone' };
  if (!facts.live.healthy) return { do: 'tell' };
  return hasHeld(facts) ? { do: 'forget', because: 'healed' } : { do: 'wait', ms: healingMs };
}

/** Pure. Whether the episode of an open Remediation is over, and when to look again. */
export function decideCleared(facts: Facts): { cleared: boolean; againInMs: number } {
  if (!facts.live.healthy) return { cleared: false, againInMs: brokenMs };
  return { cleared: hasHeld(facts), againInMs: healingMs };
}
