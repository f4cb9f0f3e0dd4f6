import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { customKinds } from '../kinds/custom-kinds.ts';
import { builtInKinds, type KindRow, type KindRules } from '../kinds/kinds.ts';
import { createAccess, type UserInfo } from './access.ts';
import { dispatch, type DispatchCore } from './dispatch.ts';
import { tendBudgets } from './disruption.ts';
import { ApiRefusal, forbidden, internal, notFound, statusOf } from './http-refusals.ts';
import { type AdmissionStage, type ApiAnswer, type ApiRequest, type Obj, type ServerCore, text } from './model.ts';
import { addFirstNamespaces, tendNamespaces } from './namespace-lifecycle.ts';
import { createObjectStore, type StoredChange } from './object-store.ts';
import { mustFitQuotas, tendQuotas } from './quotas.ts';
import { collect } from './removal.ts';

export interface ApiServerOptions {
  clock: Clock;
  /** The CustomResourceDefinitions to serve; without any there are no Remediations and Notices. */
  definitions?: readonly Manifest[];
  /** The user of a request without a token. */
  identity?: UserInfo;
  /** The users of known tokens. */
  tokens?: Readonly<Record<string, UserInfo>>;
  /** Rules of further kinds, by kind. An object of a kind without rules is stored as it comes. test/sim has those that the demo does not need. */
  moreRules?: Readonly<Record<string, KindRules>>;
  /** The random source of names and uids; a fixed one makes a run repeatable. */
  random?: () => number;
  /** How many writes a watch may be late. */
  history?: number;
}

export interface ApiServer {
  handle(request: ApiRequest): Promise<ApiAnswer>;
  /** Forgets all earlier writes, so that an old resourceVersion gets a 410. */
  compact(): void;
  /** The objects behind the API. A test can begin with a state that no client could have written. */
  readonly inside: Pick<ServerCore, 'store' | 'rowOf'>;
}

const admin: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * A small Kubernetes API in memory, strict about the part that tapfix, the demo and the simulated controllers need.
 * test/contract runs the same cases on it and on a real v1.36 API server. It is known to differ from the real one:
 *
 * - Everybody may do everything: no RBAC, no admission policies, no webhooks; a SubjectAccessReview answers yes, and why.
 * - CEL rules of CustomResourceDefinitions are not evaluated: neither "decided once" nor the order of phases is enforced.
 * - Built-in kinds have no schema: unknown fields are kept where the real one drops them, and types are checked only in
 *   metadata and in the fields that decoding.ts lists.
 * - Patches are JSON patches and merge patches. strategic merge, server-side apply, YAML and protobuf are 415.
 * - managedFields show who wrote which field when; finer points (the "." marks, at most ten writers) are left out.
 * - Some work that real controllers do a moment later is done at once: garbage collection, the status of quotas and
 *   disruption budgets, a namespace's default account. The content of a deleted namespace goes after a second. Foreground
 *   deletion is refused (422), and garbage collection never deletes a namespace.
 * - Quotas know pods, amounts, counts and plain scopes; a scopeSelector is refused (422). LimitRanges give defaults to
 *   containers; one with bounds is refused (422), and so is a pod with an overhead or with resources as a whole.
 * - Pods get no token volume, new nodes get no taint, claims get no finalizer. A PUT never creates.
 * - A watch cannot ask for sendInitialEvents (422). Watches and pages can go back over the last `history` writes of all
 *   kinds together. A resourceVersion of the future is refused at once instead of after 3 s.
 * - Kinds that are not in kinds.ts, discovery and OpenAPI are missing, so kubectl finds nothing here.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const {
    clock,
    definitions = [],
    moreRules = {},
    random = Math.random,
    identity = admin,
    tokens = {},
    history = 5_000,
  } = options;
  const store = createObjectStore(history);
  const rows = [...builtInKinds(moreRules), ...customKinds(definitions)];
  const rowOf: ServerCore['rowOf'] = (kind, group) =>
    rows.find((row) => row.kind === kind && (group === undefined || row.group === group));
  const access = createAccess({ clock, random, identity, tokens });
  const core: DispatchCore = {
    store,
    clock,
    random,
    rows,
    rowOf,
    access,
    settle,
    admit: (...asked) => admit(core, ...asked),
  };
  const pending: StoredChange[] = [];
  store.listen((change) => pending.push(change));
  const expire = createExpiry(core);

  /** Runs the consequences of the writes so far. It runs after the write, so that nobody sees a consequence before its cause. */
  function settle(): void {
    for (let next = pending.shift(); next; next = pending.shift()) {
      collect(core, next);
      tendNamespaces(core, next);
      tendQuotas(core, next);
      tendBudgets(core, next);
      expire.note(next);
    }
  }

  function answer(request: ApiRequest): ApiAnswer {
    try {
      expire.sweep();
      return page(request) ?? dispatch(core, request);
    } catch (error) {
      const refusal = error instanceof ApiRefusal ? error : internal(`Internal error occurred: ${messageOf(error)}`);
      return { status: refusal.code, body: statusOf(refusal) };
    }
  }

  addFirstNamespaces(core);
  settle();
  return {
    async handle(request) {
      const answered = answer(request);
      settle();
      return answered;
    },
    compact: () => store.compact(),
    inside: { store, rowOf },
  };
}

function admit(core: ServerCore, row: KindRow, object: Obj, when: AdmissionStage): void {
  if (!row.namespaced) return;
  if (when === 'when it is known to be valid') return mustFitQuotas(core, row, object);
  namespaceTakesIt(core, row, object);
  if (row.kind === 'Pod') accountExists(core, row, object);
}

function namespaceTakesIt({ store, rowOf }: ServerCore, row: KindRow, { metadata }: Obj): void {
  const namespaces = rowOf('Namespace')!;
  const name = metadata.namespace ?? '';
  const found = store.get(namespaces, undefined, name);
  if (!found) throw notFound(namespaces, name);
  if (!found.metadata.deletionTimestamp) return;
  const why = `unable to create new content in namespace ${name} because it is being terminated`;
  const message = `namespace ${name} is being terminated`;
  throw forbidden(row, metadata.name, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

function accountExists({ store, rowOf }: ServerCore, row: KindRow, { metadata, spec }: Obj): void {
  const { name, namespace = '' } = metadata;
  const account = text(spec?.['serviceAccountName']);
  if (store.get(rowOf('ServiceAccount')!, namespace, account)) return;
  const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw forbidden(row, name, why);
}

/** How long an Event is kept after its last write. */
const lifetimeMs = 60 * 60_000;

/** Removes old Events at the next request, so that no timer is needed. */
function createExpiry({ store, clock, rowOf }: ServerCore) {
  const row = rowOf('Event')!;
  /** In the order of the writes: the oldest is first. */
  const written = new Map<string, { atMs: number; namespace: string | undefined; name: string }>();
  return {
    note({ row: of, before, after }: StoredChange): void {
      if (of !== row) return;
      const { uid, namespace, name } = (after ?? before)!.metadata;
      written.delete(uid);
      if (after) written.set(uid, { atMs: clock.now(), namespace, name });
    },
    sweep(): void {
      for (const [uid, { atMs, namespace, name }] of written) {
        if (clock.now() - atMs < lifetimeMs) return;
        written.delete(uid);
        const found = store.get(row, namespace, name);
        if (found?.metadata.uid === uid) store.remove(row, found);
      }
    },
  };
}

const version = {
  major: '1',
  minor: '36',
  // Nobody should mistake this for a real cluster.
  gitVersion: 'v1.36.0+tapfix-sim',
  gitTreeState: 'simulated: no RBAC, no admission policies, no CEL, no nodes but those that somebody plays',
  platform: 'tapfix',
};

/** The pages that are no resources: health and version. */
function page({ method, path }: ApiRequest): ApiAnswer | undefined {
  if (method !== 'GET') return undefined;
  if (path === '/version') return { status: 200, body: version };
  return ['/healthz', '/livez', '/readyz'].includes(path) ? { status: 200, body: 'ok' } : undefined;
}
