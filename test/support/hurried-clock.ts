import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/lib/clock.ts';

/** A clock that runs so many times faster than the wall's: for loops that wait for real servers in between. */
export function hurriedClock(times: number): Clock & { slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => Math.round(performance.now() * times),
    async sleep(ms, signal) {
      slept.push(ms);
      await pause(ms / times, undefined, { signal, ref: false }).catch(() => undefined);
    },
  };
}
