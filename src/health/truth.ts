import type { LiveHealth } from './live.ts';

/**
 * Whether what was seen is what is wrong at this moment: a rollout under way is not healthy either, but it is no crash
 * loop, and who only waits for the next try of a ReplicaSet is not refused by a quota that has room.
 */
export function isStillTrue(failureClass: string, live: LiveHealth): boolean {
  if (live.healthy || live.hasRoom) return false;
  return failureClass !== 'CrashLoop' || live.crashing;
}
