import type { Clock } from '../../src/lib/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on, waking sleepers in order and letting their work run before the next wakes. */
  advance(ms: number): Promise<void>;
  /** Somebody sets the clock: what it shows jumps, and nobody sleeps longer or shorter for it. */
  set(byMs: number): void;
}

/**
 * A turn of the event loop runs every promise that can be settled. Some turns more, for code that waits for a turn
 * itself. It runs at every step of every test with a fake clock, so it is one promise and few turns.
 */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    let turnsLeft = 3;
    const turn = (): void => {
      turnsLeft -= 1;
      if (turnsLeft === 0) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });

interface Sleeper {
  atMs: number;
  wake(): void;
}

export function fakeClock(startMs = Date.parse('2026-11-16T03:12:00Z')): FakeClock {
  let nowMs = startMs;
  let setByMs = 0;
  const sleepers = new Set<Sleeper>();

  /** Of those who sleep until the same moment, who went first. */
  function first(untilMs: number): Sleeper | undefined {
    let found: Sleeper | undefined;
    for (const sleeper of sleepers)
      if (sleeper.atMs <= untilMs && (!found || sleeper.atMs < found.atMs)) found = sleeper;
    return found;
  }

  return {
    now: () => nowMs + setByMs,
    set: (byMs) => void (setByMs += byMs),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake); // a signal that lives long would collect them
          resolve();
        };
        const sleeper = { atMs: nowMs + Math.max(ms, 0), wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (;;) {
        const next = first(untilMs);
        if (!next) break;
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
        await settle();
      }
      nowMs = untilMs;
      await settle();
    },
  };
}
