/** All time comes from here: nothing else reads the wall clock or sets a timer of its own. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest delay a Node timer holds; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(ms, 0), longestTimerMs));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

export const iso = (ms: number): string => new Date(ms).toISOString();
