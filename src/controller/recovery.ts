import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/live.ts';
import type { Stable } from '../health/stability.ts';
import { hasHeldFor, holdStable } from '../health/stability.ts';
import type { Remediation } from '../kube/remediation.ts';
import { conditionOf, isTrue, phaseOf } from '../kube/remediation.ts';
import { timeMs } from '../kube/views.ts';
import { spokenDuration } from '../lib/duration.ts';

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

/** All but the run of good readings is in the record. */
export const recoveryFacts = (
  { status }: Remediation,
  { config, stable, nowMs }: { config: Config; stable?: Stable; nowMs: number },
): RecoveryFacts => ({
  stable,
  nowMs,
  appliedAtMs: timeMs(status?.execution?.appliedAt),
  windowMs: (status?.execution?.stableSeconds ?? 0) * 1000,
  timeoutMs: config.recovery.timeout,
});

export type Verdict = 'recovered' | 'not yet' | 'out of time';

export function judgeRecovery({ stable, appliedAtMs, windowMs, timeoutMs, nowMs }: RecoveryFacts): Verdict {
  if (hasHeldFor(stable, windowMs, nowMs)) return 'recovered';
  return nowMs > appliedAtMs + windowMs + timeoutMs ? 'out of time' : 'not yet';
}

/** How long after Failed a fix that was applied may still turn Recovered. */
export const lateRecoveryMs = 30 * 60_000;
/** Failed, but applied: it may still turn out to have helped. */
export function isWatchedLate(fix: Remediation, nowMs: number): boolean {
  const failedAtMs = timeMs(conditionOf(fix, 'Failed')?.lastTransitionTime);
  return phaseOf(fix) === 'Failed' && isTrue(fix, 'Applied') && nowMs <= failedAtMs + lateRecoveryMs;
}

export const pollMs = 1000;
export const latePollMs = 5000;

/** ": 0/3 ready" */
export const because = (live: LiveHealth | undefined): string =>
  live && !live.healthy && live.why ? `: ${live.why}` : '';

/**
 * What is said, and kept, of a fix whose time is over. That fewer are ready than before it, though as many are wanted, is
 * worse than no help: whoever reads it may want to reverse it.
 */
export function notHelped(readyBefore: number | undefined, live: LiveHealth | undefined, timeoutMs: number) {
  const message = `did not recover within ${spokenDuration(timeoutMs)}${because(live)}`;
  if (!live || readyBefore === undefined || live.ready >= Math.min(readyBefore, live.desired)) return { message };
  const worse = `it made it worse, ${live.ready} ready and ${readyBefore} before it`;
  return { message: `${worse}; ${message}`, execution: { readyAfter: live.ready } };
}
