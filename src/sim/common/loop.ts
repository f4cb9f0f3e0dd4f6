import { type Api, ApiError, type KubeObject, Unreachable } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';
import type { Lookout } from './lookout.ts';

export interface ControllerDeps {
  api: Api;
  clock: Clock;
  log: Log;
  lookout: Lookout;
  signal: AbortSignal;
}

/** Fails again and again: 5 ms, 10 ms, ... up to 1000 s, as every controller of Kubernetes waits. */
export const retryMs = (failures: number): number => Math.min(5 * 2 ** failures, 1_000_000);

/** What an API server may well answer is daily business; everything else is a mistake of ours, and loud. */
export function report(log: Log, about: object, error: unknown): void {
  const cause = error instanceof RetryLater ? error.cause : error;
  const isUsual = cause instanceof ApiError || cause instanceof Unreachable;
  const fields = { ...about, error: messageOf(cause), ...(!isUsual && { stack: (cause as Error).stack }) };
  log[isUsual ? 'debug' : 'error'](fields, 'not done; it will be tried again');
}

export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

export interface Loop {
  add(key: string): void;
}

/**
 * Looks at one object at a time, by name. Whatever wakes it (a change of the object, of what it owns, a time that has
 * come) makes it look at once, however long it would still have waited after failures.
 */
export function createLoop(
  { clock, log, signal }: ControllerDeps,
  component: string,
  sync: (namespace: string, name: string) => Promise<Outcome>,
): Loop {
  const failures = new Map<string, number>();
  const queue = createQueue({
    clock,
    signal,
    concurrency: 8,
    async handle(key) {
      const [namespace = '', name = ''] = key.split('/');
      try {
        const outcome = await sync(namespace, name);
        failures.delete(key);
        return outcome;
      } catch (error) {
        const failed = failures.get(key) ?? 0;
        failures.set(key, failed + 1);
        throw new RetryLater(messageOf(error), retryMs(failed), error);
      }
    },
    onError: (key, error, retryInMs) => report(log, { component, key, retryInMs }, error),
  });
  return queue;
}
