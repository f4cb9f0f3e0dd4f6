import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { hasCode, ifForbidden, type KubeObject, type OwnerReference, type Reader } from './api.ts';
import { controllerOf } from './raw.ts';
import { isKnownKind, qualifiedKind } from './resources.ts';

/**
 * A generated name has at most 63 characters: what comes before the five random ones is cut to 58, so a Pod's name of
 * that length may have lost part of its owner's.
 * https://github.com/kubernetes/apiserver/blob/master/pkg/storage/names/generate.go
 */
const longestName = 63;
const longestBase = 58;
const random = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

const mayBeCut = (kind: string, name: string): boolean =>
  kind === 'Pod' && name.length === longestName && random.test(name);

/** Whose pods may have names of that length. */
const longNamingKinds = ['ReplicaSet', 'DaemonSet', 'Job', 'Deployment', 'CronJob', 'StatefulSet'] as const;

interface NamingOwner {
  kind: string;
  name: string;
  /** Of a Job. */
  indexed?: boolean;
}

/** Pure. Whether this workload, or what it makes, could have given the Pod this name. */
function couldHaveNamed({ kind, name, indexed = false }: NamingOwner, pod: string): boolean {
  const base = pod.slice(0, longestBase);
  switch (kind) {
    case 'ReplicaSet':
    case 'DaemonSet':
      return base === `${name}-`.slice(0, longestBase);
    case 'Job':
      return indexed ? couldBeIndexed(name, base) : base === `${name}-`.slice(0, longestBase);
    case 'Deployment':
      return continues(base, name, 10, isTemplateHash, /^[56789bcdf][456789bcdf]*$/);
    case 'CronJob':
      return continues(base, name, 8, (minutes) => isScheduledTime(Number(minutes), Number.MAX_SAFE_INTEGER), /^\d+$/);
    case 'StatefulSet': // never cut: a pod whose name does not fit is not made
      return pod.startsWith(`${name}-`) && /^(0|[1-9]\d{0,5})$/.test(pod.slice(name.length + 1));
    default:
      return false;
  }
}

/** The Job's name is cut, not the index: https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/job/indexed_job_utils.go */
function couldBeIndexed(name: string, base: string): boolean {
  const [index = ''] = /-(0|[1-9]\d*)-$/.exec(base) ?? [];
  return index !== '' && base === `${name.slice(0, longestBase - index.length)}${index}`;
}

/** "name-generated-", cut anywhere behind the name, or within it. */
function continues(
  base: string,
  name: string,
  longest: number,
  isGenerated: (text: string) => boolean,
  begins: RegExp,
): boolean {
  if (name.length >= longestBase - 1) return base === `${name}-`.slice(0, longestBase);
  if (!base.startsWith(`${name}-`)) return false;
  const rest = base.slice(name.length + 1);
  return rest.endsWith('-') ? isGenerated(rest.slice(0, -1)) : rest.length <= longest && begins.test(rest);
}

/**
 * Owners read from names, for objects that are already gone. Only suffixes that Kubernetes itself could have generated
 * for that kind are stripped, so neither `payments-worker` nor `web-grpcsvr` loses its end. Several kinds make names of
 * the same shape: who of them is meant only the cluster can tell (owner.ts).
 */
interface NamedOwner {
  kind: string;
  name: string;
  /** Only of a Job: whether it would have to be an Indexed one. */
  indexed?: boolean;
}

/** No vowels and no 0, 1 or 3. https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** Those that the digits 0 to 9 become (SafeEncodeString). */
const hashDigits = '456789bcdf';
const randomEnd = new RegExp(`^(.+)-[${letters}]{5}$`);
const hashEnd = new RegExp(`^(.+)-([${hashDigits}]{6,10})$`);
const numberEnd = /^(.+)-(0|[1-9]\d{0,5})$/;
const timeEnd = /^(.+)-([1-9]\d{7,})$/;

/** A template's hash is a number of 32 bits; one of fewer than six digits is too rare to look for in every name. */
function isTemplateHash(text: string): boolean {
  const digits = [...text].map((letter) => hashDigits.indexOf(letter));
  return digits.length >= 6 && digits[0] !== 0 && !digits.includes(-1) && Number(digits.join('')) <= 0xffffffff;
}

const firstCronJobMs = Date.UTC(2016, 0);
const dayMs = 86_400_000;

/** A CronJob names its Jobs by the minute they were due; a clock may be a little ahead of ours. */
const isScheduledTime = (minutes: number, nowMs: number): boolean =>
  minutes * 60_000 >= firstCronJobMs && minutes * 60_000 <= nowMs + dayMs;

const ownersOf: Readonly<Record<string, (name: string, nowMs: number) => NamedOwner[]>> = {
  Pod: (name) => {
    const [, base] = randomEnd.exec(name) ?? [];
    const [, job] = numberEnd.exec(base ?? '') ?? [];
    const [, set] = numberEnd.exec(name) ?? [];
    return [
      ...(base ? ['ReplicaSet', 'DaemonSet'].map((kind) => ({ kind, name: base })) : []),
      ...(base ? [{ kind: 'Job', name: base, indexed: false }] : []),
      ...(job ? [{ kind: 'Job', name: job, indexed: true }] : []),
      ...(set ? [{ kind: 'StatefulSet', name: set }] : []),
    ];
  },
  ReplicaSet: (name) => {
    const [, base, hash = ''] = hashEnd.exec(name) ?? [];
    return base && isTemplateHash(hash) ? [{ kind: 'Deployment', name: base }] : [];
  },
  Job: (name, nowMs) => {
    const [, base, minutes] = timeEnd.exec(name) ?? [];
    return base && isScheduledTime(Number(minutes), nowMs) ? [{ kind: 'CronJob', name: base }] : [];
  },
};

/** Pure. Everybody who could have named it so: at most one of each kind, or none. */
export const ownersByName = (kind: string, name: string, nowMs: number): NamedOwner[] =>
  (Object.hasOwn(ownersOf, kind) ? ownersOf[kind]! : () => [])(name, nowMs);

/**
 * Pure. The workload that a name alone tells, where there is no cluster to ask (a replay): a template's hash is a
 * Deployment's, a scheduled time a CronJob's, an ordinal a StatefulSet's. Five random letters alone tell nothing.
 */
export function ownerByName(kind: string, name: string, nowMs: number): NamedOwner | undefined {
  const owners = ownersByName(kind, name, nowMs);
  const above = owners.flatMap((owner) => ownersByName(owner.kind, owner.name, nowMs));
  return [...above, ...owners].find((owner) => ['Deployment', 'CronJob', 'StatefulSet'].includes(owner.kind));
}

interface Live extends KubeObject {
  spec?: { completionMode?: string };
}

/** Many pods of one workload go at once: whether it is there is not asked for each of them. */
const believedMs = 10_000;

const isIndexed = ({ spec }: Live): boolean => spec?.completionMode === 'Indexed';

/**
 * Whose something was that is gone, by its name. A name is only a hint: what it leads to must be there, and nobody else
 * may be who could have made that name; otherwise it is nobody's, for what is gone as a whole cannot be broken, and
 * half a guess would put one workload's trouble on another's card.
 */
function createOwnersByName(
  reader: Reader,
  clock: Clock,
  /** undefined: part of what leads there is gone. */
  rootOf: (namespace: string, live: Root) => Promise<Root | undefined>,
  max: number,
) {
  const known = new LRUCache<string, { live: Live | undefined; readAtMs: number }>({ max });

  async function read(namespace: string, { kind, name }: NamedOwner): Promise<Live | undefined> {
    const of = `${namespace}/${kind}/${name}`;
    const before = known.get(of);
    if (before && clock.now() - before.readAtMs < believedMs) return before.live;
    const live = isKnownKind(kind)
      ? await reader.get<Live>({ kind, namespace, name }).catch(ifForbidden(undefined))
      : undefined;
    known.set(of, { live, readAtMs: clock.now() });
    return live;
  }

  async function roots(
    namespace: string,
    { kind, name }: { kind: string; name: string },
  ): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const owner of ownersByName(kind, name, clock.now())) {
      const live = await read(namespace, owner);
      if (!live) found.push(...(await roots(namespace, owner)));
      else if (owner.indexed === undefined || owner.indexed === isIndexed(live))
        found.push(await rootOf(namespace, { kind: owner.kind, name: owner.name, uid: live.metadata.uid }));
    }
    return found;
  }

  async function rootsOfCut(namespace: string, pod: string): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const kind of longNamingKinds) {
      for (const live of (await reader.list<Live>(kind, namespace).catch(ifForbidden(undefined))) ?? []) {
        const { name, uid } = live.metadata;
        if (couldHaveNamed({ kind, name, indexed: isIndexed(live) }, pod))
          found.push(await rootOf(namespace, { kind, name, uid }));
      }
    }
    return found;
  }

  return async (namespace: string, object: Root): Promise<Root | undefined> => {
    const { kind, name } = object;
    const found = mayBeCut(kind, name) ? await rootsOfCut(namespace, name) : await roots(namespace, object);
    const [only, ...others] = new Map(found.map((root) => [root && `${root.kind}/${root.name}`, root])).values();
    return others.length === 0 ? only : undefined;
  };
}

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

export const longestChain = 6;

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
    const live = await reader
      .get<KubeObject>({ kind: object.kind, namespace, name: object.name })
      .catch(ifForbidden('unreadable'));
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

export interface Owner {
  kind: string;
  name: string;
  uid: string;
  /** Absent when it is gone, or of a kind that nobody here can read. */
  live?: KubeObject;
}

/** Who controls it, who controls that, and so on: as far as the references lead. */
export async function readOwners(
  reader: Reader,
  namespace: string,
  first: OwnerReference | undefined,
): Promise<Owner[]> {
  const owners: Owner[] = [];
  let next = first;
  while (next && owners.length < longestChain) {
    const { name, uid } = next;
    const kind = qualifiedKind(next.kind, next.apiVersion);
    const found = isKnownKind(kind) ? await reader.get<KubeObject>({ kind, namespace, name }) : undefined;
    const live = found?.metadata.uid === uid ? found : undefined;
    owners.push({ kind, name, uid, ...(live && { live }) });
    next = live && controllerOf(live.metadata);
  }
  return owners;
}
