import { arr, obj, type Raw, str, strings } from '../kube/raw.ts';
import { quantity, quantityInWords } from '../lib/quantity.ts';
import { type Amounts, type ContainerDefaults, isLeftToDefaults, noDefaults, podCharge } from './pod-charge.ts';

/** One limit of a quota that stands in the way, as computed from the owner's template and the quota's own counts. */
export interface Shortfall {
  /** "requests.memory" */
  resource: string;
  /** "64Mi"; absent if containers do not state how much they ask, which this quota demands. */
  asked?: string;
}

/** Whether a quota has room for one more of what an owner creates. */
export type Room =
  | { is: 'enough' }
  | { is: 'short'; shortfalls: readonly Shortfall[] }
  /** `why` in words: it cannot be computed. */
  | { is: 'unknown'; why: string };

/** The objects that an owner creates next. */
export interface Demand {
  /** The spec of its pod. */
  pod?: Raw;
  /** The claims that come with it, and do not exist yet. */
  claims?: readonly Raw[];
  /** A Job: the name under which a quota counts it. */
  counted?: string;
}

interface QuotaRead {
  spec?: unknown;
  status?: unknown;
}

interface Scope {
  name: string;
  operator: string;
  values: readonly unknown[];
}

function scopesOf(spec: unknown): Scope[] {
  const { scopes, scopeSelector } = obj(spec);
  const plain = Array.isArray(scopes)
    ? scopes.map((name) => ({ name: str(name), operator: 'Exists', values: [] }))
    : [];
  const selected = arr(obj(scopeSelector)['matchExpressions']).map(({ scopeName, operator, values }) => ({
    name: str(scopeName),
    operator: str(operator),
    values: Array.isArray(values) ? (values as unknown[]) : [],
  }));
  return [...plain, ...selected];
}

/** By the API server's own counts; before it has counted anything a quota limits nothing. */
const hardOf = ({ status }: QuotaRead): Record<string, string> => strings(obj(status)['hard']);

const dependsOnQuality = ({ name }: Scope): boolean => name === 'BestEffort' || name === 'NotBestEffort';

/** Whether the namespace's LimitRanges must be known, because the template leaves something to them that matters. */
export function needsDefaults(quota: QuotaRead, { pod }: Demand): boolean {
  if (!pod) return false;
  const names = Object.keys(hardOf(quota));
  const isScoped = names.length > 0 && scopesOf(quota.spec).some(dependsOnQuality);
  return names.some((name) => isLeftToDefaults(pod, name)) || (isScoped && podCharge(pod, noDefaults).isBestEffort);
}

/** Pure. `defaults` is undefined if the LimitRanges could not be read. */
export function roomFor(quota: QuotaRead, demand: Demand, defaults: ContainerDefaults | undefined): Room {
  if (defaults === undefined && needsDefaults(quota, demand))
    return { is: 'unknown', why: 'its template leaves it to LimitRanges, which tapfix may not read' };
  const scopes = scopesOf(quota.spec);
  const known = { ...demand, defaults: defaults ?? noDefaults };
  const { asked, silent } = chargeOf(known, scopes);
  const hard = hardOf(quota);
  const used = strings(obj(quota.status)['used']);
  const shortfalls: Shortfall[] = [];
  for (const [resource, limit] of Object.entries(hard)) {
    if (silent(resource)) shortfalls.push({ resource });
    const amount = asked.get(resource) ?? 0;
    if (amount <= 0) continue;
    const [most, before] = [quantity(limit), quantity(used[resource] ?? '')];
    if (most === undefined || before === undefined)
      return { is: 'unknown', why: `the API server has not counted ${resource} yet` };
    if (before + amount > most + slack(most)) shortfalls.push({ resource, asked: quantityInWords(resource, amount) });
  }
  return shortfalls.length > 0 ? { is: 'short', shortfalls } : { is: 'enough' };
}

/** 0.1 + 0.2 is a little more than 0.3. */
const slack = (amount: number): number => amount * 1e-9;

interface Charge {
  asked: Amounts;
  silent(resource: string): boolean;
}

function chargeOf(
  { pod, claims = [], counted, defaults }: Demand & { defaults: ContainerDefaults },
  scopes: Scope[],
): Charge {
  const asked = new Map<string, number>();
  const add = (amounts: Iterable<readonly [string, number]>): void => {
    for (const [name, amount] of amounts) asked.set(name, (asked.get(name) ?? 0) + amount);
  };
  // Scopes are about pods: a quota that has any counts nothing else.
  if (scopes.length === 0) {
    claims.forEach((claim) => add(claimCharge(claim)));
    if (counted !== undefined) add([[counted, 1]]);
  }
  if (!pod) return { asked, silent: () => false };
  const charge = podCharge(pod, defaults);
  if (!scopes.every((scope) => isInScope(scope, pod, charge.isBestEffort))) return { asked, silent: () => false };
  add(charge.amounts);
  return { asked, silent: (resource) => charge.silentOn(resource).length > 0 };
}

/** A claim without a class may get the default one, which is not known here. */
function claimCharge({ metadata, spec }: Raw): [string, number][] {
  const { storageClassName, resources } = obj(spec);
  const annotations = strings(obj(metadata)['annotations']);
  const className = annotations['volume.beta.kubernetes.io/storage-class'] ?? str(storageClassName);
  const storage = Math.ceil(quantity(str(obj(obj(resources)['requests'])['storage'])) ?? 0);
  const plain: [string, number][] = [
    ['persistentvolumeclaims', 1],
    ['requests.storage', storage],
  ];
  const ofClass = plain.map(([name, n]): [string, number] => [`${className}.storageclass.storage.k8s.io/${name}`, n]);
  return [['count/persistentvolumeclaims', 1], ...plain, ...(className ? ofClass : [])];
}

function isInScope({ name, operator, values }: Scope, pod: Raw, isBestEffort: boolean): boolean {
  const isTerminating = Number(pod['activeDeadlineSeconds'] ?? -1) >= 0;
  switch (name) {
    case 'BestEffort':
      return isBestEffort;
    case 'NotBestEffort':
      return !isBestEffort;
    case 'Terminating':
      return isTerminating;
    case 'NotTerminating':
      return !isTerminating;
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(pod);
    case 'PriorityClass': {
      const priority = str(pod['priorityClassName']);
      // The API server gives such a pod the cluster's default class, if there is one: whether it counts is not known.
      if (!priority) return false;
      if (operator === 'In') return values.includes(priority);
      return operator === 'NotIn' ? !values.includes(priority) : operator === 'Exists';
    }
    default:
      return false;
  }
}

function reachesOtherNamespaces({ affinity }: Raw): boolean {
  const { podAffinity, podAntiAffinity } = obj(affinity);
  const terms = [obj(podAffinity), obj(podAntiAffinity)].flatMap((one) => [
    ...arr(one['requiredDuringSchedulingIgnoredDuringExecution']),
    ...arr(one['preferredDuringSchedulingIgnoredDuringExecution']).map(({ podAffinityTerm }) => obj(podAffinityTerm)),
  ]);
  return terms.some(
    ({ namespaces, namespaceSelector }) =>
      (Array.isArray(namespaces) && namespaces.length > 0) ||
      (namespaceSelector !== undefined && namespaceSelector !== null),
  );
}
