import * as fc from 'fast-check';
import type { KubeObject, OwnerReference, Reader } from '../../src/kube/api.ts';

/*
 * Clusters of workloads as Kubernetes would have made them, with names chosen to be taken for each other's: how
 * Kubernetes makes names is written down here a second time, forwards.
 */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const longestBase = 58;

export interface Thing extends KubeObject {
  kind: string;
  spec?: object;
}
export interface Made {
  /** What a person would name; an empty uid is a custom one, which nobody can read. */
  root: { namespace: string; kind: string; name: string };
  /** The root first, then what it made, and what that made. */
  things: Thing[];
}

export const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'Indexed', 'CronJob', 'ReplicaSet', 'Rollout', 'Operator'] as const; // prettier-ignore
export type WorkloadKind = (typeof kinds)[number];

export interface Plan {
  namespace: string;
  kind: WorkloadKind;
  name: string;
  /** As many rollouts, Jobs or ordinals. */
  times: number;
  seed: number[];
}

const apiVersions: Record<string, string> = { Job: 'batch/v1', CronJob: 'batch/v1', Pod: 'v1', Rollout: 'argoproj.io/v1alpha1', Operator: 'example.com/v1' }; // prettier-ignore

/** As SafeEncodeString does it: the digits of a number of 32 bits, each put into the alphabet. */
const templateHash = (number: number): string =>
  [...String(number)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
/** What chance gives is now and then just what somebody chose as a name: 7d9f8b6c5d, x2x4z, 29913000. */
const lucky = { hash: 3_859_462_718, random: 'x2x4z', minutes: 29_913_000 };
const random5 = (number: number): string =>
  Array.from({ length: 5 }, (_, n) => alphabet[Math.floor(number / alphabet.length ** n) % alphabet.length]).join('');
const generated = (base: string, number: number): string =>
  `${base.slice(0, longestBase)}${number % 3 === 0 ? lucky.random : random5(number)}`;
/** Minutes before 03:12 on 16 November 2026. */
const scheduled = (number: number): number => 29_913_312 - (number % 10_000);

export function make({ namespace, kind, name, times, seed }: Plan, id: number): Made {
  const things: Thing[] = [];
  let chance = 0;
  const next = (): number => seed[chance++ % seed.length]! + chance * 7_919;
  const add = (of: string, called: string, owner?: Thing, spec?: object): Thing => {
    const reference =
      owner &&
      ({
        apiVersion: apiVersions[owner.kind] ?? 'apps/v1',
        kind: owner.kind,
        name: owner.metadata.name,
        uid: owner.metadata.uid,
        controller: true,
      } satisfies OwnerReference);
    const metadata = {
      name: called,
      namespace,
      uid: `${id}-${things.length}`,
      resourceVersion: '1',
      creationTimestamp: '',
    };
    const thing = {
      kind: of,
      metadata: { ...metadata, ...(reference && { ownerReferences: [reference] }) },
      ...(spec && { spec }),
    };
    things.push(thing);
    return thing;
  };
  const podOf = (owner: Thing): Thing => add('Pod', generated(`${owner.metadata.name}-`, next()), owner);
  const hash = (): string => templateHash(next() % 3 === 0 ? lucky.hash : 100_000 + ((next() * 31) % 4_294_000_000));
  const minutes = (): number => (next() % 3 === 0 ? lucky.minutes : scheduled(next()));
  const rollOut = (owner: Thing): void => {
    for (let n = 0; n < times; n++) podOf(add('ReplicaSet', `${name}-${hash()}`, owner));
  };
  const ways: Record<WorkloadKind, () => void> = {
    Deployment: () => rollOut(add('Deployment', name)),
    Rollout: () => rollOut(add('Rollout', name)),
    Operator: () => rollOut(add('Deployment', name, add('Operator', `${name}-operator`))),
    ReplicaSet: () => void podOf(add('ReplicaSet', name)),
    DaemonSet: () => void podOf(add('DaemonSet', name)),
    Job: () => void podOf(add('Job', name)),
    StatefulSet: () => {
      const set = add('StatefulSet', name);
      for (let n = 0; n < times; n++) add('Pod', `${name}-${n === 2 ? 24567 : n}`, set);
    },
    Indexed: () => {
      const job = add('Job', name, undefined, { completionMode: 'Indexed' });
      for (let n = 0; n < times; n++) {
        const index = `-${n}-`;
        add('Pod', generated(`${name.slice(0, longestBase - index.length)}${index}`, next()), job);
      }
    },
    CronJob: () => {
      const cronJob = add('CronJob', name);
      for (let n = 0; n < times; n++) podOf(add('Job', `${name}-${minutes()}`, cronJob));
    },
  };
  ways[kind]();
  const [top] = things;
  return { root: { namespace, kind: top!.kind, name: top!.metadata.name }, things };
}

const word = fc.constantFrom('web', 'web', 'api', 'payments-worker', 'payments-server');
/** Endings that Kubernetes could have made, as people choose them to spite us. */
const ending = fc.constantFrom(
  '',
  '',
  '',
  '',
  '-7d9f8b6c5d',
  '-7d9f8b6c5d',
  '-5d9f8b',
  '-x2x4z',
  '-0',
  '-24567',
  '-29913000',
  '-29913000-x2x4z',
  '-7d9f8b6c5d-x2x4z',
  '-x2x4z-0',
  '-grpcsvr',
);
const long = fc
  .integer({ min: 44, max: 60 })
  .map((length) => 'a-very-long-name-that-somebody-thought-was-a-good-idea-for-it'.slice(0, length).replace(/-$/, 'x'));
const name = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(word, ending).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: long },
);

export const plan: fc.Arbitrary<Plan> = fc.record({
  namespace: fc.constantFrom('shop', 'shop', 'shop', 'shop-eu'),
  kind: fc.constantFrom(...kinds),
  name,
  times: fc.integer({ min: 1, max: 3 }),
  seed: fc.array(fc.integer({ min: 0, max: 14_000_000 }), { minLength: 3, maxLength: 6 }),
});

const keyOf = (kind: string, { namespace, name }: { namespace?: string | undefined; name: string }): string =>
  `${namespace}/${kind}/${name}`;

/** What cannot be there at once, for it would have the same name, is not made a second time, nor what it would make. CronJobs have short names. */
export function makeAll(plans: readonly Plan[]): Made[] {
  const taken = new Set<string>();
  return plans.flatMap((one, id) => {
    const made = make(one.kind === 'CronJob' ? { ...one, name: one.name.slice(0, 52).replace(/-$/, 'x') } : one, id);
    const missing = new Set<string>();
    const things = made.things.filter(({ kind, metadata }) => {
      const key = keyOf(kind, metadata);
      const isFree = !taken.has(key) && !metadata.ownerReferences?.some(({ uid }) => missing.has(uid));
      (isFree ? taken : missing).add(isFree ? key : metadata.uid);
      return isFree;
    });
    return things[0] === made.things[0] ? [{ ...made, things }] : [];
  });
}

/** The cluster as it is now: custom resources cannot be read. */
export function readerOf(live: () => readonly Thing[]): Reader {
  return {
    get: async ({ kind, namespace, name }) =>
      live().find(
        (it) => it.kind === kind && it.metadata.namespace === namespace && it.metadata.name === name,
      ) as never,
    list: async (kind, namespace) =>
      live().filter((it) => it.kind === kind && it.metadata.namespace === namespace) as never,
  };
}
