import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
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

/** That something has no owner is believed for so long: it is what tells that it is still there. */
const ownerlessMs = 30_000;

export function createOwnerResolver(reader: Reader, clock: Clock, max = 10_000): OwnerResolver {
  /** uid of an object -> its controller. It changes when a workload is re-created around pods that were left alone. */
  const owners = new LRUCache<string, { owner: Root | null; readAtMs: number }>({ max });

  function remembered(uid: string): { owner: Root | null } | undefined {
    const known = uid ? owners.get(uid) : undefined;
    return known?.owner || (known && clock.now() - known.readAtMs < ownerlessMs) ? known : undefined;
  }

  async function ownerOf(namespace: string, object: Root): Promise<Root | null | 'gone'> {
    const known = remembered(object.uid);
    if (known) return known.owner;
    if (!isKnownKind(object.kind)) return null; // a custom owner: as far as its reference takes us
    const live = await reader.get<KubeObject>({ kind: object.kind, namespace, name: object.name }).catch(unreadable);
    if (live === 'unreadable') return null;
    if (!live || (object.uid && live.metadata.uid !== object.uid)) return 'gone';
    const reference = controllerOf(live.metadata);
    const owner = reference ? rootIn(reference) : null;
    owners.set(live.metadata.uid, { owner, readAtMs: clock.now() });
    return owner;
  }

  /** As far as the references lead: the root, or the link that is missing; and what was read from memory for it. */
  async function climb(namespace: string, object: Root): Promise<{ last: Root; isGone: boolean; believed: string[] }> {
    const believed: string[] = [];
    let last = object;
    for (let depth = 0; depth < longestChain; depth++) {
      if (remembered(last.uid)) believed.push(last.uid);
      const owner = await ownerOf(namespace, last);
      if (owner === null) break;
      if (owner === 'gone') return { last, isGone: true, believed };
      last = owner;
    }
    return { last, isGone: false, believed };
  }

  async function rootOf(namespace: string, object: Root): Promise<Root | undefined> {
    let way = await climb(namespace, object);
    if (way.isGone && way.believed.length > 0) {
      for (const uid of way.believed) owners.delete(uid);
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
