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
  /** uid of an object -> its controller (null: it has none). ownerReferences of a live uid do not change in practice. */
  const owners = new LRUCache<string, { owner: Root | null }>({ max });

  async function ownerOf(namespace: string, object: Root): Promise<Root | null | 'gone'> {
    const known = object.uid ? owners.get(object.uid) : undefined;
    if (known) return known.owner;
    if (!isKnownKind(object.kind)) return null; // a custom owner: as far as its reference takes us
    const live = await reader.get<KubeObject>({ kind: object.kind, namespace, name: object.name }).catch(unreadable);
    if (live === 'unreadable') return null;
    if (!live || (object.uid && live.metadata.uid !== object.uid)) return 'gone';
    const reference = controllerOf(live.metadata);
    const owner = reference ? rootIn(reference) : null;
    owners.set(live.metadata.uid, { owner });
    return owner;
  }

  async function rootOf(namespace: string, object: Root): Promise<Root | undefined> {
    let root = object;
    for (let depth = 0; depth < longestChain; depth++) {
      const owner = await ownerOf(namespace, root);
      if (owner === null) return root;
      if (owner === 'gone') {
        const named = ownerByName(root.kind, root.name);
        // What is gone and was nobody's cannot be broken any more.
        return named && { ...named, uid: '' };
      }
      root = owner;
    }
    return root;
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
