import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { isKnownKind, type Kind, qualifiedKind } from '../kube/resources.ts';
import { controllerOf, type PodView } from '../kube/views.ts';
import { createSnapshot } from './snapshot.ts';

/** How far this installation sees. */
export interface Reach {
  /** undefined is the whole cluster. */
  scopes: readonly (string | undefined)[];
  isSelected(namespace: string): boolean;
}
export const everywhere: Reach = { scopes: [undefined], isSelected: () => true };

/** All of a kind that are within reach. What may not be listed is not there for us. */
export async function listWithin(
  reader: Reader,
  reach: Reach,
  kind: Kind,
  fieldSelector?: string,
): Promise<KubeObject[]> {
  const selector = fieldSelector === undefined ? {} : { fieldSelector };
  const lists = reach.scopes.map((scope) => reader.list<KubeObject>(kind, scope, selector).catch(unlessForbidden));
  return (await Promise.all(lists)).flat().filter(({ metadata }) => reach.isSelected(metadata.namespace ?? ''));
}

const unlessForbidden = (error: unknown): KubeObject[] => {
  if (isForbidden(error)) return [];
  throw error;
};

const longestChain = 5;

/** "shop/Deployment/api": the workloads that a person would name for these pods, each once. */
export async function workloadsOf(reader: Reader, pods: readonly PodView[]): Promise<string[]> {
  const snapshots = new Map<string, Reader>();
  const found = new Set<string>();
  for (const pod of pods) {
    const from = snapshots.get(pod.namespace) ?? createSnapshot(reader, pod.namespace);
    snapshots.set(pod.namespace, from);
    found.add(`${pod.namespace}/${await rootOf(from, pod)}`);
  }
  return [...found].sort();
}

async function rootOf(reader: Reader, { namespace, name, owner }: PodView): Promise<string> {
  let root = { kind: 'Pod', name };
  let next = owner;
  for (let depth = 0; next && depth < longestChain; depth++) {
    const kind = qualifiedKind(next.kind, next.apiVersion);
    root = { kind, name: next.name };
    const object = isKnownKind(kind) ? await reader.get<KubeObject>({ kind, namespace, name: next.name }) : undefined;
    next = object && controllerOf(object.metadata);
  }
  return `${root.kind}/${root.name}`;
}
