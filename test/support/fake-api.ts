import { actions } from '../../src/actions/table.ts';
import type { Api, KubeObject, WriteOptions } from '../../src/kube/api.ts';
import { apiVersionOf, type Kind, type Ref, resources } from '../../src/kube/resources.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { sameValue } from '../../src/lib/hash.ts';
import { customResourceDefinitions } from '../../src/manifests/crd.ts';
import { alreadyExists, invalid, notFound } from '../../src/sim/api/http-refusals.ts';
import { localApi } from '../../src/sim/api/local-api.ts';
import { checkMetadata, checkName } from '../../src/sim/api/metadata.ts';
import { type Obj, stamp } from '../../src/sim/api/model.ts';
import { mergePatch } from '../../src/sim/api/patching.ts';
import type { KindRow } from '../../src/sim/kinds/kinds.ts';
import { randomOf } from '../long/random.ts';
import { createFullApiServer } from '../sim/full-sim.ts';
import { complete } from './complete.ts';

/** One request, as the server saw it. `identity` is undefined for the process's own, else the token. */
export interface Call {
  verb: 'get' | 'list' | 'create' | 'createSub' | 'patch' | 'delete';
  kind: Kind;
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
  body?: unknown;
  dryRun: boolean;
  identity?: string | undefined;
  /** The server did it (or, with dryRun, would have). */
  done?: boolean;
}

type Any = KubeObject & Record<string, unknown>;

/** May throw, to refuse or lose the request ("before") or its answer ("after"); may change the store. */
export type Hook = (call: Call) => void | Promise<void>;

export const isWrite = ({ verb, dryRun }: Call): boolean => !['get', 'list'].includes(verb) && !dryRun;

const definitions = customResourceDefinitions(actions);

/**
 * The simulated API server, for tests that set the scene by hand: `seed`, `change` and `remove` write into its store, and
 * `client()` gives an Api on it. There can be many clients: two processes, or one that died. What the scene leads to
 * (garbage collection, the status of quotas and budgets) comes after the next request, so a status that is not true does
 * not last: the scene needs the objects that make it true. There are no controllers and no kubelet.
 */
export function fakeServer(clock: Clock) {
  const server = createFullApiServer({ clock, definitions, random: randomOf(1).next });
  const { store, rowOf } = server.inside;
  const calls: Call[] = [];
  /** "shop/checkout-x/app", with "/previous" of the container before. */
  const logs = new Map<string, string>();
  let uids = 0;
  const born = new Map<string, number>(); // the revision of the first write, by uid
  store.listen(({ after, revision }) => {
    if (after && !born.has(after.metadata.uid)) born.set(after.metadata.uid, revision);
  });
  /** Run around every call of every client. */
  const hooks: { before?: Hook; after?: Hook } = {};

  const nextUid = (): string => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`;
  const row = (kind: Kind): KindRow => rowOf(kind, resources[kind].group)!;
  /** In the order of their creation, unlike the lists that a client gets. */
  const list = (kind: Kind, namespace?: string): Any[] => {
    const age = ({ metadata }: Obj): number => born.get(metadata.uid) ?? 0; // the first namespaces come with the server
    return store.all(row(kind), namespace).sort((a, b) => age(a) - age(b)) as never;
  };
  const get = (kind: Kind, namespace: string | undefined, name: string): Any | undefined =>
    store.get(row(kind), namespace || undefined, name) as never;

  /** Puts an object there as if it had always been. Its namespace and its required fields may be missing. */
  function seed(kind: Kind, namespace: string | undefined, object: object): Any {
    if (namespace && !get('Namespace', undefined, namespace))
      seed('Namespace', undefined, { metadata: { name: namespace } });
    const { metadata, ...rest } = structuredClone(object) as Any;
    if (kind !== 'Namespace' && get(kind, namespace, metadata.name)) throw alreadyExists(row(kind), metadata.name);
    const generation = row(kind).generation && { generation: 1 };
    const creationTimestamp = stamp(clock.now());
    const own = { ...metadata, ...(namespace && { namespace }), uid: nextUid(), creationTimestamp, ...generation };
    return put(complete(row(kind), { kind, apiVersion: apiVersionOf(kind), metadata: own, ...rest } as Obj));
  }

  /** Refuses what the server would refuse. */
  function put(object: Obj): Any {
    const of = row(object.kind as Kind);
    const { metadata } = object;
    const problems = [...checkName(metadata.name, of), ...checkMetadata(object), ...(of.rules.check?.(object) ?? [])];
    if (problems.length > 0) throw invalid({ ...of, name: metadata.name }, problems);
    return store.put(of, object) as never;
  }

  interface ClientOptions {
    identity?: string | undefined;
    /** Of this client only, and of those made from it by `withToken`. */
    before?: Hook;
    after?: Hook;
    /** Throws what the authorizer would. */
    authorize?: (call: Call) => void;
    /** See Api.guardedBy. */
    check?: () => void;
  }

  function client(options: ClientOptions = {}): Api {
    const own = localApi(server, options.identity === undefined ? {} : { token: options.identity });
    const api = options.check ? own.guardedBy(options.check) : own;
    async function serve<T>(call: Omit<Call, 'identity'>, work: () => Promise<T>): Promise<T> {
      const full: Call = { ...call, body: call.body && structuredClone(call.body), identity: options.identity };
      await options.before?.(full);
      await hooks.before?.(full);
      options.authorize?.(full);
      calls.push(full);
      const answer = await work();
      full.done = true;
      await hooks.after?.(full);
      await options.after?.(full);
      return answer;
    }
    const about = (ref: Ref, { dryRun = false }: WriteOptions = {}) => ({ ...ref, dryRun });
    return {
      get: (ref) => serve({ verb: 'get', ...about(ref) }, () => api.get(ref)),
      list: (kind, namespace, selector) =>
        serve({ verb: 'list', kind, namespace, dryRun: false }, () => api.list(kind, namespace, selector)),
      podLog: ({ namespace, name }, { container, previous, tailLines }) =>
        serve({ verb: 'get', kind: 'Pod', namespace, name, subresource: 'log', dryRun: false }, async () => {
          const log = logs.get(`${namespace}/${name}/${container}${previous ? '/previous' : ''}`);
          return log?.split('\n').slice(-tailLines).join('\n');
        }),
      create: (ref, body, how) => {
        const { name } = (body as KubeObject).metadata;
        return serve({ verb: 'create', ...about({ ...ref, name }, how), body }, () => api.create(ref, body, how));
      },
      createSub: (ref, body, how) =>
        serve({ verb: 'createSub', ...about(ref, how), body }, () => api.createSub(ref, body, how)),
      patch: (ref, type, body, how) =>
        serve({ verb: 'patch', ...about(ref, how), body }, () => api.patch(ref, type, body, how)),
      delete: (ref, preconditions = {}, how) =>
        serve({ verb: 'delete', ...about(ref, how), body: preconditions }, () => api.delete(ref, preconditions, how)),
      watch: api.watch,
      page: api.page,
      withToken: (token) => client({ ...options, identity: token }),
      guardedBy: (check) =>
        client({
          ...options,
          check() {
            options.check?.();
            check();
          },
        }),
    };
  }

  return {
    calls,
    logs,
    hooks,
    client,
    seed,
    get,
    list,
    /** Moves with every write. */
    revision: store.revision,
    /** Hears of every write of the kind at once, as a watch would a moment later. */
    onWrite(kind: Kind, listener: (before: Any | undefined, after: Any | undefined) => void): void {
      store.listen(({ row: of, before, after }) => of === row(kind) && listener(before as never, after as never));
    },
    /** Changes an object as its own controller or a person would, status and all. */
    change(kind: Kind, namespace: string, name: string, patch: object): Any {
      const before = get(kind, namespace, name) as Obj | undefined;
      if (!before) throw notFound(row(kind), name);
      const asked = mergePatch(before, patch) as Obj;
      const next = row(kind).rules.defaults?.(asked) ?? asked;
      if (sameValue(before, next)) return before as never;
      const isOther = row(kind).generation && !sameValue(before.spec, next.spec);
      const generation = isOther && { generation: (before.metadata.generation ?? 0) + 1 };
      return put({ ...next, metadata: { ...next.metadata, ...generation } });
    },
    remove(kind: Kind, namespace: string, name: string): boolean {
      const found = get(kind, namespace, name);
      if (found) store.remove(row(kind), found as never);
      return found !== undefined;
    },
  };
}

export type FakeServer = ReturnType<typeof fakeServer>;

/** A process that dies at a call: nothing it does afterwards arrives, and no answer ever comes. */
export function dyingAt(isTheCall: (call: Call) => boolean, when: 'before' | 'after'): { before: Hook; after: Hook } {
  let dead = false;
  const never = new Promise<never>(() => undefined);
  return {
    before: async (call) => {
      if (!dead && when === 'before' && isTheCall(call)) dead = true;
      if (dead) await never;
    },
    after: async (call) => {
      if (!dead && when === 'after' && isTheCall(call)) dead = true;
      if (dead) await never;
    },
  };
}
