import type { Clock } from '../../lib/clock.ts';
import type { KindRow } from './kinds.ts';
import type { Obj } from './model.ts';
import type { Store } from './store.ts';

/** What every part of the server works with. */
export interface Core {
  store: Store;
  clock: Clock;
  random: () => number;
  rows: readonly KindRow[];
  /** undefined: a kind that this server does not serve. */
  rowOf(kind: string, group?: string): KindRow | undefined;
  /** What the cluster as a whole has to say about a new object; throws what the real one answers. */
  admit(row: KindRow, object: Obj, when: Stage): void;
}

/** Whether the namespace takes it is asked before the object is looked at, whether there is room for it after. */
export type Stage = 'before it is checked' | 'when it is known to be valid';

export interface WriteOptions {
  dryRun: boolean;
  /** The field manager. */
  manager: string;
}

/** All objects of a kind by its name; a kind that is not served has none. */
export function objectsOf({ store, rowOf }: Core, kind: string, namespace?: string): Obj[] {
  const row = rowOf(kind);
  return row ? store.all(row, namespace) : [];
}

/** The writer of what the server does by itself, as the real one's own controllers are called. */
export const serverItself: WriteOptions = { dryRun: false, manager: 'kube-controller-manager' };
