import { type Api, ApiError, type KubeObject, Unreachable } from '../../kube/api.ts';
import type { Kind } from '../../kube/resources.ts';
import { createWatch, type Watch } from '../../kube/watch.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';

export interface SimControllerDeps {
  api: Api;
  clock: Clock;
  log: Log;
  informers: Informers;
  signal: AbortSignal;
}

/** The delay after repeated failures: 5 ms, 10 ms, ... up to 1000 s, as in every controller of Kubernetes. */
export const retryMs = (failures: number): number => Math.min(5 * 2 ** failures, 1_000_000);

/** Logs a failure. An answer of the API server is expected and logged quietly; anything else is a bug and logged as an error. */
export function report(log: Log, about: object, error: unknown): void {
  const cause = error instanceof RetryLater ? error.cause : error;
  const isUsual = cause instanceof ApiError || cause instanceof Unreachable;
  const fields = { ...about, error: messageOf(cause), ...(!isUsual && { stack: (cause as Error).stack }) };
  log[isUsual ? 'debug' : 'error'](fields, 'not done; it will be tried again');
}

export const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

interface Loop {
  add(key: string): void;
}

/**
 * Runs `sync` for one object at a time, by name. A change of the object or of what it owns, or a time that has come, runs
 * it at once, even if it would still have waited after failures.
 */
export function createLoop(
  { clock, log, signal }: SimControllerDeps,
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

interface InformerDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** The random source of each watch's lifetime. */
  random?: () => number;
}

/** Receives every object of a kind as it is now, and each deleted one in its last state. */
type ObjectHandler = (object: KubeObject, isGone: boolean) => void;

/** One shared watch per kind, and the objects it has seen. */
interface Informers {
  /** Call it before `run`, because a later handler would miss the first list. */
  on(kind: Kind, handle: ObjectHandler): void;
  /** The objects as last seen, which may be late. Good for triggers, but not for decisions that must be right. */
  seen<T extends KubeObject>(kind: Kind): Iterable<T>;
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Seen {
  objects: Map<string, KubeObject>;
  handlers: ObjectHandler[];
}

export function createInformers(deps: InformerDeps): Informers {
  const kinds = new Map<Kind, Seen>();

  function seenOf(kind: Kind): Seen {
    const known = kinds.get(kind) ?? { objects: new Map(), handlers: [] };
    kinds.set(kind, known);
    return known;
  }

  function watchOf(kind: Kind, { objects, handlers }: Seen): Watch {
    const upsert = (object: KubeObject): void => {
      objects.set(object.metadata.uid, object);
      for (const handle of handlers) handle(object, false);
    };
    const remove = (uid: string): void => {
      const last = objects.get(uid);
      objects.delete(uid);
      if (last) for (const handle of handlers) handle(last, true);
    };
    return createWatch<KubeObject>({
      ...deps,
      kind,
      view: (object) => object,
      onList(all) {
        const there = new Set(all.map(({ metadata }) => metadata.uid));
        for (const uid of objects.keys()) if (!there.has(uid)) remove(uid);
        all.forEach(upsert);
      },
      onChange: (change) => (change.type === 'upsert' ? upsert(change.view) : remove(change.uid)),
    });
  }

  return {
    on: (kind, handle) => void seenOf(kind).handlers.push(handle),
    seen: <T extends KubeObject>(kind: Kind) => seenOf(kind).objects.values() as Iterable<T>,
    async run(signal) {
      await Promise.all([...kinds].map(([kind, seen]) => watchOf(kind, seen).run(signal)));
    },
  };
}
