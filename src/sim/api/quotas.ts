import { sameValue } from '../../lib/hash.ts';
import type { KindRow } from '../kinds/kinds.ts';
import { qosClass } from '../kinds/workload-rules.ts';
import { addQuantities, formatQuantity, largerQuantity, parseQuantity, type Quantity, zero } from './exact-quantity.ts';
import { forbidden, qualifiedPlural } from './http-refusals.ts';
import { count, type Obj, objectsOf, type ServerCore, serverItself, text, type Tree, tree, trees } from './model.ts';
import type { StoredChange } from './object-store.ts';
import { change } from './writing.ts';

const quotasOf = (core: ServerCore, namespace: string): Obj[] => objectsOf(core, 'ResourceQuota', namespace);
const scopesOf = ({ spec = {} }: Obj): unknown[] =>
  Array.isArray(spec['scopes']) ? (spec['scopes'] as unknown[]) : [];
const amount = (of: unknown, name: string) => parseQuantity(tree(of)[name]) ?? zero;

/** Refuses an object that a quota of its namespace has no room for. Workload controllers repeat this message in their events. */
export function mustFitQuotas(core: ServerCore, row: KindRow, object: Obj): void {
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

function fits({ status }: Obj, name: string, asks: QuotaUsage): boolean {
  const asked = asks.get(name)!;
  return asked.nano <= 0n || amount(status?.['used'], name).nano + asked.nano <= amount(status?.['hard'], name).nano;
}

function refusal({ metadata, status }: Obj, names: readonly string[], asks: QuotaUsage): string {
  const listed = (of: (name: string) => string): string => names.map((name) => `${name}=${of(name)}`).join(',');
  const written = (part: string) => (name: string) => formatQuantity(amount(status?.[part], name));
  const requested = listed((name) => formatQuantity(asks.get(name)!));
  return `exceeded quota: ${metadata.name}, requested: ${requested}, used: ${listed(written('used'))}, limited: ${listed(written('hard'))}`;
}

/** Updates the status of every quota that a change concerns. */
export function tendQuotas(core: ServerCore, { row, before, after }: StoredChange): void {
  const namespace = (after ?? before)?.metadata.namespace;
  if (namespace === undefined) return;
  for (const quota of quotasOf(core, namespace)) {
    if (!concerns(quota, row, before, after)) continue;
    const status = { hard: tree(quota.spec?.['hard']), used: usedOf(core, quota, namespace) };
    if (!sameValue(quota.status, status)) writeStatus(core, quota, status);
  }
}

/** Whether the change can alter the quota's usage. Until one does, a status that somebody else wrote stays. */
function concerns(quota: Obj, row: KindRow, before: Obj | undefined, after: Obj | undefined): boolean {
  if (row.kind === 'ResourceQuota' && !sameValue(before?.spec, after?.spec)) return true;
  return !(row.kind === 'ResourceQuota' && before && after) && isCounted(row, Object.keys(tree(quota.spec?.['hard'])));
}

function usedOf(core: ServerCore, quota: Obj, namespace: string): Tree {
  const used: QuotaUsage = new Map(Object.keys(tree(quota.spec?.['hard'])).map((name) => [name, zero]));
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

/** Only the kinds that some limit names are counted. */
const isCounted = (row: KindRow, limited: readonly string[]): boolean =>
  limited.some((name) => {
    const [, counted] = /^count\/([^.]+)/.exec(name) ?? [];
    return counted === undefined ? isPod(row) || name === row.plural : counted === row.plural;
  });

function writeStatus(core: ServerCore, quota: Obj, status: Tree): void {
  const { name, namespace } = quota.metadata;
  const target = { row: core.rowOf('ResourceQuota')!, namespace, name, subresource: 'status' };
  change(core, target, quota, { ...quota, status }, serverItself);
}

type QuotaUsage = Map<string, Quantity>;

const single: Quantity = { nano: 10n ** 9n, isBinary: false };
const computed = ['cpu', 'memory', 'ephemeral-storage'];
/** The kinds that a quota may also count by their plain name. */
const byPlainName = ['configmaps', 'persistentvolumeclaims', 'resourcequotas'];

/** The amounts of a quota that one object uses. */
function usageOf(row: KindRow, object: Obj, nowMs: number): QuotaUsage {
  const usage: QuotaUsage = new Map([[`count/${qualifiedPlural(row)}`, single]]);
  if (byPlainName.includes(row.plural) && !row.group) usage.set(row.plural, single);
  if (row.kind !== 'Pod' || isOver(object, nowMs)) return usage;
  usage.set('pods', single);
  for (const [name, amount] of amountsOf(object.spec ?? {}, 'requests')) {
    usage.set(`requests.${name}`, amount);
    if (computed.includes(name)) usage.set(name, amount);
  }
  for (const [name, amount] of amountsOf(object.spec ?? {}, 'limits')) usage.set(`limits.${name}`, amount);
  return usage;
}

/** A pod that has ended, or is past its grace period, uses nothing. */
function isOver({ metadata, status }: Obj, nowMs: number): boolean {
  if (['Succeeded', 'Failed'].includes(text(status?.['phase']))) return true;
  return (
    metadata.deletionTimestamp !== undefined &&
    Date.parse(metadata.deletionTimestamp) + count(metadata.deletionGracePeriodSeconds) * 1000 < nowMs
  );
}

/**
 * Containers run at the same time, so they add up, and so do sidecars. The other init containers run one after another,
 * beside the sidecars before them: the largest such moment counts.
 */
function amountsOf(spec: Tree, part: 'requests' | 'limits'): QuotaUsage {
  const adding = (to: QuotaUsage, container: Tree): QuotaUsage => {
    const sum = new Map(to);
    for (const [name, amount] of statedBy(container, part)) sum.set(name, addQuantities(sum.get(name) ?? zero, amount));
    return sum;
  };
  const most: QuotaUsage = new Map();
  const reach = (moment: QuotaUsage): void => {
    for (const [name, amount] of moment) most.set(name, largerQuantity(most.get(name) ?? zero, amount));
  };
  let sidecars: QuotaUsage = new Map();
  for (const container of trees(spec['initContainers'])) {
    reach(adding(sidecars, container));
    if (container['restartPolicy'] === 'Always') sidecars = adding(sidecars, container);
  }
  reach(trees(spec['containers']).reduce(adding, sidecars));
  return most;
}

const statedBy = ({ resources }: Tree, part: string): [string, Quantity][] =>
  Object.entries(tree(tree(resources)[part])).map(([name, amount]) => [name, parseQuantity(amount) ?? zero]);

/** The resources that the quota limits and a container does not state: "limits.memory for: c; requests.cpu for: c". Empty when nothing is missing. */
function unstated({ spec = {} }: Obj, limited: readonly string[]): string {
  const containers = [...trees(spec['initContainers']), ...trees(spec['containers'])];
  return limited
    .filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name))
    .flatMap((name) => {
      const [part, resource] = /^(requests|limits)\.(.+)$/.exec(name)?.slice(1) ?? ['requests', name];
      const silent = containers.filter(({ resources }) => tree(tree(resources)[part!])[resource!] === undefined);
      return silent.length === 0
        ? []
        : [
            `${name} for: ${silent
              .map((one) => text(one['name']))
              .sort()
              .join(',')}`,
          ];
    })
    .sort()
    .join('; ');
}

/** Whether a quota with these scopes counts this object. Scopes apply to pods only. */
function isInScope({ kind }: KindRow, { spec = {} }: Obj, scopes: readonly unknown[]): boolean {
  if (scopes.length === 0 || kind !== 'Pod') return scopes.length === 0;
  const isBestEffort = qosClass(spec) === 'BestEffort';
  const isTerminating = count(spec['activeDeadlineSeconds'], -1) >= 0;
  const facts: Record<string, boolean> = {
    BestEffort: isBestEffort,
    NotBestEffort: !isBestEffort,
    Terminating: isTerminating,
    NotTerminating: !isTerminating,
  };
  return scopes.every((scope) => facts[text(scope)]);
}
