import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Api, KubeObject } from './api.ts';
import type { Kind } from './resources.ts';
import { type Change, createWatch, type ReconnectSignal, type Watch } from './watch.ts';

interface FeedDeps<V extends KubeObject> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  /** One watch each; undefined is the whole cluster. */
  scopes: readonly Scope[];
  view(object: KubeObject): V | undefined;
  reconnected?: ReconnectSignal;
}

interface Listener<V> {
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

export type Scope = string | undefined;

export interface Feed<V> {
  /** Of the scopes it began with. */
  watches: Watch[];
  /** One more scope; what it lists is told to everybody. */
  open(scope: Scope): Watch;
  /** Nobody listens there any more. What was heard last stays known until another scope knows better. */
  close(scope: Scope): void;
  scopes(): Scope[];
  /** Whether what is missing from the list is known to be missing: not in a namespace that is not, or may not be, listed. */
  isHeard(namespace: string): boolean;
  /** Resolves when every listener has had the first list. */
  listed: Promise<void>;
  /** Resolves when this scope has been listed, or need not be waited for. */
  listedIn(scope: Scope): Promise<void>;
  subscribe(listener: Listener<V>): void;
  /** What is known, also of scopes that were closed. */
  all(): V[];
  /** Every listener is told everything once more: what it makes of it may have changed. */
  repeat(): void;
  /** Reads each of these again: what its watch missed, a deletion above all, is told to every listener. How many were wrong. */
  recheck(isWanted: (view: V) => boolean): Promise<number>;
}

/** How long one scope may keep the others waiting by being forbidden. */
const longestWaitMs = 60_000;

/** What one scope has told. */
interface Held<V> {
  views?: Map<string, V>;
  forbiddenSinceMs?: number;
  isUnheard: boolean;
  listed: PromiseWithResolvers<void>;
}

/** Several watches of one kind seen as one: the first list is handed on when all of them are there. For kinds of which there are few. */
export function createFeed<V extends KubeObject>({ scopes, ...deps }: FeedDeps<V>): Feed<V> {
  const listeners: Listener<V>[] = [];
  const first = Promise.withResolvers<void>();
  const held = new Map<Scope, Held<V>>();
  /** Of scopes that are closed, by uid. */
  let closed = new Map<string, V>();
  let isComplete = false;

  function isHeard(namespace: string | undefined): boolean {
    const own = [held.get(undefined), held.get(namespace)];
    return own.some((one) => one?.views !== undefined && !one.isUnheard);
  }

  function all(): V[] {
    closed = new Map([...closed].filter(([, view]) => !isHeard(view.metadata.namespace)));
    return [...new Map([...closed, ...[...held.values()].flatMap(({ views }) => [...(views ?? [])])]).values()];
  }

  /** A namespace that is gone took our rights with it: the others do not wait for it for ever. Rights that only lag do come. */
  function onForbidden(scope: Scope, own: Held<V>): void {
    const nowMs = deps.clock.now();
    own.forbiddenSinceMs ??= nowMs;
    if (own.views || held.size < 2 || nowMs - own.forbiddenSinceMs < longestWaitMs) return;
    own.isUnheard = true;
    handOn(scope, own, []);
  }

  function onList(scope: Scope, own: Held<V>, views: V[]): void {
    own.isUnheard = false;
    handOn(scope, own, views);
  }

  function handOn(scope: Scope, own: Held<V>, views: V[]): void {
    if (held.get(scope) !== own) return; // closed meanwhile
    own.views = new Map(views.map((view) => [view.metadata.uid, view]));
    own.listed.resolve();
    tellIfComplete();
  }

  function tellIfComplete(): void {
    isComplete ||= [...held.values()].every((one) => one.views !== undefined);
    repeat();
    if (isComplete) first.resolve();
  }

  function repeat(): void {
    if (!isComplete) return;
    const everything = all();
    for (const listener of listeners) listener.onList(everything);
  }

  function onChange(own: Held<V>, change: Change<V>): void {
    if (change.type === 'upsert') own.views?.set(change.view.metadata.uid, change.view);
    else own.views?.delete(change.uid);
    if (isComplete) for (const listener of listeners) listener.onChange(change);
  }

  async function correct(own: Held<V>, known: V): Promise<boolean> {
    const { namespace = '', name, uid, resourceVersion } = known.metadata;
    const live = await deps.api.get<KubeObject>({ kind: deps.kind, namespace, name });
    // The watch may have told it meanwhile.
    if (own.views?.get(uid)?.metadata.resourceVersion !== resourceVersion) return false;
    const isSame = live?.metadata.uid === uid;
    const view = live && deps.view(live);
    if (isSame && live.metadata.resourceVersion === resourceVersion) return false;
    if (!isSame || !view) onChange(own, { type: 'gone', namespace, name, uid });
    if (view) onChange(own, { type: 'upsert', view });
    return true;
  }

  async function recheck(isWanted: (view: V) => boolean): Promise<number> {
    let wrong = 0;
    for (const own of held.values())
      for (const known of [...(own.views?.values() ?? [])].filter(isWanted)) if (await correct(own, known)) wrong += 1;
    return wrong;
  }

  function open(scope: Scope): Watch {
    const own: Held<V> = { isUnheard: false, listed: Promise.withResolvers<void>() };
    held.set(scope, own);
    return createWatch<V>({
      ...deps,
      ...(scope === undefined ? {} : { namespace: scope }),
      onList: (views) => onList(scope, own, views),
      onChange: (change) => held.get(scope) === own && onChange(own, change),
      onForbidden: () => onForbidden(scope, own),
    });
  }

  function close(scope: Scope): void {
    const own = held.get(scope);
    held.delete(scope);
    own?.listed.resolve();
    for (const [uid, view] of own?.views ?? []) closed.set(uid, view);
    if (!isComplete) tellIfComplete(); // the others waited for it
  }

  const watches = scopes.map(open);
  return {
    watches,
    open,
    close,
    scopes: () => [...held.keys()],
    isHeard,
    listed: first.promise,
    listedIn: (scope) => held.get(scope)?.listed.promise ?? Promise.resolve(),
    subscribe: (listener) => void listeners.push(listener),
    all,
    repeat,
    recheck,
  };
}
