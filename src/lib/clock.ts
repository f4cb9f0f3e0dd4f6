/** All time comes from here: nothing else reads the system clock or sets a timer of its own. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that a Node timer accepts; a longer one would fire at once. */
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

/** Milliseconds of a clock that nobody can set. It stands still while the machine sleeps. */
export const steadyMs = (): number => performance.now();

export const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * The work's result, or the signal's reason as soon as it aborts. The work itself continues, but its result is ignored.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = (): void => aborted.reject(signal.reason as Error);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * The work's result, or `late` if there is none within `ms`. Late work goes on, but nobody hears of its result; the signal
 * that it was given is aborted then.
 */
export async function inTime<T, const L>(
  { clock, ms, late }: { clock: Clock; ms: number; late: L },
  work: (isLate: AbortSignal) => Promise<T>,
): Promise<T | L> {
  const done = new AbortController();
  const cut = new AbortController();
  const timeout = clock.sleep(ms, done.signal).then(() => {
    if (!done.signal.aborted) cut.abort();
    return late;
  });
  try {
    return await Promise.race([work(cut.signal), timeout]);
  } finally {
    done.abort();
  }
}

const firstRetryMs = 500;
const longestRetryMs = 30_000;

/** How long to wait after so many failures in a row: doubling from half a second to half a minute, with jitter. */
export function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(firstRetryMs * 2 ** (Math.max(failures, 1) - 1), longestRetryMs);
  return ceiling * (0.5 + random() / 2);
}
