import { backoffMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { ApiError, Unreachable } from './api.ts';

export interface OutageDeps {
  clock: Clock;
  log: Log;
  random: () => number;
  /** What is watched, for the log. */
  about: object;
  onOver?(): void;
}

export interface Outage {
  /** One more failure; says how long to wait. */
  failed(error: unknown): number;
  /** The server no longer knows our resourceVersion; says how long to wait before listing again. */
  expired(error: unknown): number;
  /** A list was read. */
  listed(): void;
  /** The watch delivers. */
  delivers(): void;
}

/** A server may ask for a pause, but not put us to sleep. */
const longestPauseMs = 60_000;

/** Whether it may be over as soon as others reach the server: not a pause that it asked for, nor a right that is missing. */
export const isDown = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && error.code >= 500 && error.retryAfterMs === undefined);

/** Counts failures in a row, and logs the first of them and the end: an outage is two lines, however long it is. */
export function createOutage({ clock, log, random, about, onOver }: OutageDeps): Outage {
  let failures = 0;
  let expiries = 0;
  let sinceMs = 0;

  function over(): void {
    if (failures === 0) return;
    log.info({ ...about, failures, downMs: clock.now() - sinceMs }, 'watch is back');
    failures = 0;
    onOver?.();
  }

  return {
    failed(error) {
      failures += 1;
      if (failures === 1) sinceMs = clock.now();
      const asked = error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, longestPauseMs) : 0;
      const retryInMs = Math.max(backoffMs(failures, random), asked);
      const fields = { ...about, error: messageOf(error), retryInMs: Math.round(retryInMs) };
      if (failures === 1) log.warn(fields, 'watch is broken');
      else log.debug(fields, 'watch is still broken');
      return retryInMs;
    },
    expired(error) {
      expiries += 1;
      log.debug({ ...about, error: messageOf(error) }, 'watch has expired');
      // Ordinary once. A list that is always too old already must not become a busy loop of lists.
      return expiries === 1 ? 0 : backoffMs(expiries - 1, random);
    },
    listed: over,
    delivers() {
      over();
      expiries = 0;
    },
  };
}
