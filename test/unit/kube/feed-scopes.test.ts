import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, KubeObject, Page, WatchLine } from '../../../src/kube/api.ts';
import { createFeed, type Scope } from '../../../src/kube/feed.ts';
import { createStore } from '../../../src/kube/store.ts';
import { fakeClock } from '../../support/fake-clock.ts';

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
