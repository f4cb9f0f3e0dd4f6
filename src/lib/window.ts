/**
 * A true sliding window: at most `max` in any `windowMs`. Returns when the next one may go (now or later), from the
 * times of those that went. A time far in the future means that the clock was set back since; it must not silence
 * anybody.
 */
export function nextSlot(sentAtMs: readonly number[], max: number, windowMs: number, nowMs: number): number {
  const recent = sentAtMs.filter((at) => at > nowMs - windowMs && at < nowMs + windowMs).sort((a, b) => a - b);
  if (recent.length < max) return nowMs;
  return recent[recent.length - max]! + windowMs;
}

/**
 * How much is left of a pause. One that begins in the future means that the clock was set back since: nobody knows how
 * much is left, so it counts as over, and never lasts longer than it was meant to.
 */
export function remainingMs({ sinceMs, forMs }: { sinceMs: number; forMs: number }, nowMs: number): number {
  return sinceMs > nowMs ? 0 : Math.max(sinceMs + forMs - nowMs, 0);
}
