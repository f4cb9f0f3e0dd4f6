import type { KindRow } from './kinds.ts';
import type { Obj } from './model.ts';

/** What one write did. Without `before` it is a creation, without `after` a deletion. */
export interface Change {
  revision: number;
  row: KindRow;
  before?: Obj;
  after?: Obj;
}

export interface Store {
  /** The resourceVersion of the newest write. */
  revision(): number;
  get(row: KindRow, namespace: string | undefined, name: string): Obj | undefined;
  /** In the order of their keys; without a namespace all. */
  all(row: KindRow, namespace?: string): Obj[];
  /** Creates or replaces; the answer carries the new resourceVersion. */
  put(row: KindRow, object: Obj): Obj;
  /** The answer is the last state, with the resourceVersion of its end. */
  remove(row: KindRow, object: Obj): Obj;
  /** As it was at an earlier revision; undefined when that is forgotten. */
  allAt(row: KindRow, namespace: string | undefined, revision: number): Obj[] | undefined;
  /** What happened after a revision; undefined when that is forgotten. */
  since(row: KindRow, revision: number): Change[] | undefined;
  /** Returns the way to stop it. */
  listen(listener: (change: Change) => void): () => void;
  /** Forgets what happened before now, as etcd's compaction does. */
  compact(): void;
}

const keyOf = ({ namespace, name }: { namespace?: string; name: string }): string => `${namespace ?? ''}/${name}`;

/** As etcd has them: in the order of their keys. */
const inOrder = (objects: Map<string, Obj>, namespace: string | undefined): Obj[] =>
  [...objects]
    .filter(([, { metadata }]) => namespace === undefined || metadata.namespace === namespace)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, object]) => object);

export const versioned = (object: Obj, revision: number): Obj => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

/** Versions below it were never ours: whoever asks for one is told that it is forgotten. */
const firstRevision = 100;

/** One counter, one bounded history. */
export function createStore(longestHistory: number): Store {
  const kinds = new Map<KindRow, Map<string, Obj>>();
  const listeners = new Set<(change: Change) => void>();
  let history: Change[] = [];
  let revision = firstRevision;
  /** The oldest revision from which all that followed is still known. */
  let floor = firstRevision;

  const objects = (row: KindRow): Map<string, Obj> => {
    const known = kinds.get(row) ?? new Map<string, Obj>();
    kinds.set(row, known);
    return known;
  };

  function record(change: Change): void {
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
