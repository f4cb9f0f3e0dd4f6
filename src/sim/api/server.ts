import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import { createAccess, type Identity } from './access.ts';
import { admit } from './admission.ts';
import { tendBudgets } from './budgets.ts';
import { collect } from './collector.ts';
import type { Core } from './core.ts';
import { customKinds } from './custom.ts';
import { createExpiry } from './expiry.ts';
import { builtIn } from './kinds.ts';
import type { Answer, Request } from './model.ts';
import { addFirstNamespaces, tendNamespaces } from './namespaces.ts';
import { page } from './pages.ts';
import { tendQuotas } from './quota.ts';
import { internal, Refusal, statusOf } from './refusal.ts';
import { type Change, createStore } from './store.ts';
import { dispatch, type World } from './verbs.ts';

export interface ApiServerOptions {
  clock: Clock;
  /** The CustomResourceDefinitions to serve; without any there are no Remediations and Notices. */
  definitions?: readonly Manifest[];
  /** Who is who does not bring a token. */
  identity?: Identity;
  /** Who is who brings one of these. */
  tokens?: Readonly<Record<string, Identity>>;
  /** Of names and uids; a fixed one makes a run repeatable. */
  random?: () => number;
  /** How many writes a watch may be behind. */
  history?: number;
}

export interface ApiServer {
  handle(request: Request): Promise<Answer>;
  /** Forgets what happened before now, so that an old resourceVersion is a 410. */
  compact(): void;
}

const admin: Identity = { username: 'admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * A small Kubernetes API in memory: what tapfix, a demo and the controllers that play a cluster need, and strict about it.
 * test/contract holds it and a real v1.36 API server to the same facts. Knowingly different from the real one:
 *
 * - Everybody may do everything: no RBAC, no admission policies, no webhooks; a SubjectAccessReview says yes, and why.
 * - CEL rules of CustomResourceDefinitions are not evaluated: neither "decided once" nor the moves of a phase are enforced.
 * - Built-in kinds have no schema: unknown fields are kept where the real one drops them, and types are looked at only in
 *   metadata and where shapes.ts says so.
 * - Patches are JSON patches and merge patches. strategic merge, server-side apply, YAML and protobuf are 415.
 * - managedFields tell who wrote which field when; finer points (the "." marks, at most ten writers) are left out.
 * - What the real one's controllers do a moment later is done at once: garbage collection, the status of quotas and
 *   disruption budgets, a namespace's default account. A namespace's content goes after a second. Foreground deletion is
 *   refused (422), and a namespace is never garbage.
 * - Quotas know pods, amounts, counts and plain scopes; a scopeSelector is refused (422), LimitRanges are not there.
 * - Pods get no volume with a token, nodes no taint for being new, claims no finalizer. A PUT never creates.
 * - A watch cannot ask for sendInitialEvents (422). What is remembered for watches and pages is the last `history` writes
 *   of all kinds together. A resourceVersion of the future is refused at once instead of after 3 s.
 * - Kinds that are not in kinds.ts, discovery and OpenAPI are not there, so kubectl finds nothing here.
 */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, definitions = [], random = Math.random, identity = admin, tokens = {}, history = 5_000 } = options;
  const store = createStore(history);
  const rows = [...builtIn, ...customKinds(definitions)];
  const rowOf: Core['rowOf'] = (kind, group) =>
    rows.find((row) => row.kind === kind && (group === undefined || row.group === group));
  const access = createAccess({ clock, random, identity, tokens });
  const world: World = {
    store,
    clock,
    random,
    rows,
    rowOf,
    access,
    settle,
    admit: (...asked) => admit(world, ...asked),
  };
  const pending: Change[] = [];
  store.listen((change) => pending.push(change));
  const expire = createExpiry(world);

  /** What follows from a write, once it is done: nobody sees a consequence before its cause. */
  function settle(): void {
    for (let next = pending.shift(); next; next = pending.shift()) {
      collect(world, next);
      tendNamespaces(world, next);
      tendQuotas(world, next);
      tendBudgets(world, next);
      expire.note(next);
    }
  }

  function answer(request: Request): Answer {
    try {
      expire.sweep();
      return page(request) ?? dispatch(world, request);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : internal(`Internal error occurred: ${messageOf(error)}`);
      return { status: refusal.code, body: statusOf(refusal) };
    }
  }

  addFirstNamespaces(world);
  settle();
  return {
    async handle(request) {
      const answered = answer(request);
      settle();
      return answered;
    },
    compact: () => store.compact(),
  };
}
