import type { KindRow } from './kinds.ts';
import { count, type Obj, text, type Tree, tree, trees } from './model.ts';
import { addQuantities, largerQuantity, parseQuantity, type Quantity, zero } from './quantity.ts';
import { qualifiedPlural } from './refusal.ts';
import { qosClass } from './rules/pod.ts';

export type Usage = Map<string, Quantity>;

const single: Quantity = { nano: 10n ** 9n, isBinary: false };
const computed = ['cpu', 'memory', 'ephemeral-storage'];
/** Kinds that a quota may also count by their plain name. */
const byPlainName = ['configmaps', 'persistentvolumeclaims', 'resourcequotas'];

/** What one object takes from a quota. */
export function usageOf(row: KindRow, object: Obj, nowMs: number): Usage {
  const usage: Usage = new Map([[`count/${qualifiedPlural(row)}`, single]]);
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

/** It runs no more, or should not: nothing is charged for it. */
function isOver({ metadata, status }: Obj, nowMs: number): boolean {
  if (['Succeeded', 'Failed'].includes(text(status?.['phase']))) return true;
  return (
    metadata.deletionTimestamp !== undefined &&
    Date.parse(metadata.deletionTimestamp) + count(metadata.deletionGracePeriodSeconds) * 1000 < nowMs
  );
}

/** Containers run side by side, those that come first one after another. */
function amountsOf(spec: Tree, part: 'requests' | 'limits'): Usage {
  const sum: Usage = new Map();
  for (const container of trees(spec['containers']))
    for (const [name, amount] of statedBy(container, part)) sum.set(name, addQuantities(sum.get(name) ?? zero, amount));
  for (const container of trees(spec['initContainers']))
    for (const [name, amount] of statedBy(container, part))
      sum.set(name, largerQuantity(sum.get(name) ?? zero, amount));
  return sum;
}

const statedBy = ({ resources }: Tree, part: string): [string, Quantity][] =>
  Object.entries(tree(tree(resources)[part])).map(([name, amount]) => [name, parseQuantity(amount) ?? zero]);

/** What the quota limits and a container does not state: "limits.memory for: c; requests.cpu for: c"; empty when all is stated. */
export function unstated({ spec = {} }: Obj, limited: readonly string[]): string {
  const containers = [...trees(spec['initContainers']), ...trees(spec['containers'])];
  return limited
    .filter((name) => computed.includes(name.replace(/^(requests|limits)\./, '')))
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

/** Whether a quota with scopes is about this object; scopes speak of pods only. */
export function isInScope({ kind }: KindRow, { spec = {} }: Obj, scopes: readonly unknown[]): boolean {
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
