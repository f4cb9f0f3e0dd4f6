import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { applyIn, available } from './support/incidents.ts';
import { pinnedTo, pretendNode } from './support/pretended-node.ts';
import { installResources, type Running, startProcess } from './support/tapfix.ts';
import { type Trouble, troubles } from './support/troubles.ts';

/** Each way to be broken, on a real node: one incident, the right class, the right owner, and soon. */
let cluster: Cluster;
let chat: Chat;
let watcher: Running;

const patienceMs = 3_000;
const apps = ['lost-a', 'lost-b', 'lost-c', 'lost-d'];
const classNames = ['NodeDown', ...new Set(troubles.map((trouble) => trouble.class))];

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  await installResources(cluster);
  watcher = await startProcess({
    role: 'watcher',
    kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher'),
    config: {
      apiRoot: chat.apiRoot,
      include: ['e2e-see-*'],
      crashLoopFor: '3s',
      quotaFor: '3s',
      patience: Object.fromEntries(
        classNames.filter((name) => !['CrashLoop', 'QuotaExceeded'].includes(name)).map((name) => [name, '3s']),
      ),
    },
  });
});
after(async () => {
  await watcher.kill();
  await chat.close();
});

interface Event {
  reason: string;
}
interface State {
  waiting?: { reason?: string };
  terminated?: { reason?: string; finishedAt?: string };
}
interface Pod {
  status: { containerStatuses?: { state: State; lastState: State }[] };
}
interface Deployment {
  status: { conditions?: { reason?: string }[] };
}

/** How the containers of a namespace ended, as the kubelet says it, by when. A status shows the last two only. */
const ends = new Map<string, Map<string, string>>();
function endsIn(namespace: string): Map<string, string> {
  const known = ends.get(namespace) ?? new Map<string, string>();
  ends.set(namespace, known);
  return known;
}

/** Whether anybody who looks could see it by now. */
async function isVisible(namespace: string, { visible }: Trouble): Promise<boolean> {
  if ('event' in visible)
    return (await cluster.list<Event>('events', namespace)).some(({ reason }) => reason === visible.event);
  if ('condition' in visible) {
    const all = await cluster.list<Deployment>('deployments', namespace);
    return all.some(({ status }) => status.conditions?.some(({ reason }) => reason === visible.condition));
  }
  const containers = (await cluster.list<Pod>('pods', namespace)).flatMap(
    ({ status }) => status.containerStatuses ?? [],
  );
  if (visible.state === 'OOMKilled twice') {
    for (const { terminated } of containers.flatMap(({ state, lastState }) => [state, lastState]))
      if (terminated) endsIn(namespace).set(terminated.finishedAt ?? '', terminated.reason ?? '');
    return [...endsIn(namespace).values()].filter((reason) => reason === 'OOMKilled').length >= 2;
  }
  return containers.some(({ state }) => [visible.state, 'ImagePullBackOff'].includes(state.waiting?.reason ?? ''));
}

/** What the containers say of themselves, for the message of a failed test. */
const statesIn = async (namespace: string): Promise<string> =>
  JSON.stringify((await cluster.list<Pod>('pods', namespace)).map(({ status }) => status.containerStatuses));

const allFixes = (namespace: string): Promise<Remediation[]> => cluster.list('remediations.tapfix.dev', namespace);
/** What has no namespace: its incidents are in tapfix's own. */
const isShared = (root: string): boolean => /^(StorageClass|Node)\//.test(root);

async function fixesAbout(namespace: string, { root }: Pick<Trouble, 'root'>): Promise<Remediation[]> {
  if (!isShared(root)) return allFixes(namespace);
  return (await allFixes('tapfix')).filter(({ spec }) => spec.incident.key.endsWith(`/${root}`));
}

/** In seconds, from now, beyond its patience. */
async function delayUntilTold(namespace: string, { name, root }: Pick<Trouble, 'name' | 'root'>): Promise<number> {
  const visibleAt = Date.now();
  await cluster.waitFor('a Remediation', async () => (await fixesAbout(namespace, { root })).length > 0, 60_000);
  const delay = (Date.now() - visibleAt - patienceMs) / 1000;
  console.log(`    ${name}: told ${delay.toFixed(1)} s beyond its patience`);
  return delay;
}

const lost = 'pretended-lost';
/** Where each of them is, once it was told. */
const told = new Map<string, Trouble>();

describe('what is noticed', { concurrency: 5, timeout: 400_000 }, () => {
  // First, for the control plane waits 50 s before it gives a node up: the others are looked at meanwhile.
  test('a node that is gone, with twenty pods of four workloads: NodeDown of the Node, and nothing else', async () => {
    const name = lost;
    const namespace = await cluster.freshNamespace('e2e-see');
    const node = pretendNode(cluster, name);
    try {
      for (const app of apps) await applyIn(cluster, namespace, pinnedTo(name, app, 5));
      for (const app of apps) await available(cluster, namespace, app);
      node.lose();
      await cluster.waitFor(`${name} to be given up`, async () => (await node.ready()) !== 'True', 120_000);
      const delay = await delayUntilTold(namespace, { name: 'a node that is gone', root: `Node/${name}` });
      await sleep(10_000); // by then anything else about its pods would have been told
      const [fix, ...others] = await fixesAbout(namespace, { root: `Node/${name}` });
      assert.deepEqual([others, await fixesAbout(namespace, { root: '' })], [[], []]);
      const { incident, action } = fix!.spec;
      assert.deepEqual([incident.class, incident.key, action], ['NodeDown', `tapfix/Node/${name}`, undefined]);
      const affected = fix!.status?.sightings?.affected ?? [];
      assert.deepEqual(
        affected.toSorted(),
        apps.map((app) => `${namespace}/Deployment/${app}`),
      );
      assert(delay < 10, `it took ${delay} s`);
    } finally {
      node.comeBack();
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=true', '--timeout=60s']);
      await node.remove();
    }
  });

  for (const trouble of troubles)
    test(`${trouble.name}: ${trouble.class} of ${trouble.root}`, async () => {
      const namespace = await cluster.freshNamespace('e2e-see');
      for (const [key, value] of Object.entries(trouble.labels ?? {}))
        await cluster.kubectl(['label', 'namespace', namespace, `${key}=${value}`]);
      await applyIn(cluster, namespace, trouble.manifest);
      await cluster.waitFor(`${trouble.name} to be visible`, () => isVisible(namespace, trouble), 150_000);
      const delay = await delayUntilTold(namespace, trouble);
      told.set(namespace, trouble);
      const [fix] = await fixesAbout(namespace, trouble);
      const { key, class: failureClass } = fix!.spec.incident;
      assert.equal(key.split('/').slice(1).join('/'), trouble.root);
      // On a busy machine the kubelet may miss why a container was killed. What it does not say nobody can notice.
      const isMissed = [...endsIn(namespace).values()].includes('Error');
      if (isMissed) console.log(`      the kubelet missed a reason: ${JSON.stringify([...endsIn(namespace)])}`);
      if (!isMissed) assert.equal(failureClass, trouble.class, `${fix!.spec.diagnosis}\n${await statesIn(namespace)}`);
      if (failureClass === 'ProbeFailing')
        assert.equal(fix!.spec.incident.severity, 'critical', 'none of its pods is ready');
      assert(delay < 10, `it took ${delay} s`);
      console.log(`      ${fix!.spec.diagnosis}\n      ${fix!.spec.rationale.split('\n')[0]}`);
    });
});

const keysIn = async (namespace: string): Promise<string[]> =>
  (await allFixes(namespace)).map(({ spec }) => spec.incident.key).toSorted();

test('when all are told and some time has passed, each is still the only incident of its namespace', async () => {
  assert.equal(told.size, troubles.length);
  await sleep(10_000); // by then anything else about them would have been told
  for (const [namespace, { name, root }] of told)
    assert.deepEqual(await keysIn(namespace), isShared(root) ? [] : [`${namespace}/${root}`], name);
  const shared = [`Node/${lost}`, ...troubles.map(({ root }) => root).filter(isShared)];
  assert.deepEqual(
    await keysIn('tapfix'),
    shared.map((root) => `tapfix/${root}`),
  );
});
