import type { Clock } from './clock.ts';

export interface BucketOptions {
  clock: Clock;
  /** So many turns come back each second... */
  perSecond: number;
  /** ...until there are so many. */
  burst: number;
}

export interface Bucket {
  /** Resolves when it is the caller's turn: at once while there are turns left, else first come, first served. */
  turn(): Promise<void>;
}

/** A token bucket: a burst goes through at once, and afterwards so many each second. */
export function createBucket({ clock, perSecond, burst }: BucketOptions): Bucket {
  let left = burst;
  let countedMs = clock.now();
  const waiting: (() => void)[] = [];

  function refill(): void {
    const nowMs = clock.now();
    left = Math.min(burst, left + (Math.max(0, nowMs - countedMs) * perSecond) / 1000); // a clock may be set back
    countedMs = nowMs;
  }

  async function serve(): Promise<void> {
    while (waiting.length > 0) {
      refill();
      while (left >= 1 && waiting.length > 0) {
        left -= 1;
        waiting.shift()!();
      }
      if (waiting.length > 0) await clock.sleep(Math.ceil(((1 - left) * 1000) / perSecond));
    }
  }

  return {
    async turn() {
      refill();
      if (waiting.length === 0 && left >= 1) {
        left -= 1;
        return;
      }
      const mine = Promise.withResolvers<void>();
      waiting.push(mine.resolve);
      if (waiting.length === 1) void serve();
      return mine.promise;
    },
  };
}
