import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { hasCode, isForbidden, type KubeObject, type OwnerReference, type Reader } from '../kube/api.ts';
import { isKnownKind, qualifiedKind } from '../kube/resources.ts';
import { controllerOf } from '../kube/views.ts';
import { createOwnersByName } from './owner-by-name.ts';

export interface Root {
  kind: string;
  name: string;
  uid: string;
}

/** Follows ownerReferences to the workload a person would name. */
export interface OwnerResolver {
  /** undefined: nobody knows whose it was, or whose it was is gone as well. */
  rootOf(namespace: string, object: Root): Promise<Root | undefined>;
}

const longestChain = 6;

/** That something has no owner is believed for so long: it is what tells that it is still there. */
const ownerlessMs = 30_000;

/** As far as the references lead: the root, or the link that is missing. */
interface Way {
  links: Root[];
  isGone: boolean;
  /** Part of it was read from memory. */
  isBelieved: boolean;
}

const lastOf = ({ links }: Way): Root => links.at(-1)!;

export function createOwnerResolver(anyReader: Reader, clock: Clock, max = 10_000): OwnerResolver {
  const reader: Reader = { ...anyReader, get: (ref) => anyReader.get<never>(ref).catch(unlessNoName) };
  /** uid of an object -> its controller. It changes when a workload is re-created around pods that were left alone. */
  const owners = new LRUCache<string, { owner: Root | null; readAtMs: number }>({ max });
  const byName = createOwnersByName(reader, clock, rootByReferences, max);

  function remembered(uid: string): { owner: Root | null } | undefined {
    const known = uid ? owners.get(uid) : undefined;
    return known?.owner || (known && clock.now() - known.readAtMs < ownerlessMs) ? known : undefined;
  }

  async function readOwner(namespace: string, object: Root): Promise<Root | null | 'gone'> {
    if (!isKnownKind(object.kind)) return null; // a custom owner: as far as its reference takes us
    const live = await reader.get<KubeObject>({ kind: object.kind, namespace, name: object.name }).catch(unreadable);
    if (live === 'unreadable') return null;
    if (!live || (object.uid && live.metadata.uid !== object.uid)) return 'gone';
    const reference = controllerOf(live.metadata);
    const owner = reference ? rootIn(reference) : null;
    owners.set(live.metadata.uid, { owner, readAtMs: clock.now() });
    return owner;
  }

  async function climb(namespace: string, object: Root, mayBelieve = true): Promise<Way> {
    const links = [object];
    let isBelieved = false;
    for (let depth = 0; depth < longestChain; depth++) {
      const link = links.at(-1)!;
      const known = mayBelieve ? remembered(link.uid) : undefined;
      const owner = known ? known.owner : await readOwner(namespace, link);
      isBelieved ||= known !== undefined;
      if (owner === null) break;
      if (owner === 'gone') return { links, isGone: true, isBelieved };
      links.push(owner);
    }
    return { links, isGone: false, isBelieved };
  }

  /** It was the root when it was last there: what is remembered of it is the best that will ever be known. */
  const wasRoot = ({ uid }: Root): boolean => uid !== '' && owners.get(uid)?.owner === null;

  async function rootByReferences(namespace: string, object: Root): Promise<Root | undefined> {
    const way = await climb(namespace, object);
    return !way.isGone || wasRoot(lastOf(way)) ? lastOf(way) : undefined;
  }

  async function rootOf(namespace: string, object: Root): Promise<Root | undefined> {
    const first = await climb(namespace, object);
    if (!first.isGone) return lastOf(first);
    const second = first.isBelieved ? await climb(namespace, object, false) : first;
    if (!second.isGone) return lastOf(second);
    const furthest = lastOf(first.links.length > second.links.length ? first : second);
    return wasRoot(furthest) ? furthest : byName(namespace, furthest);
  }
  return { rootOf };
}

/** Somebody else's StatefulSet or Job is not the one we know how to read. */
const rootIn = ({ apiVersion, kind, name, uid }: OwnerReference): Root => ({
  kind: qualifiedKind(kind, apiVersion),
  name,
  uid,
});

/** The API server checks no name in an event or a reference: what nothing can be called (400) is not there, however often we ask. */
const unlessNoName = (error: unknown): undefined => {
  if (hasCode(error, 400)) return undefined;
  throw error;
};

const unreadable = (error: unknown): 'unreadable' => {
  if (isForbidden(error)) return 'unreadable';
  throw error;
};
