import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject } from '../../src/kube/api.ts';
import { type ClosableApi, createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { createOutage } from '../../src/kube/outage.ts';
import { type Change, createWatch } from '../../src/kube/watch.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { type Cluster, type FaultProxy, joinCluster } from '../cluster/cluster.ts';

let cluster: Cluster;
let proxy: FaultProxy;
let api: ClosableApi;
let namespace: string;
const stop = new AbortController();
const lines: string[] = [];
const lists: string[][] = [];
const seen = new Map<string, string>();

before(async () => {
  cluster = await joinCluster();
  proxy = await cluster.faultProxy();
  namespace = await cluster.freshNamespace('e2e-watch');
  await cluster.kubectl(['-n', namespace, 'create', 'serviceaccount', 'reader']);
  await cluster.kubectl([
    '-n',
    namespace,
    'create',
    'rolebinding',
    'reader',
    '--clusterrole=edit',
    `--serviceaccount=${namespace}:reader`,
  ]);
  const file = await cluster.serviceAccountKubeconfig(namespace, 'reader', { server: proxy.url });
  const kubeConfig = loadKubeConfig({ env: { KUBECONFIG: file, HOME: cluster.dir } });
  const log = createLog({ level: 'debug', write: (line) => void lines.push(line) });
  api = createApi({ kubeConfig, outage: createOutage({ clock: systemClock, log }) });
  const watch = createWatch<KubeObject>({
    api,
    clock: systemClock,
    log,
    kind: 'ServiceAccount',
    namespace,
    view: (object) => object,
    onList: (views) => {
      seen.clear();
      for (const { metadata } of views) seen.set(metadata.name, metadata.uid);
      lists.push(views.map(({ metadata }) => metadata.name));
    },
    onChange: (change: Change<KubeObject>) =>
      change.type === 'gone' ? seen.delete(change.name) : seen.set(change.view.metadata.name, change.view.metadata.uid),
  });
  void watch.run(stop.signal);
  await cluster.waitFor('the first list', async () => watch.synced(), 20_000);
});
after(async () => {
  stop.abort();
  await api.close();
  await proxy.close();
});

const logged = (words: string): boolean => lines.some((line) => line.includes(words));
const create = (name: string): Promise<string> => cluster.kubectl(['-n', namespace, 'create', 'serviceaccount', name]);
const remove = (name: string): Promise<string> => cluster.kubectl(['-n', namespace, 'delete', 'serviceaccount', name]);
const shows = (name: string, is = true): Promise<boolean> =>
  cluster.waitFor(`${name} to be ${is ? 'seen' : 'gone'}`, async () => seen.has(name) === is, 60_000);

test('what is created and deleted is seen', async () => {
  await create('one');
  await shows('one');
  await remove('one');
  await shows('one', false);
});

test('a killed API server: the watch comes back by itself and misses nothing', async () => {
  await create('before');
  await shows('before');
  // Its connections are reset until it has been logged: the server itself may be back before the watch has asked twice.
  proxy.fail(() => true, 'reset', 1_000);
  await cluster.restart('kube-apiserver');
  await create('after');
  await remove('before');
  const isLogged = (words: string) => cluster.waitFor(`"${words}" in the log`, async () => logged(words), 60_000);
  await isLogged('not connected to the API server, trying again');
  proxy.heal();
  await shows('after');
  await shows('before', false);
  await isLogged('the API server answers');
});

test('a version that is too old (410): everything is listed anew, and what went meanwhile is gone', async () => {
  await create('kept');
  await create('lost');
  await shows('lost');
  const listed = lists.length;
  // The watch is kept away while the server forgets: a fresh API server knows no version before its own start.
  proxy.fail(({ method, query }) => method === 'GET' && query.includes('watch='), 503, 1_000);
  proxy.cut();
  await remove('lost');
  for (let i = 0; i < 5; i++) await create(`filler-${i}`);
  await cluster.restart('kube-apiserver');
  proxy.heal();
  await cluster.waitFor('a second list', async () => lists.length > listed, 90_000);
  assert.ok(logged('watch has expired'), 'the server was to say that the version is too old');
  await shows('kept');
  await shows('lost', false);
});

test('a connection that is cut again and again', async () => {
  for (let i = 0; i < 3; i++) {
    proxy.cut();
    await create(`cut-${i}`);
    await shows(`cut-${i}`);
  }
});
