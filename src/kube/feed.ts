import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type Api, isForbidden, type KubeObject } from './api.ts';
import type { Kind } from './resources.ts';
import type { Store } from './store.ts';
import { createWatch, type ReconnectSignal, type Watch } from './watch.ts';

/** A namespace; undefined is the whole cluster. */
export type Scope = string | undefined;

interface FeedDeps<V extends KubeObject> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  /** Each scope gets one watch. */
  scopes: readonly Scope[];
  view(object: KubeObject): V | undefined;
  store: Store<V>;
  reconnected?: ReconnectSignal;
}

export interface Feed<V> {
  /** The watches of the initial scopes. */
  watches: Watch[];
  /** Adds a scope. */
  open(scope: Scope): Watch;
  /** Stops using a scope. Its objects stay in the store as last seen, until another scope lists them. */
  close(scope: Scope): void;
  scopes(): Scope[];
  /**
   * Whether an object that is not in the store is known to be missing. False for a namespace that is not listed, or may
   * not be.
   */
  isHeard(namespace: string): boolean;
  /** Resolves when every scope was listed once. */
  listed: Promise<void>;
  /** Resolves when this scope has been listed, or need not be waited for. */
  listedIn(scope: Scope): Promise<void>;
  /**
   * Reads each of these objects again and corrects what its watch missed, above all deletions. Returns how many were
   * wrong.
   */
  recheck(isWanted: (view: V) => boolean): Promise<number>;
  /**
   * Reads what was listed once more: afterwards the store has all that anybody wrote before, however late or silent the
   * watches are.
   */
  catchUp(): Promise<void>;
}

/** How long a forbidden scope may keep the others waiting. */
const longestWaitMs = 60_000;

interface OpenScope {
  isListed: boolean;
  /** It could not be listed, and the others no longer wait for it. */
  isUnheard: boolean;
  forbiddenSinceMs?: number;
  listed: PromiseWithResolvers<void>;
}

/**
 * Several watches of one kind that fill one store. Listeners are not called before all of them have listed. Only for
 * kinds with few objects.
 */
export function createFeed<V extends KubeObject>({ scopes, store, ...deps }: FeedDeps<V>): Feed<V> {
  const first = Promise.withResolvers<void>();
  const opened = new Map<Scope, OpenScope>();

  function isHeard(namespace: string | undefined): boolean {
    return [opened.get(undefined), opened.get(namespace)].some((one) => one?.isListed && !one.isUnheard);
  }

  /**
   * A deleted namespace takes our rights in it with it, so the others do not wait for it for ever. Rights that are only
   * late still arrive, and the scope is listed then.
   */
  function onForbidden(scope: Scope, own: OpenScope): void {
    const nowMs = deps.clock.now();
    own.forbiddenSinceMs ??= nowMs;
    if (own.isListed || opened.size < 2 || nowMs - own.forbiddenSinceMs < longestWaitMs) return;
    own.isUnheard = true;
    take(scope, own, []);
  }

  function onList(scope: Scope, own: OpenScope, views: V[]): void {
    own.isUnheard = false;
    take(scope, own, views);
  }

  function take(scope: Scope, own: OpenScope, views: V[]): void {
    if (opened.get(scope) !== own) return; // closed meanwhile
    own.isListed = true;
    store.list(scope, views);
    own.listed.resolve();
    completeIfAllAreListed();
  }

  function completeIfAllAreListed(): void {
    if (store.isComplete() || ![...opened.values()].every((one) => one.isListed)) return;
    store.complete();
    store.repeat();
    first.resolve();
  }

  async function correct(known: V): Promise<boolean> {
    const { namespace = '', name, uid, resourceVersion } = known.metadata;
    const live = await deps.api.get<KubeObject>({ kind: deps.kind, namespace, name });
    // The watch may have brought a newer version meanwhile.
    if (store.get(uid)?.metadata.resourceVersion !== resourceVersion) return false;
    const isSame = live?.metadata.uid === uid;
    const view = live && deps.view(live);
    if (isSame && live.metadata.resourceVersion === resourceVersion) return false;
    if (!isSame || !view) store.apply({ type: 'gone', namespace, name, uid });
    if (view) store.apply({ type: 'upsert', view });
    return true;
  }

  async function recheck(isWanted: (view: V) => boolean): Promise<number> {
    let wrong = 0;
    const isWatched = ({ metadata }: V): boolean => opened.has(undefined) || opened.has(metadata.namespace);
    for (const known of store.all().filter((view) => isWatched(view) && isWanted(view)))
      if (await correct(known)) wrong += 1;
    return wrong;
  }

  /** It adds and corrects, and removes nothing: a watch may be ahead of a list. */
  async function catchUp(): Promise<void> {
    for (const [scope, own] of opened) {
      if (!own.isListed || own.isUnheard) continue;
      for (const object of await deps.api.list(deps.kind, scope).catch(nothingIfForbidden)) {
        const view = deps.view(object);
        if (view) store.apply({ type: 'upsert', view });
      }
    }
  }

  function open(scope: Scope): Watch {
    const own: OpenScope = { isListed: false, isUnheard: false, listed: Promise.withResolvers<void>() };
    opened.set(scope, own);
    return createWatch<V>({
      ...deps,
      ...(scope === undefined ? {} : { namespace: scope }),
      onList: (views) => onList(scope, own, views),
      onChange: (change) => opened.get(scope) === own && store.apply(change),
      onForbidden: () => onForbidden(scope, own),
    });
  }

  function close(scope: Scope): void {
    const own = opened.get(scope);
    opened.delete(scope);
    own?.listed.resolve();
    completeIfAllAreListed(); // the others may have waited for this scope
  }

  const watches = scopes.map(open);
  return {
    watches,
    open,
    close,
    scopes: () => [...opened.keys()],
    isHeard,
    listed: first.promise,
    listedIn: (scope) => opened.get(scope)?.listed.promise ?? Promise.resolve(),
    recheck,
    catchUp,
  };
}

/** The rights in a namespace go with it. */
function nothingIfForbidden(error: unknown): [] {
  if (isForbidden(error)) return [];
  throw error;
}
