import type { Api, KubeObject } from './kube/api.ts';
import { untilAborted } from './lib/abort.ts';
import type { Clock } from './lib/clock.ts';
import { messageOf } from './lib/errors.ts';
import type { Log } from './lib/log.ts';

interface Review extends KubeObject {
  status?: { userInfo?: { username?: string } };
}

export interface ConnectDeps {
  api: Pick<Api, 'create'>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Each failed attempt, in words. */
  onFailure(why: string): void;
}

const retryMs = 5_000;

/** Who we are to the API server. It may be away when we start: said once, and asked again until it answers. */
export async function whoAmI({ api, clock, log, signal, onFailure }: ConnectDeps): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  let lastSaid = '';
  while (!signal.aborted) {
    try {
      const review = await untilAborted(api.create<Review>({ kind: 'SelfSubjectReview' }, body), signal);
      if (lastSaid) log.info({}, 'the API server answers');
      return review.status?.userInfo?.username ?? '';
    } catch (error) {
      if (signal.aborted) break;
      const said = messageOf(error);
      if (said !== lastSaid)
        log.error({ err: said, retryInMs: retryMs }, 'not connected to the API server, trying again');
      lastSaid = said;
      onFailure(said);
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}
