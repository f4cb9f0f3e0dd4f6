import type { OwnerReference } from '../../kube/api.ts';
import { sameValue } from '../../lib/hash.ts';
import type { Core } from './core.ts';
import type { KindRow } from './kinds.ts';
import { tidy } from './metadata.ts';
import type { Obj } from './model.ts';
import { remove } from './removal.ts';
import type { Change } from './store.ts';

const background = { dryRun: false, preconditions: {}, policy: 'Background' } as const;

/** What has an owner goes with the last of them. One whose owners never were goes too. */
export function collect(core: Core, { row, before, after }: Change): void {
  if (before && !after) for (const [of, object] of dependentsOf(core, before)) review(core, of, object);
  else if (after && !sameValue(before?.metadata.ownerReferences, after.metadata.ownerReferences))
    review(core, row, after);
}

/** Those that name this object as an owner. */
export function* dependentsOf({ store, rows }: Core, { metadata: { uid, namespace } }: Obj): Generator<[KindRow, Obj]> {
  for (const row of rows) {
    if (row.review) continue;
    for (const object of store.all(row, row.namespaced ? namespace : undefined)) {
      if (object.metadata.ownerReferences?.some((owner) => owner.uid === uid)) yield [row, object];
    }
  }
}

function review(core: Core, row: KindRow, object: Obj): void {
  if (row.kind === 'Namespace') return; // it ends in a way of its own
  const owners = object.metadata.ownerReferences ?? [];
  const left = owners.filter((owner) => !isGone(core, owner, object.metadata.namespace));
  if (owners.length === left.length) return;
  if (left.length > 0) core.store.put(row, withOwners(object, left));
  else if (!object.metadata.deletionTimestamp) remove(core, row, object, background);
}

/** Of a kind that is not served nobody can tell. */
function isGone({ store, rowOf }: Core, owner: OwnerReference, namespace: string | undefined): boolean {
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '';
  const row = rowOf(owner.kind, group);
  if (!row) return false;
  return store.get(row, row.namespaced ? namespace : undefined, owner.name)?.metadata.uid !== owner.uid;
}

const withOwners = (object: Obj, ownerReferences: OwnerReference[]): Obj => ({
  ...object,
  metadata: tidy({ ...object.metadata, ownerReferences }),
});

/** They stay, and forget their owner. */
export function orphan(core: Core, owner: Obj): void {
  for (const [row, object] of dependentsOf(core, owner)) {
    const left = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    core.store.put(row, withOwners(object, left));
  }
}
