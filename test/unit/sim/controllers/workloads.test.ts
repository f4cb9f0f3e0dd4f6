import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobObject } from '../../../../src/sim/controllers/job-plan.ts';
import type { RevisionObject } from '../../../../src/sim/controllers/controller-revision.ts';
import { aCluster, aTemplate, aWorkload, conditions, counts, namespace, probed } from './cluster.ts';

const aJob = (name: string, behave: string, spec: object = {}) => ({
  metadata: { name },
  spec: { backoffLimit: 1, template: aTemplate({ name, behave, spec: { restartPolicy: 'Never' } }), ...spec },
});

test('a Job whose pods fail once too often has failed', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  await create('Job', aJob('report', 'exit-1'));
  await advance(6);
  assert.equal((await pods()).length, 1);
  await advance(15);
  const job = (await api.get<JobObject>({ kind: 'Job', namespace, name: 'report' }))!;
  assert.deepEqual(conditions(job), {
    FailureTarget: 'True BackoffLimitExceeded',
    Failed: 'True BackoffLimitExceeded',
  });
  assert.deepEqual(counts(job), { failed: 2, ready: 0, terminating: 0 });
  const [event] = await events({ reason: 'BackoffLimitExceeded' });
  assert.equal(event?.message, 'Job has reached the specified backoff limit');
  assert.equal(event.type, 'Warning');
  for (const pod of await pods()) assert.match(pod.metadata.name, /^report-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('a Job whose pod ends well is complete', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  await create('Job', aJob('report', 'exit-0=3s'));
  await advance(10);
  const job = (await api.get<JobObject>({ kind: 'Job', namespace, name: 'report' }))!;
  assert.deepEqual(conditions(job), {
    SuccessCriteriaMet: 'True CompletionsReached',
    Complete: 'True CompletionsReached',
  });
  assert.equal((await pods())[0]?.status?.phase, 'Succeeded');
  assert.equal((await events({ reason: 'Completed' }))[0]?.message, 'Job completed');
});

test('a CronJob makes a Job at each time, tells how it went, and keeps only so many', async (t) => {
  const { api, create, advance, events } = await aCluster(t);
  const { spec } = aJob('nightly', 'exit-0');
  await create('CronJob', { metadata: { name: 'nightly' }, spec: { schedule: '* * * * *', jobTemplate: { spec } } });
  await advance(290);
  const jobs = (await api.list<JobObject>('Job', namespace)).map(({ metadata }) => metadata.name);
  const minute = Date.parse('2026-11-16T03:13:00Z') / 60_000;
  assert.deepEqual(jobs, [2, 3].map((n) => `nightly-${minute + n - 1}`).concat(`nightly-${minute + 3}`));
  assert.ok(
    (await events({ about: 'nightly', reason: 'SawCompletedJob' }))[0]?.message.endsWith('condition: Complete'),
  );
  const cron = await api.get<JobObject>({ kind: 'CronJob', namespace, name: 'nightly' });
  assert.equal((cron!.status as { lastScheduleTime?: string }).lastScheduleTime, '2026-11-16T03:16:00Z');
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

test('a DaemonSet: one pod on each node, and an update one by one', async (t) => {
  const { api, create, advance, pods } = await aCluster(t, { nodes: 3 });
  await create('DaemonSet', aWorkload({ name: 'agent' }, { replicas: undefined }));
  await advance(5);
  assert.deepEqual((await pods()).map(({ spec }) => spec?.nodeName).sort(), ['node-1', 'node-2', 'node-3']);
  const ref = { kind: 'DaemonSet', namespace, name: 'agent' } as const;
  await api.patch(ref, 'merge', { spec: { template: aTemplate({ name: 'agent', image: 'shop/agent:2' }) } });
  await advance(20);
  assert.deepEqual(new Set((await pods()).map(({ spec }) => spec?.containers?.[0]?.image)), new Set(['shop/agent:2']));
  const set = await api.get<JobObject>(ref);
  assert.deepEqual(counts(set!), {
    observedGeneration: 2,
    currentNumberScheduled: 3,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: 3,
    numberAvailable: 3,
    numberReady: 3,
    numberMisscheduled: 0,
  });
  const revisions = await api.list<RevisionObject>('ControllerRevision', namespace);
  assert.deepEqual(revisions.map(({ revision }) => revision).sort(), [1, 2]);
});

test('a DaemonSet comes to a node that becomes its own, and leaves one that is no longer', async (t) => {
  const { api, create, advance, pods } = await aCluster(t);
  const label = (name: string, disk: string | null): Promise<unknown> =>
    api.patch({ kind: 'Node', name }, 'merge', { metadata: { labels: { disk } } });
  const nodes = async (): Promise<unknown[]> => (await pods()).map(({ spec }) => spec?.nodeName);
  await create(
    'DaemonSet',
    aWorkload({ name: 'agent', spec: { nodeSelector: { disk: 'ssd' } } }, { replicas: undefined }),
  );
  await advance(5);
  assert.deepEqual(await nodes(), []);
  await label('node-2', 'ssd');
  await advance(5);
  assert.deepEqual(await nodes(), ['node-2']);
  await label('node-2', null);
  await advance(5);
  assert.deepEqual(await nodes(), []);
});
