import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type Api, isForbidden } from './api.ts';
import type { Kind } from './resources.ts';
import type { Watch } from './watch.ts';

const firstLookMs = 15_000;
const rarestLookMs = 600_000;

/**
 * A watch of something that not every installation may see, as the cluster's nodes with rights in a few namespaces only.
 * That is said once, asked again now and then (rights may come), and holds up nobody.
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
      return !isForbidden(error); // whatever else it is, the watch itself knows how to wait for
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
        if (!isRefused) log.info({ kind }, 'may not be watched, what only it could tell is not noticed');
        isRefused = true;
        await clock.sleep(waitMs, signal);
      }
      isRefused = false;
      if (!signal.aborted) await watch.run(signal);
    },
  };
}
