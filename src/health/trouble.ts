/**
 * One thing that is wrong with one object now. It becomes a signal when it is seen, and is the proof when it is read
 * again.
 */
export interface Trouble {
  class: string;
  reason: string;
  message: string;
  /** The object that is really to blame, if it is another one. Then it is not the workload's own trouble. */
  cause?: { kind: string; name: string };
  /**
   * For troubles that every rollout has for a while: since when this object has had it, by the cluster's own
   * timestamps.
   */
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

/** Other clocks may be ahead of ours. If they are ahead by more than this, they are wrong and are ignored. */
const mostAheadMs = 300_000;

const lastingOf = ({ sinceMs }: Trouble, nowMs: number): number =>
  sinceMs === undefined || sinceMs > nowMs + mostAheadMs ? Number.POSITIVE_INFINITY : nowMs - sinceMs;

/** The classes of its own troubles, and how long each has lasted: the longest time counts. */
export function summed(found: readonly Trouble[], nowMs: number) {
  const own = found.filter(({ cause }) => cause === undefined);
  const lastingMs: Record<string, number> = {};
  for (const trouble of own)
    lastingMs[trouble.class] = Math.max(lastingMs[trouble.class] ?? 0, lastingOf(trouble, nowMs));
  return { troubles: Object.keys(lastingMs), lastingMs };
}

/** The result of a fresh reading of an incident's target. Pure: diagnosis/ does the reading. */
export interface LiveHealth {
  /** True by every rule for its class. For a shared cause: for every workload that it affects. */
  healthy: boolean;
  /** The reason as one clause, when it is not healthy. */
  why: string;
  ready: number;
  desired: number;
  /** For a shared cause: one of the workloads that it affects wants pods and has none ready. */
  hasOneDown?: boolean;
  /** The failure classes that are true at this reading. A class that cannot be confirmed is not included. */
  troubles: readonly string[];
  /** For troubles that come and go with every rollout: how long the object that has had it longest has had it. */
  lastingMs?: Readonly<Record<string, number>>;
  /**
   * The earliest time in the objects' own status at which it was broken: since then a pod is unready, or an owner is
   * refused its pods.
   */
  brokenSinceMs?: number;
  /** For a quota: the pods that it refused would be accepted now. */
  hasRoom: boolean;
  /** The sum over all its pods. */
  restarts: number;
  /** The longest run of a container that has ended: for so long a crash loop lets a pod look fine. */
  longestUptimeMs: number;
  /** The workloads that a shared cause affects: "Deployment/api". */
  affected: string[];
  /** The text if it ended in another way than healthy: a Job that failed for good. */
  ended?: string;
  /** The target itself is gone (or is another object of the same name). */
  gone: boolean;
}

/**
 * Whether the failure that was seen is true now. A rollout in progress is not healthy either, but it is not a crash
 * loop; and a workload that only waits for its ReplicaSet's next try is not refused by a quota that has room. Some
 * states are normal for a while in every rollout, such as pods that are not ready yet; they are failures once they last
 * `forMs`.
 */
export function isStillTrue(failureClass: string, live: LiveHealth, forMs = 0): boolean {
  if (live.healthy || live.hasRoom || !live.troubles.includes(failureClass)) return false;
  return (live.lastingMs?.[failureClass] ?? Number.POSITIVE_INFINITY) >= forMs;
}

/**
 * Running again does not mean that it is over: a container that was killed for memory a minute ago, or a Job that
 * failed for good, still has the failure that was noticed.
 */
export function judgedFor(failureClass: string | undefined, live: LiveHealth): LiveHealth {
  if (failureClass === undefined || !live.healthy || !live.troubles.includes(failureClass)) return live;
  const { ended, ...rest } = live;
  return { ...rest, healthy: false, why: ended ?? `${failureClass} is still true` };
}
