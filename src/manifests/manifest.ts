import type { Action } from '../actions/action.ts';
import { systemNamespaces } from '../lib/namespaces.ts';

/** Any Kubernetes object, on its way to YAML. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

/** What the manifests need to know of an action: its params, and the rights it takes. */
export type ActionRow = Pick<Action<unknown>, 'type' | 'block' | 'params' | 'role' | 'rights'>;

/** Where and what to install. */
export interface Install {
  namespace: string;
  image: string;
  actions: readonly ActionRow[];
}

export const defaultNamespace = 'tapfix';

export const accounts = {
  watcher: 'tapfix-watcher',
  controller: 'tapfix-controller',
  writer: 'tapfix-writer',
} as const;

export const userOf = (namespace: string, account: string): string => `system:serviceaccount:${namespace}:${account}`;

/**
 * The name of a cluster-scoped object that mentions the namespace in its content: a second install in another
 * namespace brings its own instead of taking over the first one's.
 */
export const nameFor = (name: string, namespace: string): string =>
  namespace === defaultNamespace ? name : `${name}-${namespace}`;

/** Never watched unless named, never changed at all. */
export const protectedNamespaces = (namespace: string): string[] => [...systemNamespaces, namespace];
