import {
  type Api,
  ApiError,
  type KubeObject,
  type ListSelector,
  Unreachable,
  type WriteOptions,
} from '../../src/kube/api.ts';
import { apiVersionOf, type Kind, pathOf, type Ref } from '../../src/kube/resources.ts';
import { type Clock, iso } from '../../src/lib/clock.ts';
import { sameValue } from '../../src/lib/hash.ts';
import { ApiRefusal } from '../../src/sim/api/http-refusals.ts';
import { jsonPatch, mergePatch } from '../../src/sim/api/patching.ts';

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
interface Eviction {
  metadata: { name: string };
  deleteOptions: { preconditions: { uid?: string; resourceVersion?: string } };
}
interface PodStatus {
  phase?: string;
  conditions?: { type: string; status: string }[];
}
/** May throw, to refuse or lose the request ("before") or its answer ("after"); may change the store. */
export type Hook = (call: Call) => void | Promise<void>;

export const isWrite = ({ verb, dryRun }: Call): boolean => !['get', 'list'].includes(verb) && !dryRun;

const error = (code: number, reason: string, message = reason): ApiError => new ApiError(message, code, reason);
const hasStatus: ReadonlySet<Kind> = new Set(['Remediation', 'Notice', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'ResourceQuota', 'Pod']); // prettier-ignore

/** Patches are those of the simulated API server; a client sees its refusal as an ApiError. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (refusal) {
    if (!(refusal instanceof ApiRefusal)) throw refusal;
    throw error(refusal.code, refusal.reason, refusal.message);
  }
}

/** The store and its rules; `client()` gives an Api on it. As many clients as wanted: two processes, or one that died. */
export function fakeServer(clock: Clock) {
  const store = new Map<string, Any>();
  const calls: Call[] = [];
  /** "shop/checkout-x/app", with "/previous" of the container before. */
  const logs = new Map<string, string>();
  let version = 100;
  let uids = 0;
  /** Run around every call of every client. */
  const hooks: { before?: Hook; after?: Hook } = {};

  const nextUid = (): string => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`;
  const keyOf = ({ kind, namespace, name }: Ref): string => pathOf(kind, namespace, name);
  const find = (ref: Ref): Any => {
    const found = store.get(keyOf(ref));
    if (!found) throw error(404, 'NotFound', `${ref.kind} "${ref.name}" not found`);
    return found;
  };

  function put(ref: Ref, next: Any): Any {
    const before = store.get(keyOf(ref));
    if (before && sameValue(before, next)) return before; // a no-op write leaves the resourceVersion
    const generation = (before?.metadata.generation ?? 0) + (before && sameValue(before['spec'], next['spec']) ? 0 : 1);
    const stored = { ...next, metadata: { ...next.metadata, generation, resourceVersion: String(++version) } };
    store.set(keyOf(ref), stored);
    return stored;
  }

  function create({ kind, namespace }: { kind: Kind; namespace?: string }, body: object, dryRun = false): Any {
    const { metadata, ...rest } = structuredClone(body) as Any;
    const ref = { kind, name: metadata.name, ...(namespace && { namespace }) };
    if (store.has(keyOf(ref))) throw error(409, 'AlreadyExists', `${kind} "${metadata.name}" already exists`);
    const born = { uid: nextUid(), creationTimestamp: iso(clock.now()), resourceVersion: String(version) };
    const scope = namespace ? { namespace } : {};
    const made = { apiVersion: apiVersionOf(kind), kind, ...rest, metadata: { ...metadata, ...scope, ...born } } as Any;
    return dryRun ? made : put(ref, made);
  }

  function patched(ref: Ref, type: 'json' | 'merge', body: object): Any {
    const before = find(ref);
    const asked = refusing(() => (type === 'json' ? jsonPatch : mergePatch)(before, body)) as Any;
    const isStatus = ref.subresource === 'status'; // in which the real one does not look at the uid
    if (!isStatus && asked.metadata.uid !== before.metadata.uid)
      throw error(422, 'Invalid', 'metadata.uid: field is immutable');
    if (asked.metadata.resourceVersion !== before.metadata.resourceVersion) {
      throw error(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version');
    }
    if (isStatus) return { ...before, status: asked['status'] };
    return hasStatus.has(ref.kind) ? keepStatus(asked, before) : asked;
  }

  function keepStatus(asked: Any, { status }: Any): Any {
    const kept: Any = { ...asked, status };
    if (status === undefined) delete kept['status'];
    return kept;
  }

  function remove(ref: Ref, preconditions: { uid?: string; resourceVersion?: string }, dryRun: boolean): void {
    const { uid, resourceVersion } = find(ref).metadata;
    const wrong = (wanted: string | undefined, is: string): boolean => wanted !== undefined && wanted !== is;
    if (wrong(preconditions.uid, uid) || wrong(preconditions.resourceVersion, resourceVersion)) {
      throw error(409, 'Conflict', 'Precondition failed');
    }
    if (!dryRun) store.delete(keyOf(ref));
  }

  /** Asks the one budget that a running pod may be under, as the real one does. */
  function evict(ref: Ref, { metadata, deleteOptions }: Eviction, dryRun: boolean): { status: 'Success' } {
    if (metadata.name !== ref.name)
      throw error(400, 'BadRequest', 'name in URL does not match name in Eviction object');
    const { phase, conditions = [] } = (find(ref)['status'] ?? {}) as PodStatus;
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    const budgets = list('PodDisruptionBudget', ref.namespace).map(({ status }) => status as Record<string, number>);
    for (const { disruptionsAllowed = 0, currentHealthy = 0, desiredHealthy = 0 } of phase === 'Running' ? budgets : [])
      if (disruptionsAllowed === 0 && (isReady || currentHealthy < desiredHealthy))
        throw error(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.");
    remove(ref, deleteOptions.preconditions, dryRun);
    return { status: 'Success' };
  }

  function list(kind: Kind, namespace?: string, { labelSelector, fieldSelector }: ListSelector = {}): Any[] {
    const pick = (object: unknown, path: string): unknown =>
      path.split('.').reduce((node, key) => (node as Record<string, unknown> | undefined)?.[key], object);
    const meets = (selector: string | undefined, value: (key: string) => unknown): boolean =>
      (selector?.split(',') ?? []).every((term) => value(term.split('=')[0]!) === term.split('=')[1]);
    return [...store.values()].filter(
      (object) =>
        object.kind === kind &&
        (!namespace || object.metadata.namespace === namespace) &&
        meets(labelSelector, (key) => object.metadata.labels?.[key]) &&
        meets(fieldSelector, (key) => pick(object, key)),
    );
  }

  interface ClientOptions {
    identity?: string | undefined;
    /** Of this client only, and of those made from it by `withToken`. */
    before?: Hook;
    after?: Hook;
    /** Throws what the authorizer would. */
    authorize?: (call: Call) => void;
  }

  function client(options: ClientOptions = {}): Api {
    async function serve<T>(call: Omit<Call, 'identity'>, work: () => T): Promise<T> {
      const full: Call = { ...call, body: structuredClone(call.body), identity: options.identity };
      await options.before?.(full);
      await hooks.before?.(full);
      options.authorize?.(full);
      calls.push(full);
      const answer = structuredClone(work());
      full.done = true;
      await hooks.after?.(full);
      await options.after?.(full);
      return answer;
    }
    const about = ({ kind, namespace, name, subresource }: Ref, { dryRun = false }: WriteOptions = {}) => ({
      kind,
      namespace,
      name,
      subresource,
      dryRun,
    });
    return {
      get: (ref) => serve({ verb: 'get', ...about(ref) }, () => store.get(keyOf(ref)) as never),
      list: (kind, namespace, selector) =>
        serve({ verb: 'list', kind, namespace, dryRun: false }, () => list(kind, namespace, selector) as never),
      podLog: ({ namespace, name }, { container, previous, tailLines }) =>
        serve({ verb: 'get', kind: 'Pod', namespace, name, subresource: 'log', dryRun: false }, () =>
          logs
            .get(`${namespace}/${name}/${container}${previous ? '/previous' : ''}`)
            ?.split('\n')
            .slice(-tailLines)
            .join('\n'),
        ),
      create: (ref, body, { dryRun = false } = {}) => {
        const { name } = (body as KubeObject).metadata;
        return serve({ verb: 'create', ...ref, name, body, dryRun }, () => create(ref, body, dryRun) as never);
      },
      createSub: (ref, body, how) =>
        serve({ verb: 'createSub', ...about(ref, how), body }, () =>
          ref.subresource === 'eviction'
            ? (evict(ref, body as never, how?.dryRun ?? false) as never)
            : ({ status: { token: `token-${nextUid()}` } } as never),
        ),
      patch: (ref, type, body, how = {}) =>
        serve({ verb: 'patch', ...about(ref, how), body }, () => {
          const next = patched(ref, type, body);
          return (how.dryRun ? next : put(ref, next)) as never;
        }),
      delete: (ref, preconditions = {}, how = {}) =>
        serve({ verb: 'delete', ...about(ref, how), body: preconditions }, () =>
          remove(ref, preconditions, how.dryRun ?? false),
        ),
      // oxlint-disable-next-line require-yield
      watch: async function* () {
        throw new Unreachable('no watch here');
      },
      page: async (kind, namespace) => ({
        items: list(kind, namespace) as never,
        metadata: { resourceVersion: String(version) },
      }),
      withToken: (token) => client({ ...options, identity: token }),
    };
  }

  return {
    calls,
    logs,
    hooks,
    client,
    /** Puts an object there as if it had always been. */
    seed: (kind: Kind, namespace: string | undefined, object: object): Any =>
      create({ kind, ...(namespace && { namespace }) }, object),
    get: (kind: Kind, namespace: string, name: string): Any | undefined => store.get(pathOf(kind, namespace, name)),
    list,
    /** Changes an object as its own controller or a person would, status and all. */
    change(kind: Kind, namespace: string, name: string, patch: object): Any {
      const ref = { kind, namespace, name };
      return put(ref, mergePatch(find(ref), patch) as Any);
    },
    remove: (kind: Kind, namespace: string, name: string): boolean => store.delete(pathOf(kind, namespace, name)),
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
