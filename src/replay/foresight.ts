import type { LiveHealth } from '../health/live.ts';
import { silenceMs } from '../incidents/decide.ts';
import type { SeenClass } from '../incidents/incident.ts';

/** What stands for the fresh reading of a live object. */
export interface Foresight {
  /** The same failure of the same incident was seen at that time. */
  put(key: string, failureClass: string, atMs: number): void;
  read(key: string, seen: readonly SeenClass[], nowMs: number): LiveHealth;
}

/**
 * There is no cluster to read again. But a recording knows what came next: a failure counts as still true at a moment if the
 * recording sees the same failure of the same incident at that moment, or within the next quarter of an hour (three times
 * its patience, if that is longer): as long as an event that only events tell of would count.
 */
export function createForesight(): Foresight {
  const times = new Map<string, number[]>(); // ascending
  const of = (key: string, failureClass: string): string => `${key} ${failureClass}`;

  function isSeenAgain(key: string, { class: failureClass, forMs }: SeenClass, nowMs: number): boolean {
    const next = nextFrom(times.get(of(key, failureClass)) ?? [], nowMs);
    return next !== undefined && next - nowMs < silenceMs(forMs);
  }

  return {
    put(key, failureClass, atMs) {
      const own = times.get(of(key, failureClass)) ?? [];
      own.push(atMs);
      times.set(of(key, failureClass), own);
    },
    read(key, seen, nowMs) {
      const troubles = seen.filter((one) => isSeenAgain(key, one, nowMs)).map((one) => one.class);
      const lastingMs = Object.fromEntries(seen.map((one) => [one.class, nowMs - one.firstMs]));
      return { healthy: troubles.length === 0, why: '', troubles, lastingMs, ready: 0, desired: 0, hasRoom: false, restarts: 0, longestUptimeMs: 0, affected: [], gone: false }; // prettier-ignore
    },
  };
}

/** The first of these that is not before. */
function nextFrom(ascending: readonly number[], fromMs: number): number | undefined {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < fromMs) low = middle + 1;
    else high = middle;
  }
  return ascending[low];
}
