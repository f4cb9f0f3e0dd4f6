import type { WriterRole } from '../actions/action.ts';
import { type Api, isConflict, isForbidden, isNotFound, type KubeObject } from '../kube/api.ts';
import { levelOf } from '../kube/outage.ts';
import type { Remediation } from '../kube/remediation.ts';
import { apiVersionOf } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import { sameValue } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';
import { type Hand } from '../actions/perform.ts';

export const writerAccount = 'tapfix-writer';
export const managedBy = { 'app.kubernetes.io/managed-by': 'tapfix' };

const tokenSeconds = 600;
/** The authorizer knows a new binding only after a moment. */
const lagMs = 10_000;
const retryMs = 300;

export interface Binding extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string }[];
}

export interface RightsDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** tapfix's own namespace, where the writer's ServiceAccount is. */
  namespace: string;
}

/** Runs `work` with rights that exist only for this fix, in its namespace, until `work` ends. */
export type WithRights = <T>(fix: Remediation, role: WriterRole, work: (hand: Hand) => Promise<T>) => Promise<T>;

export function bindingFor(fix: Remediation, role: WriterRole, ownNamespace: string) {
  const { name, namespace, uid } = fix.metadata;
  return {
    apiVersion: apiVersionOf('RoleBinding'),
    kind: 'RoleBinding',
    metadata: {
      name: `tapfix-${uid}`,
      namespace: namespace!,
      labels: managedBy,
      ownerReferences: [{ apiVersion: apiVersionOf('Remediation'), kind: 'Remediation', name, uid }],
    },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: writerAccount, namespace: ownNamespace }],
  };
}

export function createRights({ api, clock, log, namespace: own }: RightsDeps): WithRights {
  async function ensure(wanted: ReturnType<typeof bindingFor>): Promise<void> {
    const { name, namespace } = wanted.metadata;
    const ref = { kind: 'RoleBinding' as const, namespace, name };
    try {
      await api.create({ kind: 'RoleBinding', namespace }, wanted);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const found = await api.get<Binding>(ref);
      if (found && isSame(found, wanted)) return;
      // It is not the one that we would have made, and a roleRef cannot be changed.
      if (found) await api.delete(ref, { uid: found.metadata.uid });
      await api.create({ kind: 'RoleBinding', namespace }, wanted);
    }
  }

  async function mintToken(): Promise<string> {
    const ref = { kind: 'ServiceAccount' as const, namespace: own, name: writerAccount, subresource: 'token' };
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
    const body = { ...request, spec: { expirationSeconds: tokenSeconds } };
    return (await api.createSub<{ status: { token: string } }>(ref, body)).status.token;
  }

  /** Retries each call while the authorizer may not know the binding yet, or if somebody removed it. */
  function patient(writer: Hand, renew: () => Promise<void>): Hand {
    const untilMs = clock.now() + lagMs;
    const insist = async <T>(call: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          if (!isLag(error) || clock.now() >= untilMs) throw error;
          await clock.sleep(retryMs);
          await renew();
        }
      }
    };
    return {
      patch: (...call) => insist(() => writer.patch(...call)),
      delete: (...call) => insist(() => writer.delete(...call)),
      createSub: (...call) => insist(() => writer.createSub(...call)),
    };
  }

  async function revoke(name: string, namespace: string): Promise<void> {
    try {
      await api.delete({ kind: 'RoleBinding', namespace, name });
    } catch (error) {
      if (!isNotFound(error))
        log[levelOf(error)]({ namespace, name, error: messageOf(error) }, 'rights left for the sweeper');
    }
  }

  return async (fix, role, work) => {
    const wanted = bindingFor(fix, role, own);
    try {
      await ensure(wanted);
      const writer = api.withToken(await mintToken());
      return await work(patient(writer, () => ensure(wanted)));
    } finally {
      await revoke(wanted.metadata.name, wanted.metadata.namespace);
    }
  };
}

/** A refusal by the authorizer may be lag, and has these words. A refusal by an admission policy is final. */
const isLag = (error: unknown): boolean => isForbidden(error) && / cannot \w+ resource "/.test(messageOf(error));

const isSame = (found: Binding, wanted: ReturnType<typeof bindingFor>): boolean =>
  found.roleRef.name === wanted.roleRef.name &&
  found.roleRef.kind === wanted.roleRef.kind &&
  sameValue(
    found.subjects?.map(({ kind, name, namespace }) => ({ kind, name, namespace })),
    wanted.subjects,
  );
