import assert from 'node:assert/strict';
import type { WatchLine } from '../../../src/kube/api.ts';
import { errorOfStatus } from '../../../src/kube/client-transport.ts';
import { aRevision } from '../builders.ts';
import { type Facts, named, refusal, watched, word } from '../ground.ts';

const kind = 'ControllerRevision' as const;

const saysExpired = (lines: readonly WatchLine[]): void => {
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['ERROR'],
  );
  assert.equal(word(errorOfStatus(lines[0]!.object)), '410 Expired');
};

/** The server forgets its past: after compaction, or because it is a new one. The objects are all there. */
export const forgetting: Facts = {
  'a watch from a version that is forgotten is told so in a line, 410 Expired, and a list helps': async (ground) => {
    const { api, ns } = ground;
    const old = await api.create({ kind, namespace: ns }, aRevision(named()));
    const event = (await api.page('Event', ns, { limit: '1' })).metadata.resourceVersion;
    for (let i = 0; i < 5; i++) await api.create({ kind, namespace: ns }, aRevision(named()));
    const page = await api.page(kind, ns, { limit: '2' });
    await api.create({ kind, namespace: ns }, aRevision(named()));
    await ground.forget();
    saysExpired(
      await watched(
        ground,
        kind,
        ns,
        { resourceVersion: old.metadata.resourceVersion, timeoutSeconds: '10' },
        () => true,
      ),
    );
    // Of Events there is no watch cache; they expire all the same.
    saysExpired(await watched(ground, 'Event', ns, { resourceVersion: event, timeoutSeconds: '10' }, () => true));
    const error = await refusal(api.page(kind, ns, { limit: '2', continue: page.metadata.continue! }));
    assert.equal(word(error), '410 Expired');
    assert.equal((await api.list(kind, ns)).length, 7);
    const { resourceVersion } = (await api.page(kind, ns, { limit: '1' })).metadata;
    const next = watched(ground, kind, ns, { resourceVersion, timeoutSeconds: '10' }, () => true);
    await api.create({ kind, namespace: ns }, aRevision(named()));
    assert.deepEqual(
      (await next).map(({ type }) => type),
      ['ADDED'],
    );
  },
};
