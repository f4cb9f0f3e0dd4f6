import type { Action } from '../actions/action.ts';
import { systemNamespaces } from '../lib/namespaces.ts';

/** Any Kubernetes object that will be written as YAML. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

/** The facts about an action that the manifests need: its params, and the rights it needs. */
export type ActionRow = Pick<Action<unknown>, 'type' | 'block' | 'params' | 'role' | 'rights'>;

/** The namespace, image and actions to install. */
export interface Install {
  namespace: string;
  image: string;
  actions: readonly ActionRow[];
}

export const defaultNamespace = 'tapfix';

/** The published image, without its tag. The manifests, the chart and the release all take it from here. */
export const imageRepository = 'ghcr.io/tapfix/tapfix';

export const accounts = {
  watcher: 'tapfix-watcher',
  controller: 'tapfix-controller',
  writer: 'tapfix-writer',
} as const;

export const userOf = (namespace: string, account: string): string => `system:serviceaccount:${namespace}:${account}`;

/**
 * The name of a cluster-scoped object that mentions the namespace in its content: a second install in another namespace
 * brings its own object instead of taking over the first one's.
 */
export const nameFor = (name: string, namespace: string): string =>
  namespace === defaultNamespace ? name : `${name}-${namespace}`;

/** Never watched unless named, and never changed at all. */
export const protectedNamespaces = (namespace: string): string[] => [...systemNamespaces, namespace];
