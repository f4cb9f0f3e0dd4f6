import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WatchLine } from '../../../../src/kube/api.ts';
import { aRevision } from '../../../contract/builders.ts';
import { rig } from './rig.ts';

const kind = 'ControllerRevision' as const;
type Rig = Awaited<ReturnType<typeof rig>>;

const create = ({ api }: Rig, name: string) => api.create({ kind, namespace: 'shop' }, aRevision(name));

async function firstLine({ api, clock }: Rig, resourceVersion: string): Promise<WatchLine | undefined> {
  const lines: WatchLine[] = [];
  const query = { resourceVersion, timeoutSeconds: '1' };
  void (async () => {
    for await (const line of api.watch(kind, 'shop', query, new AbortController().signal)) lines.push(line);
  })();
  await clock.advance(1_000);
  return lines[0];
}

test('so many writes a watch may be behind, and not many more', async () => {
  const ground = await rig({ history: 20 });
  const { resourceVersion } = (await create(ground, 'first')).metadata;
  for (let i = 0; i < 15; i++) await create(ground, `a-${i}`);
  assert.equal((await firstLine(ground, resourceVersion))?.object.metadata.name, 'a-0');
  for (let i = 0; i < 40; i++) await create(ground, `b-${i}`);
  const line = await firstLine(ground, resourceVersion);
  assert.deepEqual([line?.type, line?.object.code, line?.object.reason], ['ERROR', 410, 'Expired']);
});

test('writes of other kinds count as well', async () => {
  const ground = await rig({ history: 10 });
  const { resourceVersion } = (await create(ground, 'first')).metadata;
  for (let i = 0; i < 20; i++)
    await ground.api.create({ kind: 'ServiceAccount', namespace: 'shop' }, { metadata: { name: `s-${i}` } });
  assert.equal((await firstLine(ground, resourceVersion))?.type, 'ERROR');
});

test('a version from before the server is too old, one of the future waits for it', async () => {
  const ground = await rig();
  assert.equal((await firstLine(ground, '1'))?.type, 'ERROR');
  const stop = new AbortController();
  const lines: string[] = [];
  void (async () => {
    for await (const { type } of ground.api.watch(kind, 'shop', { resourceVersion: '999999' }, stop.signal))
      lines.push(type);
  })();
  await create(ground, 'now');
  await ground.clock.advance(0);
  assert.deepEqual(lines, []);
  stop.abort();
});

test('the past can be listed as long as it is remembered, changes and deletions undone', async () => {
  const ground = await rig();
  const { api, server } = ground;
  await create(ground, 'a');
  await create(ground, 'b');
  await api.patch({ kind, namespace: 'shop', name: 'a' }, 'merge', { metadata: { labels: { is: 'then' } } });
  const { resourceVersion } = (await api.page(kind, 'shop', {})).metadata;
  await api.patch({ kind, namespace: 'shop', name: 'a' }, 'merge', { metadata: { labels: { is: 'now' } } });
  await api.delete({ kind, namespace: 'shop', name: 'b' });
  await create(ground, 'b');
  await create(ground, 'c');
  const query = { resourceVersion, resourceVersionMatch: 'Exact' };
  const { items } = await api.page(kind, 'shop', query);
  assert.deepEqual(
    items.map(({ metadata }) => [metadata.name, metadata.labels?.['is']]),
    [
      ['a', 'then'],
      ['b', undefined],
    ],
  );
  assert.ok(Number(items[1]!.metadata.resourceVersion) <= Number(resourceVersion));
  server.compact();
  await assert.rejects(api.page(kind, 'shop', query), { code: 410, reason: 'Expired' });
});
