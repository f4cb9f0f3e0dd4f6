import type { Config } from '../config/schema.ts';
import { hasHeldFor, holdStable, type Stable, windowMs } from '../health/stability.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { timeMs } from '../kube/raw.ts';
import { conditionOf, isTrue, phaseOf, type Remediation } from '../kube/remediation.ts';
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

/** What is not in the record, but was seen. */
interface Seen {
  config: Config;
  live?: LiveHealth;
  stable?: Stable;
  asManyAtMs?: number;
  nowMs: number;
}

/** How long it must hold is in the record; what was seen since to live for longer before it died must hold for longer. */
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

/** As many as are wanted count, if fewer are wanted than before. */
export const hasAsMany = (readyBefore: number | undefined, { ready, desired }: LiveHealth): boolean =>
  readyBefore === undefined || ready >= Math.min(readyBefore, desired);

/** The longest back-off of a crash loop, between whose crashes as many may be ready as before. */
const longestLapseMs = 5 * 60_000;

/**
 * What is said, and kept, of a fix whose time is over. That fewer are ready than before it, though as many are wanted, is
 * worse than no help: whoever reads it may want to reverse it. So it must have been so for a while: what comes and goes
 * did so before.
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
