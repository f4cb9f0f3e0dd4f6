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

/** What a fresh reading of an incident's target says. Pure: see diagnosis/ for who reads. */
export interface LiveHealth {
  /** By every rule for its class; for a shared cause, of every workload it touches. */
  healthy: boolean;
  /** One clause, when it is not. */
  why: string;
  ready: number;
  desired: number;
  /** The failure classes that are true of it at this reading. What cannot be confirmed is not among them. */
  troubles: readonly string[];
  /** Of troubles that come and go with every rollout: how long the part that has had it longest has had it. */
  lastingMs?: Readonly<Record<string, number>>;
  /** Of a quota: whom it refused would be let in now. */
  hasRoom: boolean;
  /** Of all its pods together. */
  restarts: number;
  /** Of containers that have ended: how long a crash loop lets a pod look fine. */
  longestUptimeMs: number;
  /** "Deployment/api": the workloads a shared cause touches. */
  affected: string[];
  /** It came to its end otherwise than healthy, in words: a Job that failed for good. */
  ended?: string;
  /** The target itself is gone (or is another object of the same name). */
  gone: boolean;
}

/**
 * Whether what was seen is what is wrong at this moment: a rollout under way is not healthy either, but it is no crash
 * loop, and who only waits for the next try of a ReplicaSet is not refused by a quota that has room. What every rollout
 * does for a while, as pods that are not ready yet, is a failure of the one that has done it for `forMs`.
 */
export function isStillTrue(failureClass: string, live: LiveHealth, forMs = 0): boolean {
  if (live.healthy || live.hasRoom || !live.troubles.includes(failureClass)) return false;
  return (live.lastingMs?.[failureClass] ?? Number.POSITIVE_INFINITY) >= forMs;
}

/** Up again is not over: what was killed for memory a minute ago, or a Job that failed for good, is as it was noticed. */
export function judgedFor(failureClass: string | undefined, live: LiveHealth): LiveHealth {
  if (failureClass === undefined || !live.healthy || !live.troubles.includes(failureClass)) return live;
  const { ended, ...rest } = live;
  return { ...rest, healthy: false, why: ended ?? `${failureClass} is still true` };
}
