import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { ApiError, isRefusedUnprocessed, isUnserved } from './api.ts';

/**
 * Knows whether the API server serves us at all, from what becomes of every single request. An outage is two log lines,
 * its beginning and its end, however many calls and watches fail in between: their errors are marked, so that nobody
 * else logs them.
 */
export interface Outage {
  /** A request was answered, or an open watch delivered something. */
  reached(): void;
  /** A request was not served. It may be sent again; that does not matter here. */
  failed(error: unknown): void;
}

/** A single failure is normal (a connection that the server closed just then): an outage lasts at least this long. */
const shortestMs = 1_000;
/** A server that refuses requests for a while is busy, not away. */
const longestBusyMs = 10_000;

export function createOutage({ clock, log }: { clock: Clock; log: Log }): Outage {
  let wasReached = false;
  let failures = 0;
  let failingSinceMs = 0;
  let isDown = false;

  /** Until the server was reached for the first time, somebody waits for us to say why nothing happens. */
  function lasts(error: unknown): boolean {
    const longEnoughMs = isRefusedUnprocessed(error) ? longestBusyMs : shortestMs;
    const isFirstContact = !wasReached && !isRefusedUnprocessed(error);
    return isFirstContact || clock.now() - failingSinceMs >= longEnoughMs;
  }

  return {
    reached() {
      if (isDown) log.info({ failures, downMs: clock.now() - failingSinceMs }, 'the API server answers');
      wasReached = true;
      isDown = false;
      failures = 0;
    },
    failed(error) {
      if (!isUnserved(error)) return;
      failures += 1;
      if (failures === 1) failingSinceMs = clock.now();
      if (!isDown && lasts(error)) {
        isDown = true;
        log.error({ err: messageOf(error) }, 'not connected to the API server, trying again');
      }
      if (isDown) error.isSaid = true;
    },
  };
}

/** Work that is tried again, and that the server has not served so often in a row, has a trouble of its own. */
const manyFailures = 5;

/**
 * The level of a log line about work that failed and will be tried again. Without the number of failures in a row, only
 * the errors of an outage that was logged are left out.
 */
export function levelOf(error: unknown, failures = manyFailures): 'debug' | 'warn' {
  if (!isUnserved(error)) return 'warn';
  return error.isSaid || failures < manyFailures ? 'debug' : 'warn';
}

/** The server answered, although not as we hoped. (500 may be said by anybody.) */
export const isAnswer = (error: unknown): boolean =>
  error instanceof ApiError && error.code < 500 && !isUnserved(error);
