import type { Clock } from '../../src/lib/clock.ts';

interface Sleeper {
  dueAtMs: number;
  timer?: NodeJS.Timeout;
  wake(): void;
}

/** The time of day, which can be sent ahead: whoever sleeps wakes as if it had passed. */
export function warpClock(): Clock & { pass(ms: number): void } {
  const sleepers = new Set<Sleeper>();
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;

  function arm(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer);
    sleeper.timer = setTimeout(() => sleeper.wake(), Math.max(sleeper.dueAtMs - now(), 0));
    sleeper.timer.unref();
  }

  return {
    now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper: Sleeper = {
          dueAtMs: now() + ms,
          wake() {
            clearTimeout(sleeper.timer);
            sleepers.delete(sleeper);
            signal?.removeEventListener('abort', sleeper.wake);
            resolve();
          },
        };
        signal?.addEventListener('abort', sleeper.wake, { once: true });
        sleepers.add(sleeper);
        arm(sleeper);
      }),
    pass(ms) {
      aheadMs += ms;
      for (const sleeper of sleepers) arm(sleeper);
    },
  };
}
