import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, WatchLine } from '../../../../src/kube/api.ts';
import type { Kind } from '../../../../src/kube/resources.ts';
import { aPod, aRevision, anEvent } from '../../../contract/builders.ts';
import { microtasks, rig } from './rig.ts';

/** What an open watch is told, and whether it is over. */
function follow(api: Api, kind: Kind, query: Record<string, string>) {
  const stop = new AbortController();
  const lines: WatchLine[] = [];
  const state = { isOver: false };
  void (async () => {
    for await (const line of api.watch(kind, 'shop', query, stop.signal)) lines.push(line);
    state.isOver = true;
  })();
  return { lines, state, stop, types: () => lines.map(({ type }) => type).join(' ') };
}

test('an answer needs no turn of the event loop, so virtual time never waits for it', async () => {
  const { api } = await rig();
  let answered = false;
  void api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a')).then(() => (answered = true));
  await microtasks();
  assert.equal(answered, true);
});

test('a refusal needs none either', async () => {
  const { api } = await rig();
  let refused = false;
  void api.delete({ kind: 'Pod', namespace: 'shop', name: 'x' }).catch(() => (refused = true));
  await microtasks();
  assert.equal(refused, true);
});

test('a line of a watch needs none either', async () => {
  const { api } = await rig();
  const { lines, stop } = follow(api, 'ControllerRevision', {});
  await microtasks();
  void api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a'));
  await microtasks();
  assert.equal(lines[0]?.object.metadata.name, 'a');
  stop.abort();
});

test('a watch that is given up ends, and hears no more', async () => {
  const { api } = await rig();
  const { state, stop, lines } = follow(api, 'ControllerRevision', {});
  await microtasks();
  stop.abort();
  await microtasks();
  assert.equal(state.isOver, true);
  await api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a'));
  await microtasks();
  assert.deepEqual(lines, []);
});

test('a watch lives as long as it was asked to', async () => {
  const { api, clock } = await rig();
  const { state } = follow(api, 'ControllerRevision', { timeoutSeconds: '240' });
  await clock.advance(239_000);
  assert.equal(state.isOver, false);
  await clock.advance(1_000);
  assert.equal(state.isOver, true);
});

test('bookmarks come once a minute, and once more shortly before the end', async () => {
  const { api, clock, server } = await rig();
  await api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a'));
  const { resourceVersion } = (await api.page('ControllerRevision', 'shop', {})).metadata;
  const query = { resourceVersion, timeoutSeconds: '200', allowWatchBookmarks: 'true' };
  const watch = follow(api, 'ControllerRevision', query);
  const events = follow(api, 'Event', query);
  await clock.advance(59_000);
  assert.equal(watch.types(), '');
  await clock.advance(1_000);
  assert.equal(watch.types(), 'BOOKMARK');
  await api.create({ kind: 'ServiceAccount', namespace: 'shop' }, { metadata: { name: 'elsewhere' } });
  await clock.advance(120_000);
  assert.equal(watch.types(), 'BOOKMARK BOOKMARK BOOKMARK');
  await clock.advance(20_000);
  assert.equal(watch.types(), 'BOOKMARK BOOKMARK BOOKMARK BOOKMARK');
  assert.equal(watch.state.isOver, true);
  assert.deepEqual(events.lines, []);
  // A bookmark is as good as the newest write, of whatever kind: from there nothing is forgotten.
  const last = watch.lines.at(-1)!.object.metadata.resourceVersion;
  server.compact();
  const next = follow(api, 'ControllerRevision', { resourceVersion: last });
  await microtasks();
  assert.deepEqual(next.lines, []);
  next.stop.abort();
});

test('an Event is kept for an hour after it was last repeated', async () => {
  const { api, clock } = await rig();
  const names = async () => (await api.list('Event', 'shop')).map(({ metadata }) => metadata.name);
  for (const name of ['again', 'once']) await api.create({ kind: 'Event', namespace: 'shop' }, anEvent('shop', name));
  await clock.advance(30 * 60_000);
  await api.patch({ kind: 'Event', namespace: 'shop', name: 'again' }, 'merge', { count: 2 });
  await clock.advance(30 * 60_000);
  assert.deepEqual(await names(), ['again']);
  await clock.advance(30 * 60_000);
  assert.deepEqual(await names(), []);
});

test('a watch is told that an Event has expired', async () => {
  const { api, clock } = await rig();
  await api.create({ kind: 'Event', namespace: 'shop' }, anEvent('shop', 'e'));
  const { types, stop } = follow(api, 'Event', { timeoutSeconds: '7200' });
  await clock.advance(60 * 60_000);
  await api.get({ kind: 'Pod', namespace: 'shop', name: 'x' });
  await microtasks();
  assert.equal(types(), 'ADDED DELETED');
  stop.abort();
});

test('a token is good until its time is over', async () => {
  const { api, clock } = await rig();
  const ref = { kind: 'ServiceAccount' as const, namespace: 'shop', name: 'default', subresource: 'token' };
  const { status } = await api.createSub<{ status: { token: string } }>(ref, { spec: { expirationSeconds: 600 } });
  const own = api.withToken(status.token);
  await clock.advance(599_000);
  assert.deepEqual(await own.list('Pod', 'shop'), []);
  await clock.advance(1_000);
  await assert.rejects(own.list('Pod', 'shop'), { code: 401, reason: 'Unauthorized' });
});

test('a namespace that ends is empty a second later, unless a pod still has to be stopped', async () => {
  const { api, clock, ask } = await rig();
  await api.create({ kind: 'Pod', namespace: 'shop' }, aPod('p', { nodeName: 'n' }));
  await api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a'));
  await api.delete({ kind: 'Namespace', name: 'shop' });
  assert.equal((await api.list('ControllerRevision', 'shop')).length, 1);
  await clock.advance(1_000);
  assert.equal((await api.list('ControllerRevision', 'shop')).length, 0);
  assert.ok((await api.get({ kind: 'Pod', namespace: 'shop', name: 'p' }))?.metadata.deletionTimestamp);
  assert.ok(await api.get({ kind: 'Namespace', name: 'shop' }));
  await ask('DELETE', '/api/v1/namespaces/shop/pods/p', { gracePeriodSeconds: 0 });
  assert.equal(await api.get({ kind: 'Namespace', name: 'shop' }), undefined);
});

test('the same source of chance gives the same names and uids', async () => {
  const made = async () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const { api } = await rig({ random });
    return api.create({ kind: 'Pod', namespace: 'shop' }, { ...aPod(''), metadata: { generateName: 'web-' } });
  };
  assert.deepEqual(await made(), await made());
});
