import assert from 'node:assert/strict';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { joinCluster, type Cluster, type FaultProxy } from '../cluster/cluster.ts';
import { buildImageTar } from '../cluster/image.ts';

interface Deployment {
  status?: { availableReplicas?: number };
}
interface Pod {
  metadata: { name: string };
  status: { containerStatuses?: { restartCount: number; state: object; lastState: object }[] };
}
interface PodEvent {
  reason: string;
  involvedObject: { name: string };
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

const restartedPodOf = async (name: string) =>
  (await podsOf(name)).find((pod) => (pod.status.containerStatuses?.[0]?.restartCount ?? 0) > 0);

const saysAbout = async (name: string, words: RegExp) =>
  (await podsOf(name)).find((pod) => words.test(JSON.stringify(pod.status.containerStatuses ?? [])));

test('the node is ready', async () => {
  const node = await cluster.get<{ status: { conditions: { type: string; status: string }[] } }>(
    'nodes',
    undefined,
    'real-1',
  );
  assert.equal(node?.status.conditions.find(({ type }) => type === 'Ready')?.status, 'True');
});

/** Other files have a Deployment of that name as well, and one audit log is kept for all. */
const isWeb = (event: { namespace?: string; name?: string }): boolean =>
  event.namespace === namespace && event.name === 'web';

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
    (event) => event.user === 'admin' && event.resource === 'deployments' && isWeb(event),
  );
  assert.equal(written?.verb, 'patch');
  assert.equal(written.code, 201);
  assert.equal(written.dryRun, false);
  assert.equal((written.requestObject as { kind: string }).kind, 'Deployment');
});

test('containers fail the way they are told to', async () => {
  const limits = { memory: '64Mi' };
  await cluster.apply(deployment('oom', { args: ['oom'], resources: { limits } }));
  await cluster.apply(deployment('nowhere', { image: 'localhost/app:9.9', imagePullPolicy: 'IfNotPresent' }));
  await cluster.waitFor('oom to be killed', () => saysAbout('oom', /OOMKilled/), 30_000);
  await cluster.waitFor(
    'nowhere to lack its image',
    () => saysAbout('nowhere', /ErrImagePull|ImagePullBackOff/),
    30_000,
  );
});

test('a crashing container is restarted, backed off, and in CrashLoopBackOff once the kubelet looks again', async () => {
  await cluster.apply(deployment('crash', { args: ['crash'] }));
  const pod = await cluster.waitFor('crash to be restarted', () => restartedPodOf('crash'), 30_000);
  const backedOff = async () =>
    (await cluster.list<PodEvent>('events', namespace)).some(
      ({ reason, involvedObject }) => reason === 'BackOff' && involvedObject.name === pod.metadata.name,
    );
  await cluster.waitFor('the BackOff event', backedOff, 30_000);

  // The kubelet notes the back-off in one sync and writes it into the status in the next, which by itself comes only
  // when the back-off is over: until then the container may well stay "terminated: Error". Any change of the pod is
  // a reason to sync. See also https://github.com/kubernetes/kubernetes/issues/123602
  const afterAnotherSync = async () => {
    const touch = `touched=${Date.now()}`;
    await cluster.kubectl(['annotate', 'pod', pod.metadata.name, '-n', namespace, '--overwrite', touch]);
    return saysAbout('crash', /CrashLoopBackOff/);
  };
  await cluster.waitFor('CrashLoopBackOff', afterAnotherSync, 30_000);
});

test('an image made from a Dockerfile runs locked down and reaches the API server at its service address', async () => {
  const context = await mkdtemp(join(tmpdir(), 'context-'));
  const program = `
    import { readFileSync } from 'node:fs';
    import https from 'node:https';
    const account = '/var/run/secrets/kubernetes.io/serviceaccount';
    const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, GREETING } = process.env;
    const headers = { authorization: 'Bearer ' + readFileSync(account + '/token', 'utf8') };
    https.get({ host, port, path: '/version', ca: readFileSync(account + '/ca.crt'), headers }, (answer) => {
      console.log(GREETING, process.version, process.getuid(), host, answer.statusCode);
    });
  `;
  await writeFile(join(context, 'ask.mjs'), program);
  const lines = ['FROM node:24-slim', 'WORKDIR /srv', 'COPY ask.mjs ./', 'ENV GREETING=hello', 'USER 65532'];
  await writeFile(join(context, 'Dockerfile'), [...lines, 'ENTRYPOINT ["node", "/srv/ask.mjs"]'].join('\n'));
  const image = { tag: 'localhost/ask:1', out: join(context, 'ask.tar') };
  await buildImageTar({ dockerfile: join(context, 'Dockerfile'), context, ...image });
  await cluster.importImage(image.out);

  const securityContext = {
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const containers = [{ name: 'ask', image: image.tag, securityContext }];
  const metadata = { name: 'ask', namespace };
  await cluster.apply(
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { restartPolicy: 'Never', containers } }),
  );
  const said = await cluster.waitFor(
    'the pod to say something',
    async () => /hello .*/.exec(await cluster.kubectl(['logs', '-n', namespace, 'ask']))?.[0],
    30_000,
  );
  assert.match(said, /^hello v24\.\S+ 65532 10\.0\.0\.1 200$/);
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
