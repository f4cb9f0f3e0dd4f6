import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Api, KubeObject } from './api.ts';
import type { Kind } from './resources.ts';
import { type Change, createWatch, type Watch } from './watch.ts';

export interface FeedDeps<V extends KubeObject> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  /** One watch each; undefined is the whole cluster. */
  scopes: readonly (string | undefined)[];
  view(object: KubeObject): V | undefined;
}

export interface Listener<V> {
  onList(views: V[]): void;
  onChange(change: Change<V>): void;
}

/** The same listener, told only of those that are its own. */
export const onlyOf = <V>(isOwn: (view: V) => boolean, { onList, onChange }: Listener<V>): Listener<V> => ({
  onList: (views) => onList(views.filter(isOwn)),
  onChange: (change) => {
    if (change.type === 'gone' || isOwn(change.view)) onChange(change);
  },
});

export interface Feed<V> {
  watches: Watch[];
  /** Whether what is missing from the list is known to be missing: not in a namespace that is not, or may not be, listed. */
  isHeard(namespace: string): boolean;
  /** Resolves when every listener has had the first list. */
  listed: Promise<void>;
  subscribe(listener: Listener<V>): void;
}

/** How long one scope may keep the others waiting by being forbidden. */
const longestWaitMs = 60_000;

/** Several watches of one kind seen as one: the first list is handed on when all of them are there. For kinds of which there are few. */
export function createFeed<V extends KubeObject>({ scopes, ...deps }: FeedDeps<V>): Feed<V> {
  const listeners: Listener<V>[] = [];
  const first = Promise.withResolvers<void>();
  const held = scopes.map(() => undefined as Map<string, V> | undefined);
  const forbiddenSinceMs: number[] = [];
  const unheard = new Set<string | undefined>();

  /** A namespace that is gone took our rights with it: the others do not wait for it for ever. Rights that only lag do come. */
  function onForbidden(index: number): void {
    const nowMs = deps.clock.now();
    const sinceMs = (forbiddenSinceMs[index] ??= nowMs);
    if (held[index] !== undefined || scopes.length < 2 || nowMs - sinceMs < longestWaitMs) return;
    unheard.add(scopes[index]);
    handOn(index, []);
  }

  function onList(index: number, views: V[]): void {
    unheard.delete(scopes[index]);
    handOn(index, views);
  }

  function handOn(index: number, views: V[]): void {
    held[index] = new Map(views.map((view) => [view.metadata.uid, view]));
    if (!held.every((scope) => scope !== undefined)) return;
    const all = held.flatMap((scope) => [...scope.values()]);
    for (const listener of listeners) listener.onList(all);
    first.resolve();
  }

  function onChange(index: number, change: Change<V>): void {
    if (change.type === 'upsert') held[index]?.set(change.view.metadata.uid, change.view);
    else held[index]?.delete(change.uid);
    if (held.every((scope) => scope !== undefined)) for (const listener of listeners) listener.onChange(change);
  }

  const watches = scopes.map((namespace, index) =>
    createWatch<V>({
      ...deps,
      ...(namespace === undefined ? {} : { namespace }),
      onList: (views) => onList(index, views),
      onChange: (change) => onChange(index, change),
      onForbidden: () => onForbidden(index),
    }),
  );
  const isHeard = (namespace: string): boolean =>
    (scopes.includes(undefined) || scopes.includes(namespace)) && !unheard.has(namespace);
  return { watches, isHeard, listed: first.promise, subscribe: (listener) => void listeners.push(listener) };
}
