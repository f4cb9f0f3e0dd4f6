import assert from 'node:assert/strict';
import type { KubeObject } from '../../../src/kube/api.ts';
import { type Change, createWatch } from '../../../src/kube/watch.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { aRevision } from '../builders.ts';
import { eventually, type Facts, type Ground, named } from '../ground.ts';

const kind = 'ControllerRevision' as const;

/** tapfix's own list/watch loop, with what it holds. */
function follow({ api }: Pick<Ground, 'api'>, namespace: string, timeoutSeconds = 60) {
  const seen = new Map<string, string>();
  const lists: number[] = [];
  const logged: string[] = [];
  const stop = new AbortController();
  const watch = createWatch<KubeObject>({
    api,
    clock: systemClock,
    log: createLog({ level: 'debug', write: (line) => void logged.push(line) }),
    kind,
    namespace,
    timeoutSeconds,
    view: (object) => object,
    onList(views) {
      lists.push(views.length);
      seen.clear();
      for (const { metadata } of views) seen.set(metadata.name, metadata.resourceVersion);
    },
    onChange: (change: Change<KubeObject>) =>
      change.type === 'gone'
        ? seen.delete(change.name)
        : seen.set(change.view.metadata.name, change.view.metadata.resourceVersion),
  });
  const running = watch.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { watch, seen, lists, logged, end };
}

export const loop: Facts = {
  'the list/watch loop sees what is there, what comes and what goes': async ({ api, freshNamespace }) => {
    const namespace = await freshNamespace();
    await api.create({ kind, namespace }, aRevision('before'));
    const { seen, lists, logged, end } = follow({ api }, namespace);
    await eventually('the list', async () => seen.has('before'));
    await api.create({ kind, namespace }, aRevision('after'));
    await eventually('the creation', async () => seen.has('after'));
    await api.delete({ kind, namespace, name: 'before' });
    await eventually('the deletion', async () => !seen.has('before'));
    await end();
    assert.equal(lists.length, 1);
    assert.deepEqual(logged, []);
  },
  'it reads a list of several pages': async ({ api, freshNamespace }) => {
    const namespace = await freshNamespace();
    const names = Array.from({ length: 260 }, (_, i) => `many-${i}`);
    for (let i = 0; i < names.length; i += 20)
      await Promise.all(names.slice(i, i + 20).map((name) => api.create({ kind, namespace }, aRevision(name))));
    const { seen, end } = follow({ api }, namespace);
    await eventually('all of them', async () => seen.size === names.length);
    await end();
    assert.equal((await api.list(kind, namespace)).length, names.length);
  },
  'it resumes where the server ended its watch, without a second list': async ({ api, freshNamespace }) => {
    const namespace = await freshNamespace();
    const { watch, seen, lists, logged, end } = follow({ api }, namespace, 1);
    await eventually('the list', async () => watch.synced());
    for (let i = 0; i < 4; i++) {
      const name = named();
      await api.create({ kind, namespace }, aRevision(name));
      await eventually(`${name}`, async () => seen.has(name));
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    await end();
    assert.equal(lists.length, 1);
    assert.deepEqual(logged, []);
  },
};
