import type { LiveHealth } from './live.ts';

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
