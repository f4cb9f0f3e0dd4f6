import type { LiveHealth } from './live.ts';

/** Whether what was seen is what is wrong: a rollout under way is not healthy either, but it is no crash loop. */
export function isStillTrue(failureClass: string, live: LiveHealth): boolean {
  return failureClass === 'CrashLoop' ? live.crashing : !live.healthy;
}
