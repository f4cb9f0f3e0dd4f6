import { sameValue } from '../../lib/hash.ts';
import { type Core, objectsOf, serverItself } from './core.ts';
import type { KindRow } from './kinds.ts';
import { type Obj, type Tree, tree } from './model.ts';
import { addQuantities, formatQuantity, parseQuantity, zero } from './quantity.ts';
import { isInScope, unstated, type Usage, usageOf } from './quota-usage.ts';
import { forbidden } from './refusal.ts';
import type { Change } from './store.ts';
import { change } from './writing.ts';

const quotasOf = (core: Core, namespace: string): Obj[] => objectsOf(core, 'ResourceQuota', namespace);
const scopesOf = ({ spec = {} }: Obj): unknown[] =>
  Array.isArray(spec['scopes']) ? (spec['scopes'] as unknown[]) : [];
const amount = (of: unknown, name: string) => parseQuantity(tree(of)[name]) ?? zero;

/** Refuses what a quota of the namespace has no room for, in the very words that workload controllers repeat in their events. */
export function mustFitQuotas(core: Core, row: KindRow, object: Obj): void {
  const asks = usageOf(row, object, core.clock.now());
  const { namespace = '', name } = object.metadata;
  const about = quotasOf(core, namespace)
    .map((quota) => ({
      quota,
      limited: Object.keys(tree(quota.status?.['hard'])).filter((of) => asks.has(of) || isPod(row)),
    }))
    .filter(({ quota, limited }) => limited.length > 0 && isInScope(row, object, scopesOf(quota)));
  for (const { quota, limited } of about) {
    const missing = isPod(row) ? unstated(object, limited) : '';
    if (missing) throw forbidden(row, name, `failed quota: ${quota.metadata.name}: must specify ${missing}`);
  }
  for (const { quota, limited } of about) {
    const exceeded = limited.filter((of) => asks.has(of) && !fits(quota, of, asks)).sort();
    if (exceeded.length > 0) throw forbidden(row, name, refusal(quota, exceeded, asks));
  }
}

const isPod = ({ kind }: KindRow): boolean => kind === 'Pod';

function fits({ status }: Obj, name: string, asks: Usage): boolean {
  const asked = asks.get(name)!;
  return asked.nano <= 0n || amount(status?.['used'], name).nano + asked.nano <= amount(status?.['hard'], name).nano;
}

function refusal({ metadata, status }: Obj, names: readonly string[], asks: Usage): string {
  const said = (of: (name: string) => string): string => names.map((name) => `${name}=${of(name)}`).join(',');
  const written = (part: string) => (name: string) => formatQuantity(amount(status?.[part], name));
  const requested = said((name) => formatQuantity(asks.get(name)!));
  return `exceeded quota: ${metadata.name}, requested: ${requested}, used: ${said(written('used'))}, limited: ${said(written('hard'))}`;
}

/** Keeps every quota's status as its namespace is now. */
export function tendQuotas(core: Core, { row, before, after }: Change): void {
  const namespace = (after ?? before)?.metadata.namespace;
  if (namespace === undefined) return;
  for (const quota of quotasOf(core, namespace)) {
    if (!concerns(quota, row, before, after)) continue;
    const status = { hard: tree(quota.spec?.['hard']), used: usedOf(core, quota, namespace) };
    if (!sameValue(quota.status, status)) writeStatus(core, quota, status);
  }
}

/** Whether it could make a difference; what somebody wrote into its status stays until then. */
function concerns(quota: Obj, row: KindRow, before: Obj | undefined, after: Obj | undefined): boolean {
  if (row.kind === 'ResourceQuota' && !sameValue(before?.spec, after?.spec)) return true;
  return !(row.kind === 'ResourceQuota' && before && after) && isCounted(row, Object.keys(tree(quota.spec?.['hard'])));
}

function usedOf(core: Core, quota: Obj, namespace: string): Tree {
  const used: Usage = new Map(Object.keys(tree(quota.spec?.['hard'])).map((name) => [name, zero]));
  const nowMs = core.clock.now();
  for (const row of core.rows.filter(({ namespaced, review }) => namespaced && !review)) {
    if (!isCounted(row, [...used.keys()])) continue;
    for (const object of core.store.all(row, namespace)) {
      if (!isInScope(row, object, scopesOf(quota))) continue;
      for (const [name, amount] of usageOf(row, object, nowMs))
        if (used.has(name)) used.set(name, addQuantities(used.get(name)!, amount));
    }
  }
  return Object.fromEntries([...used].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Only what some limit speaks of is read. */
const isCounted = (row: KindRow, limited: readonly string[]): boolean =>
  limited.some((name) => {
    const [, counted] = /^count\/([^.]+)/.exec(name) ?? [];
    return counted === undefined ? isPod(row) || name === row.plural : counted === row.plural;
  });

function writeStatus(core: Core, quota: Obj, status: Tree): void {
  const { name, namespace } = quota.metadata;
  const target = { row: core.rowOf('ResourceQuota')!, namespace, name, subresource: 'status' };
  change(core, target, quota, { ...quota, status }, serverItself);
}
