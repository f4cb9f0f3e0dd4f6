import assert from 'node:assert/strict';
import type { WatchLine } from '../../../src/kube/api.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { type Facts, type Ground } from '../ground.ts';

/**
 * Bookmarks are due once a minute, but the real one now and then leaves one out: of fourteen quiet watches one heard its
 * first after 118 s. Never two in a row, as far as anybody has seen.
 */
const longestSilenceMs = 125_000;

/** An open watch of nothing in particular, and what it is told. */
async function open({ api, ns }: Ground, kind: Kind, query: Record<string, string>) {
  const { resourceVersion } = (await api.page(kind, ns, { limit: '1' })).metadata;
  const stop = new AbortController();
  const lines: WatchLine[] = [];
  const asked = { resourceVersion, timeoutSeconds: '240', ...query };
  const over = (async () => {
    for await (const line of api.watch(kind, ns, asked, stop.signal)) lines.push(line);
  })();
  over.catch(() => undefined); // a server that goes away ends it too; whoever reads the lines sees what is missing
  const end = async (): Promise<string[]> => {
    stop.abort();
    await over;
    return lines.map(({ type }) => type);
  };
  return { resourceVersion, lines, end };
}

const asked = { allowWatchBookmarks: 'true' };

/** What happens while nothing happens. */
export const time: Facts = {
  'a quiet watch hears a bookmark within two minutes: of all kinds but Events, and only where asked for': async (
    ground,
  ) => {
    const quiet = await open(ground, 'ControllerRevision', {});
    const builtIn = await open(ground, 'ControllerRevision', asked);
    const custom = await open(ground, 'Notice', asked);
    const events = await open(ground, 'Event', asked);
    await ground.pass(longestSilenceMs);
    for (const { lines, resourceVersion } of [builtIn, custom]) {
      assert.equal(lines[0]?.type, 'BOOKMARK');
      assert.ok(Number(lines[0].object.metadata.resourceVersion) >= Number(resourceVersion));
    }
    assert.equal(builtIn.lines[0]?.object.kind, 'ControllerRevision');
    assert.ok((await builtIn.end()).every((type) => type === 'BOOKMARK'));
    assert.ok((await custom.end()).every((type) => type === 'BOOKMARK'));
    assert.deepEqual(await events.end(), []);
    assert.deepEqual(await quiet.end(), []);
  },
};
