import type { KubeObject } from '../kube/api.ts';
import { arr, obj, type Raw, specIn, str, strings } from '../kube/raw.ts';
import { quantity } from '../lib/quantity.ts';

/*
 * The amounts that the API server charges a ResourceQuota for one pod, computed from the pod's spec. Where the spec does not tell
 * it all (a RuntimeClass that adds an overhead, a webhook that adds a container), this is less than the true charge.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/quota/v1/evaluator/core/pods.go
 */

/** By resource: "cpu", "memory", "example.com/gpu". */
export type Amounts = ReadonlyMap<string, number>;

/** The amounts that a container, or a pod as a whole, states. */
interface Stated {
  requests: Amounts;
  limits: Amounts;
}

export interface PodCharge {
  /** By the name that a quota limits it under: "pods", "requests.cpu", "limits.memory". */
  amounts: Amounts;
  /** The containers that state no such amount. A quota on cpu or memory refuses pods that have any. */
  silentOn(limited: string): string[];
  isBestEffort: boolean;
}

/** The values that the API server adds to containers which do not state their own. */
export type ContainerDefaults = Stated;
export const noDefaults: ContainerDefaults = { requests: new Map(), limits: new Map() };

const amountsIn = (list: unknown): Map<string, number> =>
  new Map(Object.entries(strings(list)).map(([name, amount]) => [name, quantity(amount) ?? 0]));

function combined(lists: readonly Amounts[], combine: (a: number, b: number) => number): Map<string, number> {
  const result = new Map<string, number>();
  for (const [name, amount] of lists.flatMap((list) => [...list]))
    result.set(name, result.has(name) ? combine(result.get(name)!, amount) : amount);
  return result;
}
const sumOf = (...lists: Amounts[]): Map<string, number> => combined(lists, (a, b) => a + b);
const largestOf = (...lists: Amounts[]): Map<string, number> => combined(lists, Math.max);

/**
 * The defaults in a namespace's LimitRanges. The order in which several of them apply is not defined, so the smallest
 * value counts.
 */
export function defaultsIn(limitRanges: readonly KubeObject[]): ContainerDefaults {
  const defaults = limitRanges.map((range) =>
    arr(specIn(range)['limits'])
      .filter(({ type }) => type === 'Container')
      .map((item) => ({ requests: amountsIn(item['defaultRequest']), limits: amountsIn(item['default']) })),
  );
  const smallest = (part: keyof Stated): Amounts =>
    combined(
      defaults.flatMap((items) => items.map((item) => item[part])),
      Math.min,
    );
  return { requests: smallest('requests'), limits: smallest('limits') };
}

/** A request that is not stated is the limit. Only then come the defaults of a LimitRange. */
function statedBy({ resources }: Raw, defaults: ContainerDefaults): Stated {
  const [requests, limits] = [amountsIn(obj(resources)['requests']), amountsIn(obj(resources)['limits'])];
  return {
    requests: new Map([...defaults.requests, ...limits, ...requests]),
    limits: new Map([...defaults.limits, ...limits]),
  };
}

/**
 * Containers run at the same time, and sidecars run beside them, so these add up. The other init containers run one
 * after another, each beside the sidecars that started before it: the largest of these moments counts if it is larger.
 */
function together(spec: Raw, amountsOf: (container: Raw) => Amounts): Map<string, number> {
  let sidecars: Amounts = new Map();
  let starting: Amounts = new Map();
  for (const container of arr(spec['initContainers'])) {
    const moment = sumOf(sidecars, amountsOf(container));
    if (container['restartPolicy'] === 'Always') sidecars = moment;
    starting = largestOf(starting, moment);
  }
  return largestOf(sumOf(sidecars, ...arr(spec['containers']).map(amountsOf)), starting);
}

const isForWholePod = (resource: string): boolean =>
  resource === 'cpu' || resource === 'memory' || resource.startsWith('hugepages-');
const ofWholePod = (list: unknown): Map<string, number> =>
  new Map([...amountsIn(list)].filter(([resource]) => isForWholePod(resource)));

/** The amounts of the pod as a whole. If it states only limits, its requests are those of its containers, else these limits. */
function statedByPod(spec: Raw): Stated {
  const { requests, limits } = obj(spec['resources']);
  const own = { requests: ofWholePod(requests), limits: ofWholePod(limits) };
  if (own.limits.size === 0) return own;
  const containers = [...together(spec, (container) => statedBy(container, noDefaults).requests)].filter(
    ([resource]) => resource === 'cpu' || resource === 'memory',
  );
  return { ...own, requests: new Map([...own.limits, ...containers, ...own.requests]) };
}

const native: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** The names under which a quota limits what a pod requests: both "cpu" and "requests.cpu". */
function requestNames(resource: string): string[] {
  if (native.has(resource) || resource.startsWith('hugepages-')) return [resource, `requests.${resource}`];
  return resource.includes('/') ? [`requests.${resource}`] : [];
}
const limitNames = (resource: string): string[] => (native.has(resource) ? [`limits.${resource}`] : []);

const named = ({ requests, limits }: Stated): Map<string, number> =>
  new Map([
    ...[...requests].flatMap(([resource, amount]) => requestNames(resource).map((name) => [name, amount] as const)),
    ...[...limits].flatMap(([resource, amount]) => limitNames(resource).map((name) => [name, amount] as const)),
  ]);

/** A quota on one of these refuses pods whose containers do not all state it. */
const mustBeStated = /^(?:requests\.|limits\.)?(?:cpu|memory)$/;

const containersOf = (spec: Raw): Raw[] => [...arr(spec['containers']), ...arr(spec['initContainers'])];

/** Pure. The charge of one pod with this spec in a namespace with these defaults. */
export function podCharge(spec: Raw, defaults: ContainerDefaults): PodCharge {
  const whole = statedByPod(spec);
  const overhead = amountsIn(spec['overhead']);
  const part = (which: keyof Stated): Map<string, number> =>
    new Map([...together(spec, (container) => statedBy(container, defaults)[which]), ...whole[which]]);
  const limits = part('limits');
  const limitedOverhead = new Map([...overhead].filter(([resource]) => (limits.get(resource) ?? 0) > 0));
  const stated = { requests: sumOf(part('requests'), overhead), limits: sumOf(limits, limitedOverhead) };
  const isStatedByPod = whole.requests.size + whole.limits.size > 0;
  const compute = isStatedByPod ? [whole] : containersOf(spec).map((container) => statedBy(container, defaults));
  const isPositive = (amounts: Amounts): boolean =>
    ['cpu', 'memory'].some((resource) => (amounts.get(resource) ?? 0) > 0);
  return {
    amounts: new Map([['pods', 1], ['count/pods', 1], ...named(stated)]),
    silentOn: (limited) =>
      isStatedByPod || !mustBeStated.test(limited)
        ? []
        : containersOf(spec)
            .filter((container) => !named(statedBy(container, defaults)).has(limited))
            .map(({ name }) => str(name)),
    isBestEffort: !compute.some(({ requests, limits }) => isPositive(requests) || isPositive(limits)),
  };
}

/** Whether the name is about containers, not about claims. */
const isOfContainers = (limited: string): boolean =>
  limited !== 'requests.storage' &&
  /^(?:requests\.|limits\.|hugepages-|(?:cpu|memory|ephemeral-storage)$)/.test(limited);

/** Whether a LimitRange could change the charge under this name: some container does not state it. */
export const isLeftToDefaults = (spec: Raw, limited: string): boolean =>
  isOfContainers(limited) &&
  containersOf(spec).some((container) => !named(statedBy(container, noDefaults)).has(limited));
