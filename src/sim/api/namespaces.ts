import type { Core } from './core.ts';
import { serverItself } from './core.ts';
import type { KindRow } from './kinds.ts';
import { type Obj, stamp } from './model.ts';
import { forbidden } from './refusal.ts';
import { type DeleteOptions, mustBeTheOne, remove } from './removal.ts';
import type { Change } from './store.ts';
import { create } from './writing.ts';

const firstNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const immortal = ['default', 'kube-system', 'kube-public'];
/** The real one takes a few seconds. */
const emptyAfterMs = 1_000;

export function addFirstNamespaces(core: Core): void {
  const target = { row: core.rowOf('Namespace')!, namespace: undefined, name: undefined, subresource: undefined };
  for (const name of firstNamespaces) create(core, target, { metadata: { name } }, serverItself);
}

/** Marked at once; its content goes a moment later, and it goes itself when all of that is gone. */
export function endNamespace(
  core: Core,
  row: KindRow,
  current: Obj,
  { dryRun, preconditions }: DeleteOptions,
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

function empty(core: Core, namespace: string): void {
  for (const row of core.rows.filter(({ namespaced, review }) => namespaced && !review))
    for (const object of core.store.all(row, namespace))
      remove(core, row, object, { dryRun: false, preconditions: {} });
  finish(core, namespace);
}

/** A pod may still be stopping, and a finalizer may hold something. */
function finish({ store, rows, rowOf }: Core, name: string): void {
  const row = rowOf('Namespace')!;
  const found = store.get(row, undefined, name);
  if (!found?.metadata.deletionTimestamp) return;
  const isEmpty = rows.every((one) => !one.namespaced || one.review || store.all(one, name).length === 0);
  if (isEmpty) store.remove(row, found);
}

/** After each change: a new namespace has its account, one that ends may have become empty. */
export function tendNamespaces(core: Core, { row, before, after }: Change): void {
  const namespace = before?.metadata.namespace;
  if (row.kind === 'Namespace' && after && !before) addAccount(core, after.metadata.name);
  else if (namespace !== undefined && !after) finish(core, namespace);
}

function addAccount(core: Core, namespace: string): void {
  const row = core.rowOf('ServiceAccount')!;
  const target = { row, namespace, name: undefined, subresource: undefined };
  create(core, target, { metadata: { name: 'default' } }, serverItself);
}
