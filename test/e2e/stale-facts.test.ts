import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { applyIn, available, deployment, fixInPhase, quota } from './support/incidents.ts';
import { aRemediation } from './support/remediation.ts';
import { account, createScene, type Scene } from './support/scene.ts';
import { installResources, type Running, seenHealthy, startProcess } from './support/tapfix.ts';

/** What Kubernetes leaves lying about (old events, the first words of a condition) must not become news. */
let cluster: Cluster;
let chat: Chat;
let scene: Scene;
let watcher: Running;
let controller: Running;

const start = async (role: 'watcher' | 'controller'): Promise<Running> =>
  startProcess({
    role,
    kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', `tapfix-${role}`),
    config: { apiRoot: chat.apiRoot, include: ['e2e-stale-*'] },
  });

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  scene = createScene(cluster, chat);
  await installResources(cluster);
  controller = await start('controller');
  watcher = await start('watcher');
});
after(async () => {
  await watcher.kill();
  await controller.kill();
  await chat.close();
});

const fixes = (namespace: string): Promise<Remediation[]> => cluster.list('remediations.tapfix.dev', namespace);

test('a crash that is over and an ordinary rollout after a restart: nobody is told anything', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-rollout');
  await applyIn(cluster, namespace, deployment('checkout', 1, ['crash']));
  await scene.messageAbout(namespace, /checkout (?:is (?:down|degraded)|keeps crashing)/, 90_000);
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
  await available(cluster, namespace, 'checkout');
  await fixInPhase(cluster, namespace, 'Resolved', 60_000);
  const events = await cluster.list<{ reason: string }>('events', namespace);
  assert.ok(
    events.some(({ reason }) => reason === 'BackOff'),
    'the old news is still there',
  );
  await watcher.kill();
  // Without its short deadline: a rollout that takes its time is not one that is stuck.
  const slow = deployment('checkout', 1, ['unready']).replace(
    'progressDeadlineSeconds: 30',
    'progressDeadlineSeconds: 600',
  );
  await applyIn(cluster, namespace, slow);
  watcher = await start('watcher');
  await sleep(30_000); // patience is 5 s here, and the rollout is not finished all the while
  const told = (await fixes(namespace)).map(
    ({ metadata, spec, status }) =>
      `${metadata.name} ${spec.incident.class} ${spec.incident.message} (${status?.phase})`,
  );
  assert.equal(told.length, 1, told.join('; '));
  assert.equal(scene.about(namespace).length, 1);
});

test('two quotas in the way: when the first is gone, the second is told', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-quotas');
  await applyIn(cluster, namespace, quota('first'));
  await applyIn(cluster, namespace, deployment('api', 1, ['run']));
  const { metadata } = await fixInPhase(cluster, namespace, 'Proposed', 60_000);
  await applyIn(cluster, namespace, quota('second'));
  const approve = [
    'patch',
    'fix',
    metadata.name,
    '--type',
    'merge',
    '-p',
    '{"spec":{"approval":{"state":"Approved"}}}',
  ];
  await cluster.waitFor(
    'the rehearsal',
    async () => (await fixes(namespace))[0]?.status?.conditions?.some(({ type }) => type === 'Confirmed'),
    30_000,
  );
  await cluster.kubectl(['-n', namespace, ...approve]);
  const second = await cluster.waitFor(
    'a card about the second quota',
    async () => (await fixes(namespace)).find(({ spec }) => spec.incident.object.name === 'second'),
    90_000,
  );
  assert.equal(second.spec.action?.type, 'DeleteResourceQuota');
  const sets = await cluster.list<{ status: { conditions?: { message: string }[] } }>('replicasets', namespace);
  assert.match(
    sets[0]?.status.conditions?.[0]?.message ?? '',
    /exceeded quota: first/,
    'the condition keeps its first words',
  );
});

const labels = { app: 'db' };
const asking = (args: string[], resources: object, more: object = {}) => ({
  metadata: { labels },
  spec: {
    ...more,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image: 'localhost/app:1.0',
        imagePullPolicy: 'IfNotPresent',
        args,
        resources,
        readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
      },
    ],
  },
});
const selector = { matchLabels: labels };
const apply = (namespace: string, ...items: object[]): Promise<string> =>
  applyIn(cluster, namespace, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
const limits = (hard: object) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'team' },
  spec: { hard },
});
const workload = (kind: string, name: string, spec: object) => ({
  apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
  kind,
  metadata: { name },
  spec,
});
const uidOf = async (resource: string, namespace: string, name: string): Promise<string> =>
  (await cluster.get<{ metadata: { uid: string } }>(resource, namespace, name))!.metadata.uid;

test('a forged refusal of a StatefulSet with an unready first pod: no deletion is offered, nor confirmed when the watcher’s token asks for it', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-forged');
  const template = asking(['unready'], { requests: { memory: '10Mi' } });
  await apply(
    namespace,
    limits({ 'requests.memory': '100Gi' }),
    workload('StatefulSet', 'db', { replicas: 3, serviceName: 'db', selector, template }),
  );
  await cluster.waitFor(
    'the first pod to be counted',
    async () =>
      (await cluster.get<{ status?: { used?: Record<string, string> } }>('resourcequotas', namespace, 'team'))?.status
        ?.used?.['requests.memory'] === '10Mi',
    30_000,
  );
  const at = new Date().toISOString();
  const uid = await uidOf('statefulsets', namespace, 'db');
  const message =
    'create Pod db-1 in StatefulSet db failed error: pods "db-1" is forbidden: exceeded quota: team, requested: requests.memory=200Gi, used: requests.memory=10Mi, limited: requests.memory=100Gi';
  await apply(namespace, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'db.forged' },
    involvedObject: { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace, name: 'db', uid },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 9,
    source: { component: 'statefulset-controller' },
  });
  await sleep(15_000); // patience is 5 s here
  assert.deepEqual(
    (await fixes(namespace)).filter(({ spec }) => spec.incident.class === 'QuotaExceeded'),
    [],
  );
  const object = { name: 'team', uid: await uidOf('resourcequotas', namespace, 'team') };
  const { incident } = aRemediation('').spec;
  const forged = aRemediation(
    'forged-1',
    {
      incident: { ...incident, key: `${namespace}/ResourceQuota/team`, object: { kind: 'ResourceQuota', ...object } },
      action: { type: 'DeleteResourceQuota', deleteResourceQuota: object },
      proposedBy: account('tapfix-watcher'),
    },
    { namespace },
  );
  const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher');
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(forged), kubeconfig });
  const confirmed = await cluster.waitFor(
    'the verdict of the controller',
    async () =>
      (await fixes(namespace))
        .find(({ metadata }) => metadata.name === 'forged-1')
        ?.status?.conditions?.find(({ type }) => type === 'Confirmed'),
    30_000,
  );
  assert.deepEqual([confirmed.status, confirmed.reason], ['False', 'NotDerived']);
  assert.equal(
    scene.about(namespace).some(({ text }) => /200Gi/.test(text)),
    false,
    'no number of a stranger',
  );
});

/** A real refusal is known by the owner's template, whatever kind of owner it is, and by what a LimitRange adds. */
const refusals: { name: string; items: object[]; diagnosis: RegExp; affected: string[] }[] = [
  {
    name: 'owners',
    items: [
      limits({ 'requests.memory': '32Mi' }),
      workload('StatefulSet', 'db', {
        replicas: 2,
        serviceName: 'db',
        selector,
        template: asking(['run'], { requests: { memory: '48Mi' } }),
      }),
      workload('DaemonSet', 'agent', { selector, template: asking(['run'], { limits: { memory: '64Mi' } }) }),
      workload('Job', 'report', {
        template: asking(['run'], { requests: { memory: '33Mi' } }, { restartPolicy: 'Never' }),
      }),
    ],
    diagnosis:
      /^requests\.memory 32Mi, used 0, (?:pods ask 33Mi to (?:48|64)Mi|pods ask 48Mi to 64Mi|a pod asks (?:33|48|64)Mi)$/,
    affected: ['DaemonSet/agent', 'Job/report', 'StatefulSet/db'],
  },
  {
    name: 'claims',
    items: [
      limits({ 'requests.storage': '1Gi' }),
      workload('StatefulSet', 'db', {
        serviceName: 'db',
        selector,
        template: asking(['run'], {}),
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } },
          },
        ],
      }),
    ],
    diagnosis: /^requests\.storage 1Gi, used 0, a pod asks 5Gi$/,
    affected: ['StatefulSet/db'],
  },
  {
    name: 'range',
    items: [
      limits({ 'requests.memory': '32Mi' }),
      {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'usual' },
        spec: { limits: [{ type: 'Container', default: { memory: '64Mi' } }] },
      },
      workload('Deployment', 'web', { selector, template: asking(['run'], {}) }),
    ],
    diagnosis: /^requests\.memory 32Mi, used 0, a pod asks 64Mi$/,
    affected: ['Deployment/web'],
  },
];

test('a quota that really refuses a StatefulSet, a DaemonSet, a Job, a claim, or what a LimitRange adds: its deletion is offered and confirmed', async () => {
  await Promise.all(
    refusals.map(async ({ name, items: [quota, ...others], diagnosis, affected }) => {
      const namespace = await cluster.freshNamespace(`e2e-stale-${name}`);
      await apply(namespace, quota!, ...others.filter((one) => 'kind' in one && one.kind === 'LimitRange'));
      const isInForce = async () =>
        (await cluster.get<{ status?: { used?: object } }>('resourcequotas', namespace, 'team'))?.status?.used;
      await cluster.waitFor('the quota to be in force', isInForce, 30_000);
      await apply(namespace, ...others);
      const fix = await cluster.waitFor(
        `a confirmed deletion in ${namespace}`,
        async () =>
          (await fixes(namespace)).find(({ status }) =>
            status?.conditions?.some((one) => one.type === 'Confirmed' && one.status === 'True'),
          ),
        60_000,
      );
      assert.equal(fix.spec.action?.type, 'DeleteResourceQuota');
      assert.match(fix.spec.diagnosis, diagnosis);
      await cluster.waitFor(
        `all of them to be known in ${namespace}`,
        async () =>
          JSON.stringify((await fixes(namespace))[0]?.status?.sightings?.affected) === JSON.stringify(affected),
        30_000,
      );
    }),
  );
});

test('a revision that looks healthy for 12 s before each crash, without a probe: undone, and watched for twice as long', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-slow');
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run'], ''));
  await available(cluster, namespace, 'checkout');
  await seenHealthy();
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run-then-crash', '12'], ''));
  await scene.withButton(namespace, /Roll back/, 120_000);
  const { metadata } = (await fixes(namespace))[0]!;
  const approval = '{"spec":{"approval":{"state":"Approved"}}}';
  await cluster.kubectl(['-n', namespace, 'patch', 'fix', metadata.name, '--type', 'merge', '-p', approval]);
  const fix = await fixInPhase(cluster, namespace, 'Recovered', 120_000);
  assert.ok((fix.status?.execution?.stableSeconds ?? 0) >= 24, JSON.stringify(fix.status?.execution?.stableSeconds));
  assert.deepEqual(await scene.writes(namespace), ['tapfix-writer patch deployments']);
});
