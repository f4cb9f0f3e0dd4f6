import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { hasCode, ifForbidden, type KubeObject, type OwnerReference, type Reader } from './api.ts';
import { createQuestions, type Pace, type OwnerQuestions, shown } from './questions.ts';
import { controllerOf } from './raw.ts';
import { isKnownKind, type Kind, qualifiedKind } from './resources.ts';
import { type Root, rootIn, type Roster, type RosterEntry } from './roster.ts';

export type { Root } from './roster.ts';

/**
 * A generated name has at most 63 characters: the part before the five random ones is cut to 58. So a Pod's name of 63
 * characters may have lost part of its owner's name.
 * https://github.com/kubernetes/apiserver/blob/master/pkg/storage/names/generate.go
 */
const longestName = 63;
const longestBase = 58;
const random = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

const mayBeCut = (kind: string, name: string): boolean =>
  kind === 'Pod' && name.length === longestName && random.test(name);

/** Kinds whose pods may have names of that length. */
const longNamingKinds = ['ReplicaSet', 'DaemonSet', 'Job', 'Deployment', 'CronJob', 'StatefulSet'] as const;

interface NamingOwner {
  kind: string;
  name: string;
  /** Only for a Job: whether it is an Indexed one. */
  indexed?: boolean;
}

/** Pure. Whether this workload, or something it creates, could have given the Pod this name. */
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
    case 'StatefulSet': // never cut: a pod whose name does not fit is not created
      return pod.startsWith(`${name}-`) && /^(0|[1-9]\d{0,5})$/.test(pod.slice(name.length + 1));
    default:
      return false;
  }
}

/**
 * In the pods of an Indexed Job, the Job's name is cut, not the index:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/job/indexed_job_utils.go
 */
function couldBeIndexed(name: string, base: string): boolean {
  const [index = ''] = /-(0|[1-9]\d*)-$/.exec(base) ?? [];
  return index !== '' && base === `${name.slice(0, longestBase - index.length)}${index}`;
}

/** Whether the base is "name-generated-", cut anywhere after the name or within it. */
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
 * for that kind are stripped, so neither `payments-worker` nor `web-grpcsvr` loses its end. Several kinds generate
 * names of the same shape; only the cluster can show which of them is meant (createOwnersByName).
 */
interface NamedOwner {
  kind: string;
  name: string;
  /** Only for a Job: whether it would have to be an Indexed one. */
  indexed?: boolean;
}

/** No vowels and no 0, 1 or 3. https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
/** The letters that the digits 0 to 9 become (SafeEncodeString). */
const hashDigits = '456789bcdf';
const randomEnd = new RegExp(`^(.+)-[${letters}]{5}$`);
const hashEnd = new RegExp(`^(.+)-([${hashDigits}]{6,10})$`);
const numberEnd = /^(.+)-(0|[1-9]\d{0,5})$/;
const timeEnd = /^(.+)-([1-9]\d{7,})$/;

/** A template's hash is a 32-bit number. A hash of fewer than six digits is too rare to look for in every name. */
function isTemplateHash(text: string): boolean {
  const digits = [...text].map((letter) => hashDigits.indexOf(letter));
  return digits.length >= 6 && digits[0] !== 0 && !digits.includes(-1) && Number(digits.join('')) <= 0xffffffff;
}

const firstCronJobMs = Date.UTC(2016, 0);
const dayMs = 86_400_000;

/** A CronJob names its Jobs by the minute they were due. The cluster's clock may be a little ahead of ours. */
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

/**
 * Pure. All owners that could have given it this name: at most one of each kind (but a Job twice, Indexed or not), or
 * none.
 */
export const ownersByName = (kind: string, name: string, nowMs: number): NamedOwner[] =>
  (Object.hasOwn(ownersOf, kind) ? ownersOf[kind]! : () => [])(name, nowMs);

/**
 * Pure. The workload that the name alone implies, for when there is no cluster to ask (a replay): a template's hash
 * implies a Deployment, a scheduled time a CronJob, an ordinal a StatefulSet. Five random letters alone imply nothing.
 */
export function ownerByName(kind: string, name: string, nowMs: number): NamedOwner | undefined {
  const owners = ownersByName(kind, name, nowMs);
  const above = owners.flatMap((owner) => ownersByName(owner.kind, owner.name, nowMs));
  return [...above, ...owners].find((owner) => ['Deployment', 'CronJob', 'StatefulSet'].includes(owner.kind));
}

interface Live extends KubeObject {
  spec?: { completionMode?: string };
}

/**
 * How long a read by name is cached. Many pods of one workload go at once, and we do not look up the workload for each.
 */
const believedMs = 10_000;

const entryOf = ({ metadata, spec }: Live): RosterEntry => ({
  name: metadata.name,
  uid: metadata.uid,
  ...(spec?.completionMode === 'Indexed' && { indexed: true }),
});

interface NamesDeps {
  reader: Reader;
  questions: OwnerQuestions;
  roster: Roster | undefined;
  clock: Clock;
  /** undefined: part of the chain to the root is gone. */
  rootOf: (namespace: string, live: Root) => Promise<Root | undefined>;
  max: number;
}

/**
 * Finds the owner of an object that is gone, by the object's name. A name is only a hint: the owner that it implies
 * must exist, and no other owner may exist that could have given that name. Otherwise there is no owner: a workload
 * that is gone as a whole cannot be broken, and a guess could put one workload's failure on another's card. What the
 * watches show is believed here: the object itself is known to be gone, and its owner came before it.
 */
function createOwnersByName({ reader, questions, roster, clock, rootOf, max }: NamesDeps) {
  const known = new LRUCache<string, { entry: RosterEntry | undefined; readAtMs: number }>({ max });
  const lists = new LRUCache<string, { entries: Promise<RosterEntry[]>; readAtMs: number }>({ max: 100 });

  async function read(namespace: string, { kind, name }: NamedOwner): Promise<RosterEntry | undefined> {
    const shownNow = roster?.find(kind, namespace, name);
    if (shownNow !== undefined) return shownNow ?? undefined;
    const of = `${namespace}/${kind}/${name}`;
    const before = known.get(of);
    if (before && clock.now() - before.readAtMs < believedMs) return before.entry;
    const live = isKnownKind(kind)
      ? await questions.ask(kind, namespace, name).catch(ifForbidden(undefined))
      : undefined;
    const entry = live && live !== shown ? entryOf(live) : undefined;
    known.set(of, { entry, readAtMs: clock.now() });
    return entry;
  }

  async function roots(
    namespace: string,
    { kind, name }: { kind: string; name: string },
  ): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const owner of ownersByName(kind, name, clock.now())) {
      const live = await read(namespace, owner);
      if (!live) found.push(...(await roots(namespace, owner)));
      else if (owner.indexed === undefined || owner.indexed === (live.indexed ?? false))
        found.push(await rootOf(namespace, { kind: owner.kind, name: owner.name, uid: live.uid }));
    }
    return found;
  }

  async function all(kind: Kind, namespace: string): Promise<RosterEntry[]> {
    const shownNow = roster?.all(kind, namespace);
    if (shownNow) return shownNow;
    const of = `${namespace}/${kind}`;
    const before = lists.get(of);
    if (before && clock.now() - before.readAtMs < believedMs) return before.entries;
    const entries = reader
      .list<Live>(kind, namespace, { metadataOnly: kind !== 'Job' })
      .catch(ifForbidden([]))
      .then((found) => found.map(entryOf));
    lists.set(of, { entries, readAtMs: clock.now() });
    void entries.catch(() => lists.delete(of));
    return entries;
  }

  async function rootsOfCut(namespace: string, pod: string): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const kind of longNamingKinds)
      for (const { name, uid, indexed = false } of await all(kind, namespace))
        if (couldHaveNamed({ kind, name, indexed }, pod)) found.push(await rootOf(namespace, { kind, name, uid }));
    return found;
  }

  return async (namespace: string, object: Root): Promise<Root | undefined> => {
    const { kind, name } = object;
    const found = mayBeCut(kind, name) ? await rootsOfCut(namespace, name) : await roots(namespace, object);
    const [only, ...others] = new Map(found.map((root) => [root && `${root.kind}/${root.name}`, root])).values();
    return others.length === 0 ? only : undefined;
  };
}

/** Follows ownerReferences to the workload that a person would name. */
export interface OwnerResolver {
  /** undefined: the owner is unknown, or is gone as well. */
  rootOf(namespace: string, object: Root): Promise<Root | undefined>;
  /** Whether the answer may take a while, because the API server must be asked whether the object exists at all. */
  mustAsk(namespace: string, object: Root): boolean;
}

export const longestChain = 6;

/** How long "has no owner" is cached. Short, because re-reading also detects deletion. */
const ownerlessMs = 30_000;

/** The chain as far as the references lead: to the root, or to the link that is missing. */
interface Way {
  links: Root[];
  isGone: boolean;
  /** Part of the chain came from the cache. */
  isBelieved: boolean;
}

const lastOf = ({ links }: Way): Root => links.at(-1)!;

interface ResolverOptions {
  /** Knows what the watches show. Without it everything is read. */
  roster?: Roster | undefined;
  /** How many requests questions about objects may cost. Without it all are asked at once. */
  pace?: Pace;
  /** How much is cached. */
  max?: number;
}

export function createOwnerResolver(
  anyReader: Reader,
  clock: Clock,
  { roster, pace, max = 10_000 }: ResolverOptions = {},
): OwnerResolver {
  const reader: Reader = { ...anyReader, get: (ref) => anyReader.get<never>(ref).catch(unlessNoName) };
  const questions = createQuestions(reader, clock, pace);
  roster?.onNew(questions.hasShown);
  /**
   * The controller of each object, by the object's uid. It changes when a workload is re-created around pods that were
   * orphaned.
   */
  const owners = new LRUCache<string, { owner: Root | null; readAtMs: number }>({ max });
  /** Objects that the API server did not have. A uid is never given twice. */
  const gone = new LRUCache<string, true>({ max });
  const byName = createOwnersByName({ reader, questions, roster, clock, rootOf: rootByReferences, max });
  const goneId = (namespace: string, { kind, name, uid }: Root): string => [namespace, kind, name, uid].join(' ');

  function remembered(namespace: string, uid: string): { owner: Root | null } | undefined {
    if (!uid) return undefined;
    const owner = roster?.ownerOf(namespace, uid);
    if (owner !== undefined) return { owner };
    const known = owners.get(`${namespace}/${uid}`);
    return known?.owner || (known && clock.now() - known.readAtMs < ownerlessMs) ? known : undefined;
  }

  async function readOwner(namespace: string, object: Root): Promise<Root | null | 'gone'> {
    const { kind, name, uid } = object;
    if (!isKnownKind(kind)) return null; // a custom owner: we know only what the reference says
    if (uid && gone.has(goneId(namespace, object))) return 'gone';
    const live = await questions.ask(kind, namespace, name, uid).catch(ifForbidden('unreadable'));
    if (live === 'unreadable') return null;
    if (live === shown) return roster?.ownerOf(namespace, uid) ?? null;
    if (!live || (uid && live.metadata.uid !== uid)) {
      if (uid) gone.set(goneId(namespace, object), true);
      return 'gone';
    }
    const reference = controllerOf(live.metadata);
    const owner = reference ? rootIn(reference) : null;
    owners.set(`${namespace}/${live.metadata.uid}`, { owner, readAtMs: clock.now() });
    return owner;
  }

  async function climb(namespace: string, object: Root, mayBelieve = true): Promise<Way> {
    const links = [object];
    let isBelieved = false;
    for (let depth = 0; depth < longestChain; depth++) {
      const link = links.at(-1)!;
      const known = mayBelieve ? remembered(namespace, link.uid) : undefined;
      const owner = known ? known.owner : await readOwner(namespace, link);
      isBelieved ||= known !== undefined;
      if (owner === null) break;
      if (owner === 'gone') return { links, isGone: true, isBelieved };
      links.push(owner);
    }
    return { links, isGone: false, isBelieved };
  }

  /** It was the root when it last existed; nothing better than this memory will ever be known. */
  const wasRoot = (namespace: string, { uid }: Root): boolean =>
    uid !== '' && (owners.get(`${namespace}/${uid}`)?.owner === null || roster?.ownerOf(namespace, uid) === null);

  async function rootByReferences(namespace: string, object: Root): Promise<Root | undefined> {
    const way = await climb(namespace, object);
    return !way.isGone || wasRoot(namespace, lastOf(way)) ? lastOf(way) : undefined;
  }

  async function rootOf(namespace: string, object: Root): Promise<Root | undefined> {
    const first = await climb(namespace, object);
    if (!first.isGone) return lastOf(first);
    const second = first.isBelieved ? await climb(namespace, object, false) : first;
    if (!second.isGone) return lastOf(second);
    const furthest = lastOf(first.links.length > second.links.length ? first : second);
    return wasRoot(namespace, furthest) ? furthest : byName(namespace, furthest);
  }
  return {
    rootOf,
    mustAsk: (namespace, object) => pace !== undefined && remembered(namespace, object.uid) === undefined,
  };
}

/**
 * The API server does not check the names in an event or a reference. No object can have a name that it answers with
 * 400, so asking again would not help.
 */
const unlessNoName = (error: unknown): undefined => {
  if (hasCode(error, 400)) return undefined;
  throw error;
};

export interface Owner {
  kind: string;
  name: string;
  uid: string;
  /** Absent when it is gone, or of a kind that we cannot read. */
  live?: KubeObject;
}

/** The controller of an object, that one's controller, and so on, as far as the references lead. */
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
