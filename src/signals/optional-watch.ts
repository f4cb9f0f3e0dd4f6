import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type Api, isForbidden } from '../kube/api.ts';
import type { Kind } from '../kube/resources.ts';
import type { Watch } from '../kube/watch.ts';

const firstLookMs = 15_000;
const rarestLookMs = 600_000;

/**
 * A watch of something that not every installation may see, such as nodes when tapfix has rights in a few namespaces
 * only. The refusal is logged once, rights are asked for again from time to time (they may be granted later), and
 * nothing waits for this watch.
 */
export function createOptionalWatch(
  { api, clock, log, kind }: { api: Api; clock: Clock; log: Log; kind: Kind },
  watch: Watch,
): Watch {
  let isRefused = false;

  async function mayBeListed(): Promise<boolean> {
    try {
      await api.page(kind, undefined, { limit: '1' });
      return true;
    } catch (error) {
      return !isForbidden(error); // the watch itself handles all other errors by waiting
    }
  }

  return {
    silentMs: () => (isRefused ? 0 : watch.silentMs()),
    synced: () => isRefused || watch.synced(),
    sight: () => (isRefused ? { kind, synced: true, isOptedOut: true, gaps: [] } : watch.sight()),
    relist: () => watch.relist(),
    async run(signal) {
      for (
        let waitMs = firstLookMs;
        !signal.aborted && !(await mayBeListed());
        waitMs = Math.min(waitMs * 2, rarestLookMs)
      ) {
        if (!isRefused) log.info({ kind }, 'may not be watched, what only it shows is not noticed');
        isRefused = true;
        await clock.sleep(waitMs, signal);
      }
      isRefused = false;
      if (!signal.aborted) await watch.run(signal);
    },
  };
}
