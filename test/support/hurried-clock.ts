import type { Clock } from '../../src/lib/clock.ts';

/** How long a tick is on the wall, on a machine that has nothing else to do. */
const tickMs = 1;

interface Sleeper {
  wakesAtMs: number;
  wake(): void;
}

/**
 * A clock that runs so many times faster than the wall's: for loops that wait for real servers in between. It counts its
 * own ticks, which are turns of this process: while the machine is busy elsewhere, neither the servers of a test nor this
 * clock get on. It stands still while nobody sleeps.
 */
export function hurriedClock(times: number): Clock & { slept: number[] } {
  const slept: number[] = [];
  const sleepers = new Set<Sleeper>();
  let nowMs = 0;
  let ticking: NodeJS.Timeout | undefined;

  function tick(): void {
    nowMs += tickMs * times;
    const due = [...sleepers].filter(({ wakesAtMs }) => wakesAtMs <= nowMs);
    for (const { wake } of due.sort((a, b) => a.wakesAtMs - b.wakesAtMs)) wake();
  }

  return {
    slept,
    now: () => nowMs,
    sleep(ms, signal) {
      slept.push(ms);
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          if (sleepers.size === 0) {
            clearInterval(ticking);
            ticking = undefined;
          }
          resolve();
        };
        const sleeper = { wakesAtMs: nowMs + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
        ticking ??= setInterval(tick, tickMs).unref();
      });
    },
  };
}
