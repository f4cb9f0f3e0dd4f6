import { hashOf } from '../lib/hash.ts';

/** Namespace + root owner or shared cause: the part that stays the same over rollouts, restarts and renamed pods. */
export const incidentKey = (namespace: string, object: { kind: string; name: string }): string =>
  `${namespace}/${object.kind}/${object.name}`;

/** These kinds have no namespace: their incidents live in tapfix's own namespace, and never have an action. */
const clusterScoped: ReadonlySet<string> = new Set(['Node', 'StorageClass', 'PersistentVolume']);
export const isClusterScoped = (kind: string): boolean => clusterScoped.has(kind);

export interface KeyParts {
  namespace: string;
  kind: string;
  name: string;
}

export function partsOf(key: string): KeyParts {
  const [namespace = '', kind = '', ...name] = key.split('/');
  return { namespace, kind, name: name.join('/') };
}

const longestName = 63;

/**
 * Name of the n-th Remediation of a key. A race or a crash between "created" and "remembered" gives
 * "already exists", never a twin.
 */
export function remediationName(key: string, n: number): string {
  const suffix = `-${hashOf(key, 6)}-${n}`;
  const owner = partsOf(key)
    .name.toLowerCase()
    .replace(/[^a-z0-9-]/g, '-')
    .replace(/^-+/, '');
  return `${(owner || 'incident').slice(0, longestName - suffix.length).replace(/-+$/, '')}${suffix}`;
}

/** The n of a name made by remediationName; 0 when it is not such a name. */
export const numberOf = (name: string): number => Number(/-(\d+)$/.exec(name)?.[1] ?? 0);
