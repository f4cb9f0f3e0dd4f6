import type { Api, KubeObject } from './kube/api.ts';
import type { Clock } from './lib/clock.ts';
import { messageOf } from './lib/errors.ts';
import type { Log } from './lib/log.ts';

interface Review extends KubeObject {
  status?: { userInfo?: { username?: string } };
}

const retryMs = 5_000;

/** Who we are to the API server. It may be away when we start: said once, and asked again until it answers. */
export async function whoAmI(api: Api, clock: Clock, log: Log, signal: AbortSignal): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  let lastSaid = '';
  while (!signal.aborted) {
    try {
      const review = await api.create<Review>({ kind: 'SelfSubjectReview' }, body);
      if (lastSaid) log.info({}, 'the API server answers again');
      return review.status?.userInfo?.username ?? '';
    } catch (error) {
      const said = messageOf(error);
      if (said !== lastSaid)
        log.error({ err: said, retryInMs: retryMs }, 'not connected to the API server, trying again');
      lastSaid = said;
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}
