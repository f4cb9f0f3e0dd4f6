import type { Clock } from '../lib/clock.ts';
import type { KubeObject } from './api.ts';
import type { Change } from './watch.ts';

/** A change as a listener gets it: a deletion includes the object as it was last seen. */
export type StoreChange<V> =
  Extract<Change<V>, { type: 'upsert' }> | (Extract<Change<V>, { type: 'gone' }> & { last?: V });

export interface Listener<V> {
  /** Everything that exists now, and what was deleted since the last list or change. */
  onList(views: V[], gone: V[]): void;
  onChange(change: StoreChange<V>): void;
}

/** The read side of a store, which most parts of the program get. */
export interface StoreReader<V> {
  /** False until every scope was listed once: before that, an object that is not here may still exist. */
  isComplete(): boolean;
  all(): V[];
  get(uid: string): V | undefined;
  named(namespace: string, name: string): V | undefined;
  /** Looks up by the keys of `keysOf`. */
  withKey(key: string): V[];
}

/**
 * The one place in a process that holds the objects of a kind (Remediations, Notices). The watches fill it, the answers to
 * our own writes are put into it, and every part reads from it.
 */
export interface Store<V> extends StoreReader<V> {
  /** A whole list of one namespace, or (undefined) of the cluster. Objects that are not in it are gone. */
  list(scope: string | undefined, views: readonly V[]): void;
  apply(change: Change<V>): void;
  /** The server's answer to a write of ours. The watch brings it as well, later. */
  put(view: V): void;
  remove(uid: string): void;
  /** Every scope was listed once: from now on listeners are called. */
  complete(): void;
  /** Calls every listener with everything once more. */
  repeat(): void;
  /** With a signal: until it aborts. A listener that comes late gets everything at once. */
  subscribe(listener: Listener<V>, signal?: AbortSignal): void;
}

interface StoreDeps<V> {
  clock: Clock;
  /** The keys under which a view can be looked up. */
  keysOf?(view: V): string[];
}

/**
 * A list that was read before our write was answered does not contain that object yet. For this long, a list does not
 * prove that an object we wrote is gone.
 */
const listLagMs = 60_000;

export function createStore<V extends KubeObject>({ clock, keysOf = () => [] }: StoreDeps<V>): Store<V> {
  const views = new Map<string, V>(); // by uid
  const index = new Map<string, Set<string>>(); // uids by key
  const uidOf = new Map<string, string>(); // by namespace and name
  const writtenAtMs = new Map<string, number>(); // by uid: when the server answered a write of ours
  const listeners = new Set<Listener<V>>();
  let isComplete = false;

  function hold(view: V): V {
    const earlier = uidOf.get(nameOf(view.metadata));
    if (earlier !== undefined && earlier !== view.metadata.uid) remove(earlier); // deleted and created again
    release(view.metadata.uid);
    uidOf.set(nameOf(view.metadata), view.metadata.uid);
    views.set(view.metadata.uid, view);
    for (const key of keysOf(view)) index.set(key, (index.get(key) ?? new Set()).add(view.metadata.uid));
    return view;
  }

  /** Takes a view out of the index. The caller replaces it, or deletes it. */
  function release(uid: string): V | undefined {
    const known = views.get(uid);
    for (const key of known ? keysOf(known) : []) {
      const uids = index.get(key);
      uids?.delete(uid);
      if (uids?.size === 0) index.delete(key);
    }
    if (known && uidOf.get(nameOf(known.metadata)) === uid) uidOf.delete(nameOf(known.metadata));
    return known;
  }

  function isTooNewToBeListed(uid: string): boolean {
    const atMs = writtenAtMs.get(uid);
    return atMs !== undefined && clock.now() - atMs < listLagMs;
  }

  function remove(uid: string): V | undefined {
    writtenAtMs.delete(uid);
    const known = release(uid);
    views.delete(uid);
    return known;
  }

  const all = (): V[] => [...views.values()];

  return {
    isComplete: () => isComplete,
    all,
    get: (uid) => views.get(uid),
    named: (namespace, name) => views.get(uidOf.get(nameOf({ namespace, name })) ?? ''),
    withKey: (key) => [...(index.get(key) ?? [])].flatMap((uid) => views.get(uid) ?? []),
    list(scope, listed) {
      const covered = all().filter(({ metadata }) => scope === undefined || metadata.namespace === scope);
      const before = new Map(covered.map((view) => [view.metadata.uid, view]));
      const uids = new Set(listed.map(({ metadata }) => metadata.uid));
      const missing = covered.filter(({ metadata }) => !uids.has(metadata.uid));
      const [gone, unlisted] = split(missing, ({ metadata }) => !isTooNewToBeListed(metadata.uid));
      for (const { metadata } of gone) remove(metadata.uid);
      // In the list's order, so that everybody sees the same order after a restart.
      for (const uid of before.keys()) {
        release(uid);
        views.delete(uid);
      }
      for (const view of listed) hold(newer(before.get(view.metadata.uid), view));
      for (const view of unlisted) hold(view);
      if (isComplete) for (const listener of listeners) listener.onList(all(), gone);
    },
    apply(change) {
      if (change.type === 'upsert') {
        const view = hold(newer(views.get(change.view.metadata.uid), change.view));
        if (isComplete) for (const listener of listeners) listener.onChange({ type: 'upsert', view });
        return;
      }
      const last = remove(change.uid);
      if (isComplete) for (const listener of listeners) listener.onChange({ ...change, ...(last && { last }) });
    },
    put(view) {
      hold(newer(views.get(view.metadata.uid), view));
      writtenAtMs.set(view.metadata.uid, clock.now());
    },
    remove: (uid) => void remove(uid),
    complete() {
      isComplete = true;
    },
    repeat() {
      if (isComplete) for (const listener of listeners) listener.onList(all(), []);
    },
    subscribe(listener, signal) {
      if (signal?.aborted) return;
      listeners.add(listener);
      signal?.addEventListener('abort', () => listeners.delete(listener), { once: true });
      if (isComplete) listener.onList(all(), []);
    },
  };
}

const nameOf = ({ namespace = '', name }: { namespace?: string; name: string }): string => `${namespace}/${name}`;

/** The one rule for "newer": the watch reports the past, and the answer to our own write may be ahead of it. */
const newer = <V extends KubeObject>(known: V | undefined, view: V): V =>
  known && Number(known.metadata.resourceVersion) > Number(view.metadata.resourceVersion) ? known : view;

const split = <T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] => [
  items.filter(isFirst),
  items.filter((item) => !isFirst(item)),
];

/** The same store for a part that needs only some of the objects. */
export const onlyOf = <V>(store: StoreReader<V>, isOwn: (view: V) => boolean): StoreReader<V> => ({
  isComplete: store.isComplete,
  all: () => store.all().filter(isOwn),
  get(uid) {
    const view = store.get(uid);
    return view && isOwn(view) ? view : undefined;
  },
  named(namespace, name) {
    const view = store.named(namespace, name);
    return view && isOwn(view) ? view : undefined;
  },
  withKey: (key) => store.withKey(key).filter(isOwn),
});

/**
 * A listener that is called only for some of the objects. A deletion is always passed on, but without the object if it
 * is not one of them.
 */
export const hearing = <V>(isOwn: (view: V) => boolean, { onList, onChange }: Listener<V>): Listener<V> => ({
  onList: (views, gone) => onList(views.filter(isOwn), gone.filter(isOwn)),
  onChange(change) {
    if (change.type === 'upsert') {
      if (isOwn(change.view)) onChange(change);
      return;
    }
    const { last, ...gone } = change;
    onChange(last && isOwn(last) ? change : gone);
  },
});
