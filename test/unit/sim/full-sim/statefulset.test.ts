import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodObject } from '../../../../src/sim/common/shapes.ts';
import type { RevisionObject } from '../../../sim/controller-revision.ts';
import type { JobObject } from '../../../sim/job.ts';
import { planStatefulSet, type StatefulSetObject, statefulSetStatus } from '../../../sim/statefulset.ts';
import { aCluster, aTemplate, aWorkload, counts, namespace, probed } from '../cluster.ts';
import { aPod, meta, nowMs } from '../objects.ts';

const aStateful = (spec: StatefulSetObject['spec'] = {}, status: StatefulSetObject['status'] = {}) =>
  ({ metadata: meta('db'), spec: { replicas: 3, ...spec }, status }) as StatefulSetObject;

const pod = (ordinal: number, options: Parameters<typeof aPod>[1] & { revision?: string } = {}): PodObject =>
  aPod(`db-${ordinal}`, { labels: { 'controller-revision-hash': options.revision ?? 'db-new' }, ...options });

const names = (pods: readonly PodObject[]): string[] => pods.map(({ metadata }) => metadata.name);

const cases = [
  { name: 'the first comes first', pods: [], create: [0] },
  { name: 'the second waits for the first', pods: [pod(0, { ready: false })] },
  { name: 'and comes when it is ready', pods: [pod(0)], create: [1] },
  { name: 'a hole is filled', pods: [pod(0), pod(2)], create: [1] },
  { name: 'one that is being deleted is waited for', pods: [pod(0, { deleting: true })] },
  {
    name: 'one that has failed goes, to come again',
    pods: [pod(0, { phase: 'Failed', ready: false })],
    remove: ['db-0'],
  },
  {
    name: 'too many go from the top, one at a time',
    spec: { replicas: 1 },
    pods: [pod(0), pod(1), pod(2)],
    remove: ['db-2'],
  },
  { name: 'none goes while one that stays is down', spec: { replicas: 1 }, pods: [pod(0, { ready: false }), pod(1)] },
  { name: 'an update begins at the top', pods: [old(0), old(1), old(2)], remove: ['db-2'] },
  { name: 'and goes on when the new one is up', pods: [old(0), old(1), pod(2)], remove: ['db-1'] },
  { name: 'a new one that does not come up stops it there', pods: [old(0), old(1), pod(2, { ready: false })] },
  {
    name: 'below the partition nothing is updated',
    spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
    pods: [old(0), old(1), pod(2)],
  },
  { name: 'OnDelete leaves it to you', spec: { updateStrategy: { type: 'OnDelete' } }, pods: [old(0), old(1), old(2)] },
  { name: 'in parallel all come at once', spec: { podManagementPolicy: 'Parallel' }, pods: [], create: [0, 1, 2] },
  {
    name: 'but an update waits for each one even so',
    spec: { podManagementPolicy: 'Parallel' },
    pods: [old(0), old(1), pod(2, { ready: false })],
  },
  { name: 'nothing to do', pods: [pod(0), pod(1), pod(2)] },
];

function old(ordinal: number): PodObject {
  return pod(ordinal, { revision: 'db-old' });
}

for (const { name, spec, pods, create = [], remove = [] } of cases) {
  test(name, () => {
    const plan = planStatefulSet(aStateful(spec), pods, 'db-new', nowMs);
    assert.deepEqual({ create: plan.create, remove: names(plan.remove) }, { create, remove });
  });
}

test('the newest revision becomes the current one when every pod has it and is ready', () => {
  const set = aStateful({}, { currentRevision: 'db-old' });
  const half = statefulSetStatus(set, [old(0), old(1), pod(2)], 'db-new', nowMs);
  assert.deepEqual(half, {
    observedGeneration: 1,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 2,
    updatedReplicas: 1,
    currentRevision: 'db-old',
    updateRevision: 'db-new',
    collisionCount: 0,
  });
  const whole = statefulSetStatus(set, [pod(0), pod(1), pod(2)], 'db-new', nowMs);
  assert.equal(whole['currentRevision'], 'db-new');
  assert.equal(whole['currentReplicas'], 3);
});

test('a StatefulSet: numbered pods in order, and a revision of each template to go back to', async (t) => {
  const { api, create, advance, pods, clock } = await aCluster(t);
  await create('StatefulSet', aWorkload({ name: 'db' }, { serviceName: 'db' }));
  await clock.advance(500);
  assert.deepEqual(
    (await pods()).map(({ metadata }) => metadata.name),
    ['db-0'],
  );
  await advance(10);
  assert.deepEqual(
    (await pods()).map(({ metadata }) => metadata.name),
    ['db-0', 'db-1', 'db-2'],
  );
  const ref = { kind: 'StatefulSet', namespace, name: 'db' } as const;
  await api.patch(ref, 'merge', { spec: { template: aTemplate({ name: 'db', image: 'shop/db:2' }) } });
  await advance(20);
  const revisions = await api.list<RevisionObject>('ControllerRevision', namespace);
  assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [1, 2]);
  const first = revisions.find(({ revision }) => revision === 1);
  assert.equal(first?.data?.spec?.template?.spec?.containers?.[0]?.image, 'shop/web:1.0');
  const set = await api.get<{ status?: Record<string, unknown> } & JobObject>(ref);
  assert.equal(set?.status?.['currentRevision'], set?.status?.['updateRevision']);
  assert.deepEqual(counts(set!), {
    observedGeneration: 2,
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    currentReplicas: 3,
    updatedReplicas: 3,
    collisionCount: 0,
  });
  for (const pod of await pods()) {
    assert.equal(pod.spec?.containers?.[0]?.image, 'shop/db:2');
    assert.equal(pod.metadata.labels?.['controller-revision-hash'], set?.status?.['updateRevision']);
  }
});

test('a StatefulSet whose new pod never comes up stops there', async (t) => {
  const { api, create, advance, pods } = await aCluster(t);
  await create('StatefulSet', aWorkload({ name: 'db', container: probed }, { serviceName: 'db' }));
  await advance(20);
  const template = aTemplate({ name: 'db', image: 'shop/db:2', behave: 'crash', container: probed });
  await api.patch({ kind: 'StatefulSet', namespace, name: 'db' }, 'merge', { spec: { template } });
  await advance(60);
  assert.deepEqual(
    (await pods()).map(({ spec }) => spec?.containers?.[0]?.image),
    ['shop/web:1.0', 'shop/web:1.0', 'shop/db:2'],
  );
});

test('a StatefulSet says it in its own words', async (t) => {
  const rig = await aCluster(t);
  await rig.create('ResourceQuota', { metadata: { name: 'tight' }, spec: { hard: { pods: '0' } } });
  await rig.create('StatefulSet', aWorkload({ name: 'db' }, { serviceName: 'db' }));
  await rig.advance(5);
  const [event] = await rig.events({ reason: 'FailedCreate', about: 'db' });
  assert.equal(
    event?.message,
    'Create Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden: exceeded quota: tight, requested: pods=1, used: pods=0, limited: pods=0',
  );
  assert.ok(event.count! > 5, 'the same words, so the same Event');
});
