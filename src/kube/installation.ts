import { type Clock, untilAborted } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type Api, ifForbidden, type KubeObject } from './api.ts';
import { levelOf } from './outage.ts';

interface InstallationDeps {
  api: Pick<Api, 'get' | 'create'>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

const retryMs = 5_000;

/**
 * Ids that no other cluster has, the best first: the uid of kube-system, which stays as long as the cluster
 * does; then the uid of our own account, which everybody may read of themselves. With rights in single namespaces only
 * (Roles), kube-system may not be read, and the second is all there is; an installation whose rights change keeps
 * answering to both. Empty if we are to stop. Why it takes longer is logged once.
 */
export async function readClusterIds({ api, clock, log, signal }: InstallationDeps): Promise<string[]> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  let lastSaid = '';
  while (!signal.aborted) {
    try {
      const system = api.get<KubeObject>({ kind: 'Namespace', name: 'kube-system' }).catch(ifForbidden(undefined));
      const [namespace, review] = await untilAborted(
        Promise.all([system, api.create<Review>({ kind: 'SelfSubjectReview' }, body)]),
        signal,
      );
      const { uid, username } = review.status?.userInfo ?? {};
      return [namespace?.metadata.uid, uid ?? username].filter((id) => id !== undefined);
    } catch (error) {
      if (signal.aborted) break;
      const said = messageOf(error);
      const level = said === lastSaid ? 'debug' : levelOf(error);
      if (level === 'warn') lastSaid = said;
      log[level]({ reason: said, retryInMs: retryMs }, 'the cluster is not known yet, trying again');
      await clock.sleep(retryMs, signal);
    }
  }
  return [];
}

interface Review extends KubeObject {
  status?: { userInfo?: { username?: string; uid?: string } };
}
