/** One thing that is wrong with one object at this moment: a signal when it is seen, and the proof when it is read again. */
export interface Trouble {
  class: string;
  reason: string;
  message: string;
  /** What is really to blame, when that is something else: then it is not the workload's own trouble. */
  cause?: { kind: string; name: string };
  /** Of what passes by itself in every rollout: since when this object has had it, by the cluster's own words. */
  sinceMs?: number;
}

/** One of each class: the first that was found. */
export function distinct(troubles: readonly Trouble[]): Trouble[] {
  const seen = new Set<string>();
  return troubles.filter(({ class: failureClass, cause }) => {
    const key = `${failureClass}/${cause?.name ?? ''}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** Other clocks may be ahead of ours; further than this they are wrong, and tell nothing. */
const mostAheadMs = 300_000;

const lastingOf = ({ sinceMs }: Trouble, nowMs: number): number =>
  sinceMs === undefined || sinceMs > nowMs + mostAheadMs ? Number.POSITIVE_INFINITY : nowMs - sinceMs;

/** The classes that are its own, and how long each has lasted: the longest of all that have it counts. */
export function summed(found: readonly Trouble[], nowMs: number) {
  const own = found.filter(({ cause }) => cause === undefined);
  const lastingMs: Record<string, number> = {};
  for (const trouble of own)
    lastingMs[trouble.class] = Math.max(lastingMs[trouble.class] ?? 0, lastingOf(trouble, nowMs));
  return { troubles: Object.keys(lastingMs), lastingMs };
}
