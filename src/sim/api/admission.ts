import type { Core, Stage } from './core.ts';
import type { KindRow } from './kinds.ts';
import { type Obj, text } from './model.ts';
import { mustFitQuotas } from './quota.ts';
import { forbidden, notFound } from './refusal.ts';

export function admit(core: Core, row: KindRow, object: Obj, when: Stage): void {
  if (!row.namespaced) return;
  if (when === 'when it is known to be valid') return mustFitQuotas(core, row, object);
  namespaceTakesIt(core, row, object);
  if (row.kind === 'Pod') accountExists(core, row, object);
}

function namespaceTakesIt({ store, rowOf }: Core, row: KindRow, { metadata }: Obj): void {
  const namespaces = rowOf('Namespace')!;
  const name = metadata.namespace ?? '';
  const found = store.get(namespaces, undefined, name);
  if (!found) throw notFound(namespaces, name);
  if (!found.metadata.deletionTimestamp) return;
  const why = `unable to create new content in namespace ${name} because it is being terminated`;
  const message = `namespace ${name} is being terminated`;
  throw forbidden(row, metadata.name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

function accountExists({ store, rowOf }: Core, row: KindRow, { metadata, spec }: Obj): void {
  const { name, namespace = '' } = metadata;
  const account = text(spec?.['serviceAccountName']);
  if (store.get(rowOf('ServiceAccount')!, namespace, account)) return;
  const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw forbidden(row, name, why);
}
