import type { Config } from '../config/schema.ts';
import { hasHeldFor, holdStable, type Stable, windowMs } from '../health/stability.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { timeMs } from '../kube/raw.ts';
import { conditionOf, isTrue, phaseOf, type Remediation } from '../kube/remediation.ts';
import { spokenDuration } from '../lib/duration.ts';

/** The run of good readings continues, begins, or begins again (after a break, a restart or a new signal). */
export function nextStable(
  before: Stable | undefined,
  live: LiveHealth,
  lastSignalMs: number,
  nowMs: number,
): Stable | undefined {
  const held = holdStable(before, live, nowMs);
  if (!held || lastSignalMs <= held.sinceMs) return held;
  // Not simply "now": the signal's time is from another process's clock, and a clock ahead of ours must not break every
  // run.
  return { ...held, sinceMs: Math.max(nowMs, lastSignalMs) };
}

export interface RecoveryFacts {
  stable: Stable | undefined;
  appliedAtMs: number;
  windowMs: number;
  timeoutMs: number;
  nowMs: number;
}

/** Facts that were seen but are not in the record. */
interface Seen {
  config: Config;
  live?: LiveHealth;
  stable?: Stable;
  asManyAtMs?: number;
  nowMs: number;
}

/**
 * The record says how long it must hold. If it was since seen to live longer before it died, it must hold for longer.
 */
export const recoveryFacts = ({ spec, status }: Remediation, { config, live, stable, nowMs }: Seen): RecoveryFacts => ({
  stable,
  nowMs,
  appliedAtMs: timeMs(status?.execution?.appliedAt),
  windowMs: Math.max(
    (status?.execution?.stableSeconds ?? 0) * 1000,
    windowMs(spec.incident.class, 0, live?.longestUptimeMs ?? 0),
  ),
  timeoutMs: config.recovery.timeout,
});

export type Verdict = 'recovered' | 'not yet' | 'out of time';

export function judgeRecovery({ stable, appliedAtMs, windowMs, timeoutMs, nowMs }: RecoveryFacts): Verdict {
  if (hasHeldFor(stable, windowMs, nowMs)) return 'recovered';
  return nowMs > appliedAtMs + windowMs + timeoutMs ? 'out of time' : 'not yet';
}

/** How long after Failed an applied fix may still become Recovered. */
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

/** If fewer are wanted now than before, that number is enough. */
export const hasAsMany = (readyBefore: number | undefined, { ready, desired }: LiveHealth): boolean =>
  readyBefore === undefined || ready >= Math.min(readyBefore, desired);

/** The longest back-off of a crash loop. Between its crashes as many may be ready as before. */
const longestLapseMs = 5 * 60_000;

/**
 * The message, and the recorded result, for a fix whose time is over. If fewer are ready than before it, though as many
 * are wanted, that is worse than no help: the reader may want to reverse it. So this must have lasted for a while,
 * because a number that goes up and down did so before.
 */
export function notHelped({ status }: Remediation, { live, asManyAtMs, config, nowMs }: Seen) {
  const { timeout } = config.recovery;
  const { readyBefore } = status?.execution ?? {};
  const why = live?.healthy ? ': it does not stay healthy' : because(live);
  const message = `did not recover within ${spokenDuration(timeout)}${why}`;
  const comesAndGoes = asManyAtMs !== undefined && nowMs - asManyAtMs < Math.min(longestLapseMs, timeout / 2);
  if (!live || comesAndGoes || hasAsMany(readyBefore, live)) return { message };
  const worse = `it made it worse, ${live.ready} ready and ${readyBefore} before it`;
  return { message: `${worse}; ${message}`, execution: { readyAfter: live.ready } };
}
