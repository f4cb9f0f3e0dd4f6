import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, KubeObject, Page, WatchLine } from '../../../src/kube/api.ts';
import { createApi } from '../../../src/kube/client.ts';
import { createFeed } from '../../../src/kube/feed.ts';
import { createStore } from '../../../src/kube/store.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { json, lines, scriptedServer, silence, type Step } from '../../support/scripted-server.ts';
import { serverCert, serverKey } from './certificates.ts';
import { aList, aPod, eventually, rig } from './support.ts';
import { added, bookmark, errorLine, watchRig } from './watch-rig.ts';

/* Reading the API server, at its edges. */

const listOfA = json(aList([aPod('a')], '10'));

test('a list in pages is watched from where its first page stood: what changed between two pages is not missed', async (t) => {
  const { asked, until } = await watchRig(t, [
    json(aList([aPod('a')], '10', 'more')),
    json(aList([aPod('b')], '14')),
    silence(),
  ]);
  await until(() => asked().length === 3);
  assert.deepEqual(asked(), ['list', 'list more', 'watch 10']);
});

test('every page is asked for with the same selector and limit', async (t) => {
  const pages = [json(aList([aPod('a')], '10', 'more')), json(aList([], '10')), silence()];
  const { server, until } = await watchRig(t, pages, { fieldSelector: 'type=Warning' });
  await until(() => server.seen.length === 3);
  const [first, second, watch] = server.seen.map(({ query }) => query);
  assert.deepEqual([first?.['fieldSelector'], first?.['limit']], ['type=Warning', '250']);
  assert.deepEqual(second, { ...first, continue: 'more' });
  assert.equal(watch?.['fieldSelector'], 'type=Warning');
});

test('410 is enough, whatever the words', async (t) => {
  const { asked, until, told } = await watchRig(t, [listOfA, lines([errorLine(410, 'Gone')]), listOfA, silence()]);
  await until(() => asked().length === 4);
  assert.deepEqual(asked(), ['list', 'watch 10', 'list', 'watch 10']);
  assert.deepEqual(told(), []);
});

test('a version that grows too old now and then is listed anew at once each time', async (t) => {
  const expired = (version: string) => lines([added('b', version), errorLine(410, 'Gone')]);
  const { clock, asked, changes } = await watchRig(t, [
    listOfA,
    expired('11'),
    listOfA,
    expired('12'),
    listOfA,
    silence(),
  ]);
  const startMs = clock.now();
  await eventually(
    () => asked().length === 6,
    () => clock.advance(0),
  );
  assert.equal(clock.now(), startMs);
  assert.equal(changes.length, 2);
});

test('a line after a long silence, on a connection that was not given up: nobody could see meanwhile', async (t) => {
  let write = (_line: string): unknown => undefined;
  const quiet: Step = (response) => {
    response.writeHead(200).flushHeaders();
    write = (line) => response.write(line);
  };
  const gaps: number[] = [];
  const onGap = (fromMs: number, untilMs: number): void => void gaps.push(untilMs - fromMs);
  const { asked, clock, until, changes, watch } = await watchRig(t, [listOfA, quiet], { onGap });
  await until(() => asked().length === 2);
  await clock.advance(60_000);
  write(`${JSON.stringify(bookmark('11'))}\n`);
  await eventually(() => watch.silentMs() === 0);
  assert.deepEqual(gaps, [], 'a minute is normal');
  await clock.advance(80_000);
  write(`${JSON.stringify(added('b', '12'))}\n`);
  await eventually(() => changes.length === 1);
  assert.deepEqual(gaps, [80_000]);
});

test('an answer that is no list is not taken for an empty one', async (t) => {
  const { server, api } = await rig(t);
  server.script(json({ kind: 'Status', status: 'Success' }));
  await assert.rejects(api.list('Pod', 'shop'), { name: 'ApiError', reason: 'BadAnswer', message: /not a list/ });
});

test('a watch that is never answered is given up', async (t) => {
  const { server, api } = await rig(t, { timeoutMs: 50 });
  server.script(silence());
  const read = async () => {
    for await (const line of api.watch('Pod', 'shop', {}, new AbortController().signal)) assert.fail(line.type);
  };
  await assert.rejects(read(), { name: 'Unreachable' });
});

test('a server that would speak HTTP/2 is spoken to in HTTP/1.1, whose dead connections are noticed', async (t) => {
  const tls = { cert: serverCert, key: serverKey, ALPNProtocols: ['h2', 'http/1.1'] };
  const server = await scriptedServer({ tls });
  const cluster = { name: 'test', server: server.url, skipTLSVerify: true };
  const kubeConfig = {
    getCurrentCluster: () => cluster,
    applyToHTTPSOptions: async (options: { rejectUnauthorized?: boolean }) => void (options.rejectUnauthorized = false),
  };
  const api = createApi({ kubeConfig, timeoutMs: 2_000 });
  t.after(() => Promise.all([api.close(), server.close()]));
  server.script(json({}));
  assert.deepEqual(await api.get({ kind: 'Namespace', name: 'shop' }), {});
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
