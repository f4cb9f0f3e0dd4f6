import { LRUCache } from 'lru-cache';
import { isForbidden, type KubeObject, type OwnerReference, type Reader } from '../kube/api.ts';
import { isKnownKind, qualifiedKind } from '../kube/resources.ts';
import { controllerOf } from '../kube/views.ts';
import { ownerByName } from './generated-name.ts';

export interface Root {
  kind: string;
  name: string;
  uid: string;
}

/** Follows ownerReferences to the workload a person would name. */
export interface OwnerResolver {
  rootOf(namespace: string, object: Root): Promise<Root | undefined>;
}

const longestChain = 6;

export function createOwnerResolver(reader: Reader, max = 10_000): OwnerResolver {
  /** uid of an object -> its controller. It changes when a workload is re-created around pods that were left alone. */
  const owners = new LRUCache<string, Root>({ max });

  async function ownerOf(namespace: string, object: Root): Promise<Root | null | 'gone'> {
    const known = object.uid ? owners.get(object.uid) : undefined;
    if (known) return known;
    if (!isKnownKind(object.kind)) return null; // a custom owner: as far as its reference takes us
    const live = await reader.get<KubeObject>({ kind: object.kind, namespace, name: object.name }).catch(unreadable);
    if (live === 'unreadable') return null;
    if (!live || (object.uid && live.metadata.uid !== object.uid)) return 'gone';
    const reference = controllerOf(live.metadata);
    if (!reference) return null;
    const owner = rootIn(reference);
    owners.set(live.metadata.uid, owner);
    return owner;
  }

  /** As far as the references lead: the root, or the link that is missing; and what was read from memory for it. */
  async function climb(
    namespace: string,
    object: Root,
  ): Promise<{ last: Root; isGone: boolean; remembered: string[] }> {
    const remembered: string[] = [];
    let last = object;
    for (let depth = 0; depth < longestChain; depth++) {
      if (owners.has(last.uid)) remembered.push(last.uid);
      const owner = await ownerOf(namespace, last);
      if (owner === null) break;
      if (owner === 'gone') return { last, isGone: true, remembered };
      last = owner;
    }
    return { last, isGone: false, remembered };
  }

  async function rootOf(namespace: string, object: Root): Promise<Root | undefined> {
    let way = await climb(namespace, object);
    if (way.isGone && way.remembered.length > 0) {
      for (const uid of way.remembered) owners.delete(uid);
      way = await climb(namespace, object);
    }
    if (!way.isGone) return way.last;
    const named = ownerByName(way.last.kind, way.last.name);
    // What is gone and was nobody's cannot be broken any more.
    if (!named) return undefined;
    const root = { ...named, uid: '' };
    const further = await climb(namespace, root);
    return further.isGone ? root : further.last;
  }
  return { rootOf };
}

/** Somebody else's StatefulSet or Job is not the one we know how to read. */
const rootIn = ({ apiVersion, kind, name, uid }: OwnerReference): Root => ({
  kind: qualifiedKind(kind, apiVersion),
  name,
  uid,
});

const unreadable = (error: unknown): 'unreadable' => {
  if (isForbidden(error)) return 'unreadable';
  throw error;
};
