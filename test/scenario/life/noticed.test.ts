import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { aConfig } from '../../support/config.ts';
import { aWorld, type World } from './world.ts';

/* Each kind of trouble on the simulated cluster: one incident, of the right class, about what a person would name. */

interface Shape {
  image?: string;
  replicas?: number;
  spec?: object;
  pod?: object;
  resources?: object;
}
const template = (
  name: string,
  { image = 'shop/app:1', pod = {}, resources = { requests: { memory: '16Mi' } } }: Shape,
) => ({
  metadata: { labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'app', image, resources }], ...pod },
});

function workload(kind: Kind, name: string, shape: Shape): object {
  const selector = { matchLabels: { app: name } };
  const { replicas = 2, spec } = shape;
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: { ...(kind !== 'DaemonSet' && { replicas }), selector, template: template(name, shape), ...spec },
  };
}
const once = { restartPolicy: 'Never' };
const job = (image: string) => ({ backoffLimit: 1, template: template('once', { image, pod: once }) });

/** What was told: "CrashLoop shop/Deployment/api". */
async function told(world: World): Promise<string[]> {
  const all = [...(await world.fixes()), ...(await world.fixes('tapfix'))];
  return all.map(({ spec }) => `${spec.incident.class} ${spec.incident.key}`);
}

interface Case {
  kind: Kind;
  body: object;
  want: string;
  mostMs?: number;
}
const aDeployment = (shape: Shape) => ({ kind: 'Deployment' as const, body: workload('Deployment', 'api', shape) });
const cases: Record<string, Case> = {
  'a crash loop': { ...aDeployment({ image: 'shop/app:1-crash' }), want: 'CrashLoop shop/Deployment/api' },
  'killed for memory': { ...aDeployment({ image: 'shop/app:1-oom' }), want: 'OOMKilled shop/Deployment/api' },
  'a typo in the image': {
    ...aDeployment({ image: 'shop/app:1-image-missing' }),
    want: 'ImagePull shop/Deployment/api',
  },
  'a missing ConfigMap': {
    ...aDeployment({ image: 'shop/app:1-config-missing' }),
    want: 'ConfigMissing shop/Deployment/api',
  },
  'a missing Secret as a volume': {
    ...aDeployment({ image: 'shop/app:1-volume' }),
    want: 'ConfigMissing shop/Deployment/api',
  },
  'readiness that fails': { ...aDeployment({ image: 'shop/app:1-unready' }), want: 'ProbeFailing shop/Deployment/api' },
  'liveness that fails': { ...aDeployment({ image: 'shop/app:1-liveness' }), want: 'CrashLoop shop/Deployment/api' },
  'no sandbox': { ...aDeployment({ image: 'shop/app:1-sandbox' }), want: 'SandboxFailed shop/Deployment/api' },
  'no node that is large enough': {
    ...aDeployment({ resources: { requests: { cpu: '100' } } }),
    want: 'Unschedulable shop/Deployment/api',
  },
  'a StatefulSet that crashes': {
    kind: 'StatefulSet',
    body: workload('StatefulSet', 'db', { image: 'shop/app:1-crash' }),
    want: 'CrashLoop shop/StatefulSet/db',
  },
  'a DaemonSet that crashes': {
    kind: 'DaemonSet',
    body: workload('DaemonSet', 'agent', { image: 'shop/app:1-crash' }),
    want: 'CrashLoop shop/DaemonSet/agent',
  },
  'a pod of nobody that crashes': {
    kind: 'Pod',
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      ...template('lonely', { image: 'shop/app:1-crash' }),
      metadata: { name: 'lonely' },
    },
    want: 'CrashLoop shop/Pod/lonely',
  },
  'a Job that gives up': {
    kind: 'Job',
    body: { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, spec: job('shop/app:1-exit-1') },
    want: 'JobFailed shop/Job/once',
  },
  'a failed Job of a CronJob': {
    kind: 'CronJob',
    body: {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'nightly' },
      spec: { schedule: '* * * * *', jobTemplate: { spec: job('shop/app:1-exit-1') } },
    },
    want: 'JobFailed shop/CronJob/nightly',
  },
};

describe('what is noticed, as what, and when', { concurrency: 2 }, () => {
  for (const [name, { kind, body, want, mostMs = 240_000 }] of Object.entries(cases))
    test(`${name}: ${want}`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await world.advance(5_000);
      await world.apply(kind, body);
      await world.until('incident', async () => (await told(world)).length > 0, mostMs);
      const [fix] = await world.fixes();
      const { firstSeen, class: failureClass } = fix!.spec.incident;
      const waitedMs = Date.parse(fix!.metadata.creationTimestamp) - Date.parse(firstSeen);
      const beyondMs = waitedMs - classOf(failureClass, aConfig()).forMs;
      t.diagnostic(`${failureClass}: told ${beyondMs / 1000} s after its patience was over`);
      assert.ok(beyondMs < 10_000);
      await world.advance(300_000);
      assert.deepEqual([...new Set(await told(world))], [want]);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
    });

  test('a rollout that is stuck while the old version serves', async (t) => {
    const world = await aWorld(t);
    world.start();
    const careful = { progressDeadlineSeconds: 30, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } };
    await world.apply('Deployment', workload('Deployment', 'api', { spec: careful }));
    await world.advance(60_000);
    const value = template('api', { image: 'shop/app:2-unready' });
    await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'api' }, 'json', [
      { op: 'replace', path: '/spec/template', value },
    ]);
    await world.advance(600_000);
    assert.deepEqual(await told(world), ['RolloutStuck shop/Deployment/api']);
  });

  test('a rollout of many pods, each of which takes a minute to be ready: nobody is woken', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.apply('Deployment', workload('Deployment', 'api', { replicas: 12 }));
    await world.advance(60_000);
    const value = template('api', { image: 'shop/app:2-ready-after=60s' });
    await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'api' }, 'json', [
      { op: 'replace', path: '/spec/template', value },
    ]);
    await world.advance(900_000);
    const { status } = (await world.api.get<KubeObject>({
      kind: 'Deployment',
      namespace: 'shop',
      name: 'api',
    })) as KubeObject & { status: { updatedReplicas: number; availableReplicas: number } };
    assert.deepEqual([status.updatedReplicas, status.availableReplicas], [12, 12], 'the rollout came to its end');
    assert.deepEqual([await told(world), world.phone.messages], [[], []]);
  });

  for (const include of [['*'], ['shop-*', 'shop']])
    test(`a node that is gone with twenty pods is one incident, where ${include.join(' and ')} is watched`, async (t) => {
      const world = await aWorld(t, { config: { namespaces: { include } } });
      world.start();
      for (let n = 0; n < 10; n++)
        await world.apply(
          'Deployment',
          workload('Deployment', `app-${n}`, {
            replicas: 2,
            pod: { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } },
          }),
        );
      await world.advance(60_000);
      const [first] = await world.api.list<KubeObject>('Pod', 'shop');
      const node = (first as KubeObject & { spec: { nodeName: string } }).spec.nodeName;
      world.sim.stopNode(node);
      await world.until('incident', async () => (await told(world)).length > 0, 180_000);
      await world.advance(120_000);
      assert.deepEqual(await told(world), [`NodeDown tapfix/Node/${node}`]);
      const [fix] = await world.fixes('tapfix');
      assert.equal(fix!.status?.sightings?.affected?.length, 10);
      assert.equal(world.phone.messages.length, 1, world.phone.text());
    });

  test('a claim whose class does not exist, and the pods that wait for it', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.apply('PersistentVolumeClaim', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data' },
      spec: { storageClassName: 'fast', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await world.api.patch(
      { kind: 'PersistentVolumeClaim', namespace: 'shop', name: 'data', subresource: 'status' },
      'merge',
      { status: { phase: 'Pending' } },
    );
    await world.until('incident', async () => (await told(world)).length > 0, 240_000);
    assert.deepEqual(await told(world), ['StorageFailed tapfix/StorageClass/fast']);
  });

  test('an autoscaler without metrics', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.apply('HorizontalPodAutoscaler', {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    });
    const conditions = [
      ['AbleToScale', 'True', 'SucceededGetScale'],
      ['ScalingActive', 'False', 'FailedGetResourceMetric'],
    ].map(([type, status, reason]) => ({
      type,
      status,
      reason,
      message: reason,
      lastTransitionTime: '2026-11-16T03:12:00Z',
    }));
    await world.api.patch(
      { kind: 'HorizontalPodAutoscaler', namespace: 'shop', name: 'web', subresource: 'status' },
      'merge',
      { status: { conditions } },
    );
    await world.until('incident', async () => (await told(world)).length > 0, 400_000);
    assert.deepEqual(await told(world), ['AutoscalerBlind shop/HorizontalPodAutoscaler/web']);
  });
});
