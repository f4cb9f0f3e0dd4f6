import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type ClosableApi, createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { applyIn, deployment } from './support/incidents.ts';
import { installTapfix, removeDeployments, rolledOut } from './support/tapfix.ts';

/**
 * A tenant with `edit` in its own namespace writes objects that are small in etcd and large on the wire (`<` is sent as
 * six bytes), and as many large Events as it likes. The pods of deploy/manifests have 256Mi; everybody else is watched.
 */
let cluster: Cluster;
let chat: Chat;
let api: ClosableApi;
let poisoned: string;
let healthy: string;

const megabyte = 1_000_000;
const sixfold = '<'.repeat(1.42 * megabyte);

async function event(name: string, message: string): Promise<void> {
  await api.create(
    { kind: 'Event', namespace: poisoned },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name },
      type: 'Warning',
      reason: 'BackOff',
      message,
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: poisoned, name: `${name}-x`, uid: name },
      count: 1,
      firstTimestamp: new Date().toISOString(),
      lastTimestamp: new Date().toISOString(),
      source: { component: 'somebody' },
    },
  );
}

/** Four at a time. */
async function each(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}

/** kubectl would send six bytes for each `<` already, and that is more than the API server takes. */
async function createGrowing(): Promise<void> {
  const labels = { app: 'growing' };
  const container = { name: 'app', image: 'localhost/app:1.0', imagePullPolicy: 'IfNotPresent', args: ['run'] };
  const containers = [{ ...container, env: [{ name: 'A', value: sixfold }] }];
  const template = { metadata: { labels }, spec: { terminationGracePeriodSeconds: 1, containers } };
  await api.create(
    { kind: 'Deployment', namespace: poisoned },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'growing' },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    },
  );
}

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  await installTapfix(cluster, { apiRoot: chat.apiRoot });
  [poisoned, healthy] = [await cluster.freshNamespace('e2e-poison'), await cluster.freshNamespace('e2e-beside')];
  api = createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir } }) });
});
after(async () => {
  await removeDeployments(cluster);
  await api.close();
  await chat.close();
});

interface Pod {
  metadata: { deletionTimestamp?: string };
  status: { containerStatuses?: { restartCount: number }[] };
}

const restarts = async (): Promise<number[]> =>
  (await cluster.list<Pod>('pods', 'tapfix'))
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map(({ status }) => status.containerStatuses?.[0]?.restartCount ?? -1);

/** The most memory that each role has ever used, in megabytes. */
function peaks(): Record<string, number> {
  const found: Record<string, number> = {};
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const command = commandOf(pid);
    const role = /tapfix\.js\0run\0.*\0(watcher|controller)\0/.exec(command)?.[1];
    const peak = role && /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (role && peak) found[role] = Math.round(Number(peak) / 1024);
  }
  return found;
}
function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended
  }
}

async function isPostedWithin(namespace: string, name: string, ms: number): Promise<void> {
  await applyIn(cluster, namespace, deployment(name, 1, ['crash']));
  const isThere = async (): Promise<boolean> => chat.messages().some(({ text }) => text.includes(name));
  await cluster.waitFor(`${name} to be posted`, isThere, ms);
}

test('they are written while it watches: no watch breaks, and another namespace is watched', async (t) => {
  await createGrowing();
  await each(28, (n) => event(`sixfold-${n}`, sixfold));
  await each(260, (n) => event(`large-${n}`, 'x'.repeat(megabyte)));
  const change = { metadata: { annotations: { note: 'changed' } } };
  await api.patch({ kind: 'Deployment', namespace: poisoned, name: 'growing' }, 'merge', change);
  await isPostedWithin(healthy, 'beside-one', 30_000);
  t.diagnostic(`peak memory in MB: ${JSON.stringify(peaks())}`);
  assert.deepEqual(await restarts(), [0, 0]);
  for (const role of ['watcher', 'controller'])
    assert.doesNotMatch(await cluster.kubectl(['-n', 'tapfix', 'logs', `deploy/tapfix-${role}`]), /watch is broken/);
});

test('a start among objects that are large on the wire: another namespace is watched within 256Mi', async (t) => {
  // By itself, as on a new node: in a rolling update the one before would list beside it.
  for (const replicas of [0, 1]) {
    await cluster.kubectl(['-n', 'tapfix', 'scale', 'deploy', '--all', `--replicas=${replicas}`]);
    await rolledOut(cluster);
  }
  await isPostedWithin(healthy, 'beside-two', 30_000);
  t.diagnostic(`peak memory in MB: ${JSON.stringify(peaks())}`);
  assert.deepEqual(await restarts(), [0, 0]);
});

test('what else is wrong in their own namespace is seen beside them', async () => {
  await isPostedWithin(poisoned, 'amidst', 90_000);
});

test('within 30 seconds of their removal everything is as it was', async () => {
  await cluster.kubectl(['delete', '--raw', `/api/v1/namespaces/${poisoned}/events`]);
  await cluster.kubectl(['-n', poisoned, 'delete', 'deploy', 'growing']);
  await isPostedWithin(poisoned, 'afterwards', 30_000);
  assert.deepEqual(await restarts(), [0, 0]);
});
