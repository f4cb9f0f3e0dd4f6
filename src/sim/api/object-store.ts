import type { KindRow } from '../kinds/kinds.ts';
import type { Obj } from './model.ts';

/** The effect of one write. A creation has no `before`, a deletion has no `after`. */
export interface StoredChange {
  revision: number;
  row: KindRow;
  before?: Obj;
  after?: Obj;
}

export interface ObjectStore {
  /** The resourceVersion of the newest write. */
  revision(): number;
  get(row: KindRow, namespace: string | undefined, name: string): Obj | undefined;
  /** All objects of the kind in the order of their keys, of one namespace or of all. */
  all(row: KindRow, namespace?: string): Obj[];
  /** Creates or replaces an object, and returns it with its new resourceVersion. */
  put(row: KindRow, object: Obj): Obj;
  /** Returns the last state with the resourceVersion of the deletion. */
  remove(row: KindRow, object: Obj): Obj;
  /** All objects as they were at an earlier revision; undefined when that revision is forgotten. */
  allAt(row: KindRow, namespace: string | undefined, revision: number): Obj[] | undefined;
  /** The changes after a revision; undefined when some of them are forgotten. */
  since(row: KindRow, revision: number): StoredChange[] | undefined;
  /** Returns a function that removes the listener. */
  listen(listener: (change: StoredChange) => void): () => void;
  /** Forgets all earlier changes, as etcd's compaction does. */
  compact(): void;
}

const keyOf = ({ namespace, name }: { namespace?: string; name: string }): string => `${namespace ?? ''}/${name}`;

/** etcd lists objects in the order of their keys. */
const inOrder = (objects: Map<string, Obj>, namespace: string | undefined): Obj[] =>
  [...objects]
    .filter(([, { metadata }]) => namespace === undefined || metadata.namespace === namespace)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, object]) => object);

export const versioned = (object: Obj, revision: number): Obj => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

/** This server never gave out a version below this one, so a request for one gets "forgotten". */
const firstRevision = 100;

/** Keeps the current objects of all kinds, one revision counter and a bounded history of changes. */
export function createObjectStore(longestHistory: number): ObjectStore {
  const kinds = new Map<KindRow, Map<string, Obj>>();
  const listeners = new Set<(change: StoredChange) => void>();
  let history: StoredChange[] = [];
  let revision = firstRevision;
  /** The oldest revision after which every change is still known. */
  let floor = firstRevision;

  const objects = (row: KindRow): Map<string, Obj> => {
    const known = kinds.get(row);
    if (known) return known;
    const none = new Map<string, Obj>();
    kinds.set(row, none);
    return none;
  };

  function record(change: StoredChange): void {
    history.push(change);
    if (history.length > longestHistory * 1.5) {
      history = history.slice(-longestHistory);
      floor = history[0]!.revision - 1;
    }
    for (const listener of listeners) listener(change);
  }

  return {
    revision: () => revision,
    get: (row, namespace, name) => objects(row).get(keyOf({ name, ...(namespace !== undefined && { namespace }) })),
    all: (row, namespace) => inOrder(objects(row), namespace),
    put(row, object) {
      const key = keyOf(object.metadata);
      const before = objects(row).get(key);
      revision += 1;
      const after = versioned(object, revision);
      objects(row).set(key, after);
      record({ revision, row, ...(before && { before }), after });
      return after;
    },
    remove(row, object) {
      revision += 1;
      objects(row).delete(keyOf(object.metadata));
      record({ revision, row, before: object });
      return versioned(object, revision);
    },
    allAt(row, namespace, wanted) {
      if (wanted < floor || wanted > revision) return undefined;
      if (wanted === revision) return inOrder(objects(row), namespace);
      const then = new Map(objects(row));
      for (const { row: of, before, after } of history.filter((change) => change.revision > wanted).toReversed()) {
        if (of !== row) continue;
        if (before) then.set(keyOf(before.metadata), before);
        else if (after) then.delete(keyOf(after.metadata));
      }
      return inOrder(then, namespace);
    },
    since(row, from) {
      if (from < floor) return undefined;
      const seen = history.findLastIndex((change) => change.revision <= from); // from the end: most ask for the newest
      return history.slice(seen + 1).filter((change) => change.row === row);
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    compact() {
      history = [];
      floor = revision;
    },
  };
}
