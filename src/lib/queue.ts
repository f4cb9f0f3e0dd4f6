import { backoffMs, type Clock } from './clock.ts';

/** The result of a pass over one key: done, or come back in this many milliseconds. */
export type Outcome = { againInMs: number } | undefined;

export interface QueueDeps {
  clock: Clock;
  /** One pass. It never runs twice at the same time for one key. If it throws, the queue backs off and tries again. */
  handle(key: string): Promise<Outcome>;
  /** `failures`: how many passes of this key have failed in a row. */
  onError(key: string, error: unknown, retryInMs: number, failures: number): void;
  signal: AbortSignal;
  /** Urgent keys go before all others, however long those have waited. Asked when the key is added. */
  isUrgent?(key: string): boolean;
  concurrency?: number;
  random?: () => number;
}

export interface Queue {
  add(key: string): void;
  addAfter(key: string, ms: number): void;
  /** Resolves when no pass is running. */
  idle(): Promise<void>;
}

/**
 * A keyed work queue: a key says *what* to look at, never what happened, so a burst of changes is one pass.
 * A key added while its pass runs gets one more pass afterwards.
 */
export function createQueue({
  clock,
  handle,
  onError,
  signal,
  isUrgent = () => false,
  concurrency = 4,
  random = Math.random,
}: QueueDeps): Queue {
  const urgent = new Set<string>(); // in order
  const ready = new Set<string>(); // also in order
  const waiting = new Map<string, { atMs: number; cancel: AbortController }>();
  const running = new Map<string, boolean>(); // value: added again meanwhile
  const failures = new Map<string, number>();
  let onIdle: (() => void)[] = [];

  function add(key: string): void {
    if (signal.aborted) return;
    waiting.get(key)?.cancel.abort();
    waiting.delete(key);
    if (running.has(key)) running.set(key, true);
    else makeReady(key);
    pump();
  }

  function makeReady(key: string): void {
    if (isUrgent(key)) {
      ready.delete(key);
      urgent.add(key);
    } else if (!urgent.has(key)) ready.add(key);
  }

  function addAfter(key: string, ms: number): void {
    const atMs = clock.now() + ms;
    const sooner = waiting.get(key);
    if (signal.aborted || (sooner && sooner.atMs <= atMs)) return;
    sooner?.cancel.abort();
    const cancel = new AbortController();
    waiting.set(key, { atMs, cancel });
    void clock.sleep(ms, AbortSignal.any([signal, cancel.signal])).then(() => {
      if (!cancel.signal.aborted && !signal.aborted) add(key);
    });
  }

  function pump(): void {
    for (const keys of [urgent, ready])
      for (const key of keys) {
        if (running.size >= concurrency || signal.aborted) return;
        keys.delete(key);
        running.set(key, false);
        void pass(key);
      }
  }

  async function pass(key: string): Promise<void> {
    let againInMs: number | undefined;
    try {
      againInMs = (await handle(key))?.againInMs;
      failures.delete(key);
    } catch (error) {
      const failed = (failures.get(key) ?? 0) + 1;
      failures.set(key, failed);
      againInMs = (error as { afterMs?: number } | undefined)?.afterMs ?? backoffMs(failed, random);
      if (!signal.aborted) onError(key, error, againInMs, failed); // what is cut off when we stop is no failure
    }
    const again = running.get(key);
    running.delete(key);
    if (again) add(key);
    else if (againInMs !== undefined) addAfter(key, againInMs);
    pump();
    if (running.size === 0) onIdle = (onIdle.forEach((resolve) => resolve()), []);
  }

  const idle = (): Promise<void> =>
    running.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve));
  return { add, addAfter, idle };
}
