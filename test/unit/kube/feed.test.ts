import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Api, ApiError, type KubeObject, type Page, type WatchLine } from '../../../src/kube/api.ts';
import { createFeed } from '../../../src/kube/feed.ts';
import { createStore, hearing } from '../../../src/kube/store.ts';
import type { Change } from '../../../src/kube/watch.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const object = (name: string, namespace: string): KubeObject => ({
  metadata: { name, namespace, uid: `${namespace}-${name}`, resourceVersion: '1', creationTimestamp: '' },
});

/** An API whose lists are answered when the test says so. */
function aSlowApi() {
  const answer = new Map<string, (page: Page<KubeObject>) => void>();
  const forbidden = new Set<string>();
  const api = {
    page: (_kind: string, namespace: string) =>
      forbidden.has(namespace)
        ? Promise.reject(new ApiError('cannot list', 403, 'Forbidden'))
        : new Promise<Page<KubeObject>>((resolve) => answer.set(namespace, resolve)),
    // oxlint-disable-next-line require-yield -- a watch on which nothing happens
    async *watch(_k: string, _n: string, _q: object, signal: AbortSignal): AsyncIterable<WatchLine> {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const list = (namespace: string, ...names: string[]): void =>
    answer.get(namespace)?.({
      items: names.map((name) => object(name, namespace)),
      metadata: { resourceVersion: '1' },
    });
  return { api: api as unknown as Api, list, forbidden };
}

test('several scopes are one list, handed on when the last of them is there', async () => {
  const clock = fakeClock();
  const { api, list } = aSlowApi();
  const stop = new AbortController();
  const store = createStore<KubeObject>({ clock });
  const feed = createFeed({ api, clock, log: silent, kind: 'Remediation', scopes: ['a', 'b'], view: (o) => o, store });
  const lists: string[][] = [];
  let isListed = false;
  store.subscribe({ onList: (views) => lists.push(views.map(({ metadata }) => metadata.uid)), onChange: () => {} });
  void feed.listed.then(() => (isListed = true));
  for (const watch of feed.watches) void watch.run(stop.signal);
  await clock.advance(0);
  list('a', 'one');
  await clock.advance(0);
  assert.deepEqual([lists, isListed], [[], false]);
  list('b', 'two', 'three');
  await clock.advance(0);
  assert.deepEqual([lists, isListed], [[['a-one', 'b-two', 'b-three']], true]);
  stop.abort();
});

test('a namespace that may not be listed does not silence the others, and is heard once it may', async () => {
  const clock = fakeClock();
  const { api, list, forbidden } = aSlowApi();
  forbidden.add('b');
  const stop = new AbortController();
  const store = createStore<KubeObject>({ clock });
  const feed = createFeed({ api, clock, log: silent, kind: 'Remediation', scopes: ['a', 'b'], view: (o) => o, store });
  const lists: string[][] = [];
  store.subscribe({ onList: (views) => lists.push(views.map(({ metadata }) => metadata.uid)), onChange: () => {} });
  for (const watch of feed.watches) void watch.run(stop.signal);
  await clock.advance(0);
  list('a', 'one');
  await clock.advance(50_000);
  assert.deepEqual(lists, []); // rights may only lag
  await clock.advance(70_000);
  assert.deepEqual(lists, [['a-one']]);
  assert.deepEqual([feed.isHeard('a'), feed.isHeard('b')], [true, false]);
  assert.deepEqual(
    feed.watches.map((watch) => watch.synced()),
    [true, false],
  );
  forbidden.clear();
  await clock.advance(60_000);
  list('b', 'two');
  await clock.advance(0);
  assert.deepEqual(lists.at(-1), ['a-one', 'b-two']);
  assert.deepEqual([feed.isHeard('b'), feed.isHeard('never listed')], [true, false]);
  stop.abort();
});

test('a listener that is told only of its own still hears that something is gone', () => {
  const heard: string[] = [];
  const { onList, onChange } = hearing<KubeObject>(({ metadata }) => metadata.namespace === 'a', {
    onList: (views) => heard.push(`list ${views.map(({ metadata }) => metadata.name).join()}`),
    onChange: (change) => heard.push(change.type === 'gone' ? `gone ${change.name}` : change.view.metadata.name),
  });
  onList([object('one', 'a'), object('two', 'b')], []);
  onChange({ type: 'upsert', view: object('three', 'a') });
  onChange({ type: 'upsert', view: object('four', 'b') });
  onChange({ type: 'gone', namespace: 'b', name: 'two', uid: 'b-two' });
  assert.deepEqual(heard, ['list one', 'three', 'gone two']);
});

test('the only scope is waited for, however long it is forbidden: nothing listed is not the same as nothing there', async () => {
  const clock = fakeClock();
  const { api, forbidden } = aSlowApi();
  forbidden.add('a');
  const stop = new AbortController();
  const store = createStore<KubeObject>({ clock });
  const feed = createFeed({ api, clock, log: silent, kind: 'Remediation', scopes: ['a'], view: (o) => o, store });
  let lists = 0;
  store.subscribe({ onList: () => lists++, onChange: () => {} });
  for (const watch of feed.watches) void watch.run(stop.signal);
  await clock.advance(600_000);
  assert.equal(lists, 0);
  stop.abort();
});

/** What one of them is like by now, and what every listener is told of it. */
const rechecks: [string, KubeObject | undefined, string[]][] = [
  ['is as it was', object('one', 'a'), []],
  ['was deleted, and no watch told it', undefined, ['gone a-one']],
  ['changed, and no watch told it', version(object('one', 'a'), '2'), ['one 2']],
  ['was deleted and made again', uid(object('one', 'a'), 'another'), ['gone a-one', 'one 1']],
];
function version({ metadata }: KubeObject, resourceVersion: string): KubeObject {
  return { metadata: { ...metadata, resourceVersion } };
}
function uid({ metadata }: KubeObject, other: string): KubeObject {
  return { metadata: { ...metadata, uid: other } };
}
for (const [name, live, told] of rechecks)
  test(`read again: one that ${name}`, async () => {
    const clock = fakeClock();
    const { api, list } = aSlowApi();
    const stop = new AbortController();
    const asked: string[] = [];
    const get = async ({ name }: { name: string }) => (asked.push(name), live);
    const reading = { ...api, get } as unknown as Api;
    const store = createStore<KubeObject>({ clock });
    const feed = createFeed({
      api: reading,
      clock,
      log: silent,
      kind: 'Remediation',
      scopes: ['a'],
      view: (o) => o,
      store,
    });
    const heard: string[] = [];
    const onChange = (change: Change<KubeObject>): void =>
      void heard.push(
        change.type === 'gone'
          ? `gone ${change.uid}`
          : `${change.view.metadata.name} ${change.view.metadata.resourceVersion}`,
      );
    store.subscribe({ onList: () => {}, onChange });
    for (const watch of feed.watches) void watch.run(stop.signal);
    await clock.advance(0);
    list('a', 'one', 'two');
    await clock.advance(0);
    assert.equal(await feed.recheck(({ metadata }) => metadata.name === 'one'), told.length > 0 ? 1 : 0);
    assert.deepEqual([heard, asked], [told, ['one']]);
    if (!live) assert.equal(await feed.recheck(({ metadata }) => metadata.name === 'one'), 0, 'told once');
    stop.abort();
  });
