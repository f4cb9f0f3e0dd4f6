import { LRUCache } from 'lru-cache';
import type { KubeObject, ObjectMeta, OwnerReference } from './api.ts';
import { controllerOf, specIn } from './raw.ts';
import { type Kind, qualifiedKind } from './resources.ts';

export interface Root {
  kind: string;
  name: string;
  uid: string;
}

/** An object as it is known by its name. */
export interface RosterEntry {
  name: string;
  uid: string;
  /** Only for a Job: whether it is an Indexed one. */
  indexed?: boolean;
}

/** One watch enters here every object that it sees, also those that nobody else keeps. */
export interface Roll {
  /** A list begins. What it does not show is gone when it ends. */
  begin(): void;
  saw(object: KubeObject): void;
  left(meta: Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>): void;
  complete(): void;
  /** An object exists that cannot be read. */
  skipped(): void;
  /** The watch is broken: what it does not show may exist all the same. The next line or list ends the doubt. */
  doubt(): void;
  /** Nobody watches any more. */
  end(): void;
}

/**
 * Knows who exists and who owns it, as the watches show it. "It exists" is as good as a read. "It does not exist" is only what
 * the watch knows so far, so whoever must be sure asks the API server.
 */
export interface Roster {
  roll(kind: Kind, scope: string | undefined): Roll;
  /** By the object's uid. null: it has no owner. undefined: no watch has shown it. Remembered for a while when it is gone. */
  ownerOf(namespace: string, uid: string): Root | null | undefined;
  /** null: its watch is whole and does not show it. undefined: nobody knows. Pods are not known by name. */
  find(kind: string, namespace: string, name: string): RosterEntry | null | undefined;
  /** All of this kind and namespace; undefined: nobody knows. */
  all(kind: string, namespace: string): RosterEntry[] | undefined;
  /** Hears of each object that was not known before. */
  onNew(listener: (uid: string) => void): void;
}

/** The objects of one namespace. */
interface Space {
  /** By uid. Owners are shared between their objects, so an entry is little more than the uid. */
  owners: Map<string, Root | null>;
  /** By name. Empty for pods: there are many, and nobody asks for them by name. */
  names: Map<string, RosterEntry>;
}
type Shelf = Map<string, Space>;

/** Everything that one watch has shown. */
interface Shown {
  kind: Kind;
  shelf: Shelf;
  /** The list that is being read. */
  next?: Shelf;
  /** The first list was read, and the watch is not known to be broken. */
  isWhole: boolean;
  hasSkipped: boolean;
}

/** A StatefulSet or Job of another API group is not the kind that we can read, so its kind gets the group's name. */
export const rootIn = ({ apiVersion, kind, name, uid }: OwnerReference): Root => ({
  kind: qualifiedKind(kind, apiVersion),
  name,
  uid,
});

function spaceIn(shelf: Shelf, namespace: string): Space {
  const known = shelf.get(namespace);
  if (known) return known;
  const none: Space = { owners: new Map(), names: new Map() };
  shelf.set(namespace, none);
  return none;
}

export function createRoster(mostRemembered = 10_000): Roster {
  const kinds = new Map<string, Map<string | undefined, Shown>>();
  /** Owners of objects that are gone. Events about these still come. */
  const left = new LRUCache<string, { owner: Root | null }>({ max: mostRemembered });
  const shared = new LRUCache<string, Root>({ max: mostRemembered });
  const listeners: ((uid: string) => void)[] = [];

  function ownerIn(meta: ObjectMeta): Root | null {
    const reference = controllerOf(meta);
    if (!reference) return null;
    const owner = rootIn(reference);
    const known = shared.get(owner.uid);
    if (known?.name === owner.name && known.kind === owner.kind) return known;
    shared.set(owner.uid, owner);
    return owner;
  }

  function enter(shown: Shown, object: KubeObject): void {
    const { uid, namespace = '', name } = object.metadata;
    const space = spaceIn(shown.next ?? shown.shelf, namespace);
    space.owners.set(uid, ownerIn(object.metadata));
    if (shown.kind === 'Pod') return;
    const isIndexed = shown.kind === 'Job' && specIn(object)['completionMode'] === 'Indexed';
    space.names.set(name, { name, uid, ...(isIndexed && { indexed: true }) });
  }

  function remove(shown: Shown, { uid, namespace = '', name }: Pick<ObjectMeta, 'name' | 'namespace' | 'uid'>): void {
    const space = shown.shelf.get(namespace);
    const owner = space?.owners.get(uid);
    if (owner !== undefined) left.set(`${namespace}/${uid}`, { owner });
    space?.owners.delete(uid);
    if (space?.names.get(name)?.uid === uid) space.names.delete(name);
    if (space?.owners.size === 0) shown.shelf.delete(namespace);
  }

  const isKnown = ({ shelf, next }: Shown, namespace: string, uid: string): boolean =>
    Boolean(shelf.get(namespace)?.owners.has(uid) || next?.get(namespace)?.owners.has(uid));

  const shownOf = (kind: string, namespace: string): Shown | undefined =>
    kinds.get(kind)?.get(namespace) ?? kinds.get(kind)?.get(undefined);

  return {
    roll(kind, scope) {
      const scopes = kinds.get(kind) ?? new Map<string | undefined, Shown>();
      const shown: Shown = { kind, shelf: new Map(), isWhole: false, hasSkipped: false };
      kinds.set(kind, scopes.set(scope, shown));
      return {
        begin() {
          shown.isWhole = false;
          shown.hasSkipped = false;
          shown.next = new Map();
        },
        saw(object) {
          const { uid, namespace = '' } = object.metadata;
          const isNew = !isKnown(shown, namespace, uid);
          enter(shown, object);
          if (!shown.next) shown.isWhole = true;
          if (isNew) for (const listener of listeners) listener(uid);
        },
        left(meta) {
          remove(shown, meta);
          shown.isWhole = true;
        },
        complete() {
          shown.shelf = shown.next ?? shown.shelf;
          delete shown.next;
          shown.isWhole = true;
        },
        skipped: () => void (shown.hasSkipped = true),
        doubt: () => void (shown.isWhole = false),
        end: () => void (scopes.get(scope) === shown && scopes.delete(scope)),
      };
    },
    ownerOf(namespace, uid) {
      for (const scopes of kinds.values())
        for (const { shelf, next } of scopes.values()) {
          const owner = shelf.get(namespace)?.owners.get(uid);
          const newer = next?.get(namespace)?.owners.get(uid);
          if (newer !== undefined || owner !== undefined) return newer === undefined ? owner : newer;
        }
      return left.get(`${namespace}/${uid}`)?.owner;
    },
    find(kind, namespace, name) {
      const shown = shownOf(kind, namespace);
      const found = shown?.shelf.get(namespace)?.names.get(name) ?? shown?.next?.get(namespace)?.names.get(name);
      if (found || !shown) return found;
      return shown.isWhole && !shown.hasSkipped && shown.kind !== 'Pod' ? null : undefined;
    },
    all(kind, namespace) {
      const shown = shownOf(kind, namespace);
      if (!shown?.isWhole || shown.hasSkipped || shown.kind === 'Pod') return undefined;
      return [...(shown.shelf.get(namespace)?.names.values() ?? [])];
    },
    onNew: (listener) => void listeners.push(listener),
  };
}
