import type { Clock } from '../../src/lib/clock.ts';

export interface FakeClock extends Clock {
  /** Moves time on, waking sleepers in order and letting their work run before the next wakes. */
  advance(ms: number): Promise<void>;
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

export function fakeClock(startMs = Date.parse('2026-11-16T03:12:00Z')): FakeClock {
  let nowMs = startMs;
  let sleepers: { atMs: number; wake: () => void }[] = [];
  return {
    now: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { atMs: nowMs + Math.max(ms, 0), wake: resolve };
        sleepers.push(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          resolve();
        });
      }),
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (;;) {
        const next = sleepers.filter((s) => s.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (!next) break;
        nowMs = Math.max(nowMs, next.atMs);
        sleepers = sleepers.filter((s) => s !== next);
        next.wake();
        await settle();
      }
      nowMs = untilMs;
      await settle();
    },
  };
}
