import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Api, ApiError, type KubeObject, type Page, type WatchLine } from '../../../src/kube/api.ts';
import { createFeed, type Scope } from '../../../src/kube/feed.ts';
import { createStore } from '../../../src/kube/store.ts';
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

describe('scopes that come and go', () => {
  /* Scopes that come and go. */

  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const object = (uid: string, namespace: string): KubeObject => ({
    metadata: { name: uid, namespace, uid, resourceVersion: '1', creationTimestamp: '' },
  });

  async function aFeed(scopes: Scope[]) {
    const clock = fakeClock();
    const lists = new Map<Scope, string[]>();
    const stops = new Map<Scope, AbortController>();
    const api = {
      async page(_kind: string, namespace: Scope): Promise<Page<KubeObject>> {
        const here = [...lists].filter(([own]) => namespace === undefined || own === namespace);
        const items = here.flatMap(([own, uids]) => uids.map((uid) => object(uid, own ?? '')));
        return { items, metadata: { resourceVersion: '1' } };
      },
      // oxlint-disable-next-line require-yield -- a watch on which nothing happens
      async *watch(_k: string, _n: string, _q: object, signal: AbortSignal): AsyncIterable<WatchLine> {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    };
    lists.set('a', ['a1']).set('b', ['b1']).set('c', ['c1']);
    const store = createStore<KubeObject>({ clock });
    const feed = createFeed({
      store,
      api: api as unknown as Api,
      clock,
      log: silent,
      kind: 'Remediation',
      scopes,
      view: (o) => o,
    });
    const told: string[][] = [];
    store.subscribe({ onList: (views) => told.push(views.map(({ metadata }) => metadata.uid)), onChange() {} });
    const run = async (scope: Scope, watch = feed.open(scope)): Promise<void> => {
      const stop = new AbortController();
      stops.set(scope, stop);
      void watch.run(stop.signal);
      await clock.advance(0);
    };
    const close = (scope: Scope): void => {
      stops.get(scope)?.abort();
      feed.close(scope);
    };
    for (const [index, scope] of scopes.entries()) await run(scope, feed.watches[index]);
    return { feed, store, told, run, close, lists, clock };
  }

  test('one that is opened later is told together with the others; before it is listed nothing is known of it', async () => {
    const { feed, told, run } = await aFeed(['a']);
    assert.deepEqual([told, feed.isHeard('b')], [[['a1']], false]);
    const watch = feed.open('b');
    assert.equal(feed.isHeard('b'), false, 'what is missing from it may still be there');
    await run('b', watch);
    await feed.listedIn('b');
    assert.deepEqual([told.at(-1), feed.isHeard('b')], [['a1', 'b1'], true]);
  });

  test('what was heard in one that is closed stays known, but is no longer heard', async () => {
    const { feed, store, told, close } = await aFeed(['a', 'b']);
    close('b');
    store.repeat();
    assert.deepEqual([told.at(-1)?.sort(), feed.isHeard('b'), feed.scopes()], [['a1', 'b1'], false, ['a']]);
  });

  test('until another scope knows better', async () => {
    const { feed, told, close, run, lists } = await aFeed(['a', 'b']);
    close('a');
    close('b');
    lists.set('b', []); // deleted while nobody listened
    await run(undefined);
    assert.deepEqual([told.at(-1)?.sort(), feed.isHeard('b')], [['a1', 'c1'], true]);
    close(undefined);
    await run('c');
    assert.deepEqual(told.at(-1)?.sort(), ['a1', 'c1']);
    lists.set('a', ['a2']);
    await run('a');
    assert.deepEqual(told.at(-1)?.sort(), ['a2', 'c1']);
  });

  test('one that is closed before it was listed keeps nobody waiting', async () => {
    const { feed, told } = await aFeed([]);
    feed.open('a');
    feed.close('a');
    await feed.listed;
    assert.deepEqual(told, [[]]);
  });
});

/** Lists and watch lines come when the test says so, by namespace. */
function anApi() {
  const pages = new Map<string, (page: Page<KubeObject>) => void>();
  const tell = new Map<string, (line: WatchLine | undefined) => void>();
  const api = {
    page: (_kind: string, namespace: string) => new Promise((resolve) => pages.set(namespace, resolve)),
    async *watch(_kind: string, namespace: string, _query: object, signal: AbortSignal): AsyncIterable<WatchLine> {
      while (!signal.aborted) {
        const line = await new Promise<WatchLine | undefined>((resolve) => {
          tell.set(namespace, resolve);
          signal.addEventListener('abort', () => resolve(undefined));
        });
        if (line) yield line;
      }
    },
  } as unknown as Api;
  const object = (name: string, namespace: string): KubeObject => ({
    metadata: { name, namespace, uid: name, resourceVersion: '1', creationTimestamp: '' },
  });
  const list = (namespace: string, ...names: string[]) =>
    pages.get(namespace)!({ items: names.map((name) => object(name, namespace)), metadata: { resourceVersion: '1' } });
  const line = (namespace: string, type: 'ADDED' | 'DELETED', name: string) =>
    tell.get(namespace)!({ type, object: object(name, namespace) });
  const expire = (namespace: string) => tell.get(namespace)!({ type: 'ERROR', object: { code: 410 } } as never);
  return { api, list, line, expire };
}

test('of several scopes nothing is told before all were listed, and a new list of one has the others as they are now', async (t) => {
  const clock = fakeClock();
  const { api, list, line, expire } = anApi();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const log = {
    debug() {},
    info() {},
    warn: () => assert.fail('nothing is wrong'),
    error: () => assert.fail('nothing is wrong'),
  };
  const store = createStore<KubeObject>({ clock });
  const feed = createFeed({
    api,
    clock,
    log,
    kind: 'Remediation',
    scopes: ['a', 'b'],
    view: (object) => object,
    store,
  });
  const heard: string[] = [];
  store.subscribe({
    onList: (views) => void heard.push(`list ${views.map(({ metadata }) => metadata.name).join(' ')}`),
    onChange: (change) => void heard.push(change.type === 'gone' ? `-${change.name}` : `+${change.view.metadata.name}`),
  });
  for (const watch of feed.watches) void watch.run(stop.signal);
  const say = async (work: () => void): Promise<void> => {
    work();
    await clock.advance(0);
  };
  await clock.advance(0);
  await say(() => list('a', 'one', 'two'));
  await say(() => line('a', 'ADDED', 'three'));
  await say(() => line('a', 'DELETED', 'one'));
  assert.deepEqual(heard, []);
  await say(() => list('b', 'four'));
  await say(() => line('a', 'DELETED', 'two'));
  await say(() => line('a', 'ADDED', 'five'));
  await say(() => expire('b'));
  await say(() => list('b', 'six'));
  assert.deepEqual(heard, ['list two three four', '-two', '+five', 'list three five six']);
});

test('what silent watches did not bring is read, where it may be; what they brought is kept', async () => {
  const clock = fakeClock();
  const { api, list } = aSlowApi();
  const stop = new AbortController();
  const store = createStore<KubeObject>({ clock });
  const listed: Scope[] = [];
  const patient: Api = {
    ...api,
    async list<T extends KubeObject>(_kind: string, namespace?: string): Promise<T[]> {
      listed.push(namespace);
      if (namespace === 'b') throw new ApiError('cannot list', 403, 'Forbidden');
      return [object('one', 'a'), object('late', 'a')] as T[];
    },
  };
  const scopes = ['a', 'b', 'c'];
  const feed = createFeed({ api: patient, clock, log: silent, kind: 'Notice', scopes, view: (o) => o, store });
  for (const watch of feed.watches) void watch.run(stop.signal);
  await clock.advance(0);
  list('a', 'one', 'ahead');
  list('b', 'two');
  await clock.advance(0);
  await feed.catchUp();
  assert.deepEqual(listed, ['a', 'b'], 'the one that was not listed yet will be');
  assert.deepEqual(
    store
      .all()
      .map(({ metadata }) => metadata.uid)
      .toSorted(),
    ['a-ahead', 'a-late', 'a-one', 'b-two'],
  );
  stop.abort();
});
