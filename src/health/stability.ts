import type { LiveHealth } from './trouble.ts';

/** Since when the target has been healthy without a break, as this process saw it. */
export interface Stable {
  sinceMs: number;
  restarts: number;
  /** The last good reading. */
  readAtMs: number;
}

/**
 * A target that was not read for longer than this was not seen to be healthy: we slept. It is this long because many
 * incidents take a while to read.
 */
const longestGapMs = 120_000;

/**
 * A restart is a break even if both readings look fine, and so is a time without readings. Fewer restarts than before
 * mean other pods, which is a break too.
 */
export function holdStable(before: Stable | undefined, live: LiveHealth, nowMs: number): Stable | undefined {
  if (!live.healthy) return undefined;
  const { restarts } = live;
  const goesOn = before && before.restarts === restarts && nowMs - before.readAtMs <= longestGapMs;
  return { sinceMs: goesOn ? before.sinceMs : nowMs, restarts, readAtMs: nowMs };
}

/** A signal after the run began is a break as well, even when no reading caught it. */
export function sinceLastSignal(stable: Stable | undefined, lastSeenMs: number | undefined): Stable | undefined {
  if (!stable || lastSeenMs === undefined || lastSeenMs <= stable.sinceMs) return stable;
  return { ...stable, sinceMs: lastSeenMs };
}

export const hasHeldFor = (stable: Stable | undefined, ms: number, nowMs: number): boolean =>
  stable !== undefined && nowMs - stable.sinceMs >= ms;

const longestWindowMs = 600_000;
const loops: ReadonlySet<string> = new Set(['CrashLoop', 'OOMKilled']);

/** How long it must stay healthy: a crash loop's pods look fine for as long as they live, so twice that. */
export function windowMs(failureClass: string, stableForMs: number, longestUptimeMs: number): number {
  if (!loops.has(failureClass)) return stableForMs;
  return Math.min(Math.max(stableForMs, 2 * longestUptimeMs), longestWindowMs);
}
