import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ClosableApi, createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import type { NodeObject, PodObject } from '../../src/sim/common/shapes.ts';
import { type Kubelet, runKubelet } from '../../src/sim/kubelet/kubelet.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { nodeName as realNode } from '../cluster/facts.ts';
import { applyIn, available } from './support/incidents.ts';

const nodes = ['pretended-1', 'pretended-2', 'pretended-3'];
const taint = { key: 'pretended', value: 'true', effect: 'NoSchedule' };
const lines: string[] = [];
const stop = new AbortController();
let cluster: Cluster;
let api: ClosableApi;
let namespace: string;
let kubelet: Kubelet;

before(async () => {
  cluster = await joinCluster();
  namespace = await cluster.freshNamespace('e2e-kubelet');
  api = createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG: cluster.kubeconfig, HOME: cluster.dir } }) });
  kubelet = runKubelet({
    api,
    clock: systemClock,
    log: createLog({ level: 'info', write: (line) => void lines.push(line) }),
    nodes: nodes.map((name) => ({ name, labels: { pool: 'pretended' }, taints: [taint] })),
    signal: stop.signal,
  });
});

after(async () => {
  await cluster.kubectl(['delete', 'namespace', namespace, '--wait=true', '--timeout=60s']);
  stop.abort();
  await kubelet.ended;
  await cluster.kubectl(['delete', 'node', ...nodes]);
  await api.close();
  assert.deepEqual(lines, [], 'the kubelet complains');
});

/** Of the workload image, which is never run: only the pretended nodes may have it. */
const pinned = (name: string, replicas: number, behave?: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}, annotations: {sim.tapfix.dev/behave: "${behave ?? 'run'}"}}
    spec:
      nodeSelector: {pool: pretended}
      tolerations:
        - {key: pretended, operator: Exists, effect: NoSchedule}
        - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 2}
      containers:
        - {name: app, image: "shop/${name}:1", resources: {requests: {cpu: 10m, memory: 16Mi}}}
`;

const podsOf = async (name: string): Promise<PodObject[]> =>
  (await cluster.list<PodObject>('pods', namespace)).filter(({ metadata }) => metadata.labels?.['app'] === name);

const readyOf = async (node: string): Promise<string | undefined> =>
  (await cluster.get<NodeObject>('nodes', undefined, node))?.status?.conditions?.find(({ type }) => type === 'Ready')
    ?.status;

const said = async (reason: string, about: string): Promise<boolean> =>
  (await cluster.list<{ reason: string; involvedObject: { name: string } }>('events')).some(
    (event) => event.reason === reason && event.involvedObject.name.startsWith(about),
  );

test('its nodes are Ready, beside the real one', async () => {
  for (const name of [...nodes, realNode])
    await cluster.waitFor(`${name} to be Ready`, async () => (await readyOf(name)) === 'True', 30_000);
});

test('pods of a real Deployment become Ready on them, and nowhere else', async () => {
  await applyIn(cluster, namespace, pinned('web', 6));
  await available(cluster, namespace, 'web');
  const pods = await podsOf('web');
  assert.deepEqual([...new Set(pods.map(({ spec }) => spec?.nodeName))].sort(), nodes);
  await cluster.kubectl(['-n', namespace, 'rollout', 'status', 'deploy/web', '--timeout=30s']);
  for (const reason of ['Pulled', 'Created', 'Started']) assert.ok(await said(reason, 'web-'), reason);
});

test('one that is told to crash is in CrashLoopBackOff', async () => {
  await applyIn(cluster, namespace, pinned('bad', 1, 'crash'));
  const isLooping = async (): Promise<PodObject | undefined> =>
    (await podsOf('bad')).find(
      ({ status }) => status?.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff',
    );
  const pod = await cluster.waitFor('CrashLoopBackOff', isLooping, 30_000);
  assert.equal(pod.status?.containerStatuses?.[0]?.lastState.terminated?.exitCode, 1);
  await cluster.waitFor('the BackOff event', () => said('BackOff', pod.metadata.name), 10_000);
});

test('pods that are scaled away are really gone', async () => {
  await cluster.kubectl(['-n', namespace, 'scale', 'deploy/web', '--replicas=3']);
  await cluster.waitFor('three pods', async () => (await podsOf('web')).length === 3, 20_000);
});

test('a node that is stopped goes NotReady, its pods move, and when it is back the old ones go', async () => {
  const [victim] = await podsOf('web');
  const lost = victim!.spec!.nodeName!;
  kubelet.stopNode(lost);
  // The controller manager's own patience is 50 s.
  await cluster.waitFor(`${lost} to be lost`, async () => (await readyOf(lost)) === 'Unknown', 90_000);
  await cluster.waitFor('its pods to be told of', () => said('NodeNotReady', victim!.metadata.name), 20_000);
  const haveMoved = async (): Promise<boolean> => {
    const pods = await podsOf('web');
    const living = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
    return living.length === 3 && living.every(({ spec }) => spec?.nodeName !== lost) && pods.length > 3;
  };
  await cluster.waitFor('the pods to be elsewhere, the old ones still terminating', haveMoved, 30_000);
  await available(cluster, namespace, 'web');
  kubelet.startNode(lost);
  await cluster.waitFor(`${lost} to be back`, async () => (await readyOf(lost)) === 'True', 30_000);
  await cluster.waitFor('the old pods to be gone', async () => (await podsOf('web')).length === 3, 30_000);
});
