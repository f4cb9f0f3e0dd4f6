import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, WatchLine } from '../../../../src/kube/api.ts';
import type { Kind } from '../../../../src/kube/resources.ts';
import { anEvent, aRevision } from '../../../contract/builders.ts';
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

test('a line of a watch needs no turn of the event loop', async () => {
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
