import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { joinCluster, type Cluster, type FaultProxy } from '../cluster/cluster.ts';

interface Deployment {
  status?: { availableReplicas?: number };
}
interface Pod {
  metadata: { name: string };
  status: { containerStatuses?: { restartCount: number; state: object; lastState: object }[] };
}

let cluster: Cluster;
let proxy: FaultProxy;
let namespace: string;

before(async () => {
  cluster = await joinCluster();
  proxy = await cluster.faultProxy();
  namespace = await cluster.freshNamespace('harness');
});
after(async () => {
  await proxy?.close();
});

const deployment = (name: string, container: object): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'app', image: 'localhost/app:1.0', ...container }],
        },
      },
    },
  });

const podsOf = async (name: string) =>
  (await cluster.list<Pod>('pods', namespace)).filter((pod) => pod.metadata.name.startsWith(`${name}-`));

const saysAbout = async (name: string, text: string) =>
  (await podsOf(name)).find((pod) => JSON.stringify(pod.status.containerStatuses ?? []).includes(text));

test('the node is ready', async () => {
  const node = await cluster.get<{ status: { conditions: { type: string; status: string }[] } }>(
    'nodes',
    undefined,
    'real-1',
  );
  assert.equal(node?.status.conditions.find(({ type }) => type === 'Ready')?.status, 'True');
});

test('a Deployment with a readiness probe becomes available, its logs can be read, and the audit log has the write', async () => {
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };
  await cluster.apply(deployment('web', { readinessProbe }));
  await cluster.waitFor(
    'web to be available',
    async () => (await cluster.get<Deployment>('deployments', namespace, 'web'))?.status?.availableReplicas === 1,
    30_000,
  );
  assert.match(await cluster.kubectl(['logs', '-n', namespace, 'deployment/web']), /serving on :8080/);
  const written = (await cluster.audit()).find(
    (event) => event.user === 'admin' && event.resource === 'deployments' && event.name === 'web',
  );
  assert.equal(written?.verb, 'patch');
  assert.equal(written.code, 201);
  assert.equal(written.dryRun, false);
  assert.equal((written.requestObject as { kind: string }).kind, 'Deployment');
});

test('containers fail the way they are told to', async () => {
  const limits = { memory: '64Mi' };
  await cluster.apply(deployment('crash', { args: ['crash'] }));
  await cluster.apply(deployment('oom', { args: ['oom'], resources: { limits } }));
  await cluster.apply(deployment('nowhere', { image: 'localhost/app:9.9', imagePullPolicy: 'IfNotPresent' }));
  for (const [name, reason] of [
    ['crash', 'CrashLoopBackOff'],
    ['oom', 'OOMKilled'],
    ['nowhere', 'ErrImagePull'],
  ] as const) {
    await cluster.waitFor(`${name} to say ${reason}`, () => saysAbout(name, reason), 30_000);
  }
});

test('a pod reaches the API server at its service address', async () => {
  const { stdout } = { stdout: await cluster.kubectl(['get', '--raw', '/version', '--server', 'https://10.0.0.1']) };
  assert.match(stdout, /v1\.36/);
});

test('kubectl refusals can be expected, and unexpected success is an error', async () => {
  const nobody = await cluster.userKubeconfig('nobody', ['strangers']);
  const said = await cluster.kubectl(['get', 'secrets', '-A'], { kubeconfig: nobody, expectFailure: true });
  assert.match(said, /User "nobody" cannot list resource "secrets"/);
  await assert.rejects(cluster.kubectl(['get', 'ns'], { expectFailure: true }), /should have failed/);
  assert.equal(await cluster.get('configmaps', namespace, 'absent'), undefined);
});

test('a write held by the fault proxy and dropped never happens; one whose answer is dropped did', async () => {
  await cluster.kubectl(['create', 'serviceaccount', 'writer', '-n', namespace]);
  await cluster.kubectl([
    'create',
    'rolebinding',
    'writer',
    '--clusterrole=edit',
    `--serviceaccount=${namespace}:writer`,
    '-n',
    namespace,
  ]);
  const kubeconfig = await cluster.serviceAccountKubeconfig(namespace, 'writer', { server: proxy.url });
  const create = (name: string) =>
    cluster.kubectl(['create', 'configmap', name, '-n', namespace], { kubeconfig, expectFailure: true });

  const before = proxy.holdBefore(({ path }) => path.endsWith('/configmaps'));
  const refused = create('never');
  const held = await before;
  assert.equal(held.write.user, `system:serviceaccount:${namespace}:writer`);
  held.drop();
  await refused;
  assert.equal(await cluster.get('configmaps', namespace, 'never'), undefined);

  const answered = proxy.holdAfter(({ path }) => path.endsWith('/configmaps'));
  const lost = create('unheard');
  const answer = await answered;
  assert.ok(await cluster.get('configmaps', namespace, 'unheard'));
  answer.drop();
  await lost;
});

for (const component of ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler', 'kubelet'] as const) {
  test(`${component}, killed, comes back and the cluster with it`, async () => {
    await cluster.restart(component);
    await cluster.kubectl(['create', 'configmap', `after-${component}`, '-n', namespace]);
    assert.equal((await cluster.get<Deployment>('deployments', namespace, 'web'))?.status?.availableReplicas, 1);
  });
}
