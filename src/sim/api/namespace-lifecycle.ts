import type { KindRow } from '../kinds/kinds.ts';
import { forbidden } from './http-refusals.ts';
import { type Obj, type ServerCore, serverItself, stamp } from './model.ts';
import type { StoredChange } from './object-store.ts';
import { mustBeTheOne, type RemovalOptions, remove } from './removal.ts';
import { create } from './writing.ts';

const firstNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const immortal = ['default', 'kube-system', 'kube-public'];
/** A real cluster takes a few seconds. */
const emptyAfterMs = 1_000;

export function addFirstNamespaces(core: ServerCore): void {
  const target = { row: core.rowOf('Namespace')!, namespace: undefined, name: undefined, subresource: undefined };
  for (const name of firstNamespaces) create(core, target, { metadata: { name } }, serverItself);
}

/** Marks the namespace at once. Its content is deleted a moment later, and the namespace itself when it is empty. */
export function endNamespace(
  core: ServerCore,
  row: KindRow,
  current: Obj,
  { dryRun, preconditions }: RemovalOptions,
  settle: () => void,
): Obj {
  const { name, deletionTimestamp } = current.metadata;
  mustBeTheOne(row, current, preconditions);
  if (immortal.includes(name)) throw forbidden(row, name, 'this namespace may not be deleted');
  if (deletionTimestamp) return current;
  const metadata = { ...current.metadata, deletionTimestamp: stamp(core.clock.now()) };
  const ending: Obj = { ...current, metadata, status: { ...current.status, phase: 'Terminating' } };
  if (dryRun) return ending;
  void core.clock.sleep(emptyAfterMs).then(() => {
    empty(core, name);
    settle();
  });
  return core.store.put(row, ending);
}

function empty(core: ServerCore, namespace: string): void {
  for (const row of core.rows.filter(({ namespaced, review }) => namespaced && !review))
    for (const object of core.store.all(row, namespace))
      remove(core, row, object, { dryRun: false, preconditions: {} });
  finish(core, namespace);
}

/** Removes an ending namespace if it is empty. A pod may still be stopping, or a finalizer may hold an object. */
function finish({ store, rows, rowOf }: ServerCore, name: string): void {
  const row = rowOf('Namespace')!;
  const found = store.get(row, undefined, name);
  if (!found?.metadata.deletionTimestamp) return;
  const isEmpty = rows.every((one) => !one.namespaced || one.review || store.all(one, name).length === 0);
  if (isEmpty) store.remove(row, found);
}

/** After each change: creates the default account of a new namespace, and removes an ending one that has become empty. */
export function tendNamespaces(core: ServerCore, { row, before, after }: StoredChange): void {
  const namespace = before?.metadata.namespace;
  if (row.kind === 'Namespace' && after && !before) addAccount(core, after.metadata.name);
  else if (namespace !== undefined && !after) finish(core, namespace);
}

function addAccount(core: ServerCore, namespace: string): void {
  const row = core.rowOf('ServiceAccount')!;
  const target = { row, namespace, name: undefined, subresource: undefined };
  create(core, target, { metadata: { name: 'default' } }, serverItself);
}
