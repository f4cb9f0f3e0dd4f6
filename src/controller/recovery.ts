import type { LiveHealth } from '../health/live.ts';
import type { Stable } from '../health/stability.ts';
import { hasHeldFor, holdStable } from '../health/stability.ts';

/** The run of good readings goes on, begins, or (a break, a restart, a fresh signal) begins again. */
export function nextStable(
  before: Stable | undefined,
  live: LiveHealth,
  lastSignalMs: number,
  nowMs: number,
): Stable | undefined {
  const held = holdStable(before, live, nowMs);
  if (!held || lastSignalMs <= held.sinceMs) return held;
  // Not simply "now": the signal's time is another process's clock, and one ahead of ours must not break every run.
  return { ...held, sinceMs: Math.max(nowMs, lastSignalMs) };
}

export interface RecoveryFacts {
  stable: Stable | undefined;
  appliedAtMs: number;
  windowMs: number;
  timeoutMs: number;
  nowMs: number;
}

export type Verdict = 'recovered' | 'not yet' | 'out of time';

export function judgeRecovery({ stable, appliedAtMs, windowMs, timeoutMs, nowMs }: RecoveryFacts): Verdict {
  if (hasHeldFor(stable, windowMs, nowMs)) return 'recovered';
  return nowMs > appliedAtMs + windowMs + timeoutMs ? 'out of time' : 'not yet';
}

/** How long after Failed a fix that was applied may still turn Recovered. */
export const lateRecoveryMs = 30 * 60_000;
export const pollMs = 1000;
export const latePollMs = 5000;
