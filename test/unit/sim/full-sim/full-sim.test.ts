import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { KubeObject } from '../../../../src/kube/api.ts';
import type { Kind } from '../../../../src/kube/resources.ts';
import type { PodObject, PodStatus } from '../../../../src/sim/common/shapes.ts';
import { aCluster, aTemplate, type ClusterRig, type EventObject, probed } from '../cluster.ts';
import { pattern, recorded, shape } from './recorded.ts';

const image = 'localhost/app:1.0';
const bare = { resources: {} };

/** The troubles of the recording, by the names they have there. */
const deployments: [name: string, replicas: number, template: object, spec?: object][] = [
  ['crash', 2, aTemplate({ name: 'crash', image, behave: 'crash' })],
  ['oom', 2, aTemplate({ name: 'oom', image, behave: 'oom' })],
  ['live', 2, aTemplate({ name: 'live', image, behave: 'liveness' })],
  ['typo', 2, aTemplate({ name: 'typo', image: 'localhost/app:1.O', behave: 'image-missing' })],
  ['cfg', 2, aTemplate({ name: 'cfg', image, behave: 'config-missing=missing' })],
  ['unready', 2, aTemplate({ name: 'unready', image, behave: 'unready', container: probed })],
  [
    'slow',
    1,
    aTemplate({ name: 'slow', image, behave: 'unready', container: { ...bare, ...probed } }),
    { progressDeadlineSeconds: 20 },
  ],
  [
    'mount',
    1,
    aTemplate({ name: 'mount', image, behave: 'volume=nope', container: bare, spec: { volumes: [{ name: 's' }] } }),
  ],
];

async function allTroubles(t: TestContext): Promise<ClusterRig> {
  const rig = await aCluster(t, { nodes: 1 });
  for (const [name, replicas, template, spec] of deployments)
    await rig.create('Deployment', {
      metadata: { name },
      spec: { replicas, selector: { matchLabels: { app: name } }, template, ...spec },
    });
  const exporter = aTemplate({ name: 'node-exporter', image, behave: 'crash', container: bare });
  await rig.create('DaemonSet', {
    metadata: { name: 'node-exporter' },
    spec: { selector: { matchLabels: { app: 'node-exporter' } }, template: exporter },
  });
  const nightly = aTemplate({
    name: 'nightly',
    image,
    behave: 'exit-1=300ms',
    container: bare,
    spec: { restartPolicy: 'Never' },
  });
  const jobTemplate = { spec: { backoffLimit: 1, template: nightly } };
  await rig.create('CronJob', { metadata: { name: 'nightly' }, spec: { schedule: '* * * * *', jobTemplate } });
  await rig.advance(60);
  // Apart from the others, of which none could be created again.
  await rig.api.create({ kind: 'Namespace' }, { metadata: { name: 'locked' } });
  const inLocked = (kind: Kind, name: string, spec: object): Promise<KubeObject> =>
    rig.api.create({ kind, namespace: 'locked' }, { metadata: { name }, spec });
  const workload = (name: string) => ({
    selector: { matchLabels: { app: name } },
    template: aTemplate({ name, image }),
  });
  await inLocked('ResourceQuota', 'tight', { hard: { 'requests.memory': '1Mi' } });
  await inLocked('Deployment', 'big', workload('big'));
  await inLocked('StatefulSet', 'db', { ...workload('db'), serviceName: 'db' });
  const [leaving] = await rig.pods('unready-');
  await rig.api.delete({ kind: 'Pod', namespace: 'shop', name: leaving!.metadata.name });
  await rig.advance(20);
  return rig;
}

const ofWorkload = <T extends KubeObject>(objects: readonly T[], name: string): T =>
  objects.find(({ metadata }) => metadata.name.startsWith(`${name}-`))!;

/** What a pod without requests has of its own accord on a real node. */
const withoutUsage = ({ resources: _resources, ...status }: PodStatus): PodStatus => status;

async function podStatuses(rig: ClusterRig): Promise<void> {
  const real = recorded<PodObject>('node-pods');
  for (const name of ['crash', 'oom', 'live', 'typo', 'cfg', 'unready', 'slow', 'mount', 'nightly']) {
    const pods = await rig.pods(`${name}-`);
    const wanted = shape(withoutUsage(ofWorkload(real, name).status!));
    const found = pods.map(({ status }) => shape(withoutUsage(status!)));
    assert.deepEqual(
      found.find((it) => JSON.stringify(it) === JSON.stringify(wanted)) ?? found[0],
      wanted,
      `the status of ${name}`,
    );
  }
}

async function workloadStatuses(rig: ClusterRig): Promise<void> {
  const real = recorded<KubeObject & { status: object }>('node-workloads');
  const named: [Kind, string][] = [
    ...['crash', 'oom', 'typo', 'cfg', 'unready', 'slow', 'mount', 'big'].map((name): [Kind, string] => [
      'Deployment',
      name,
    ]),
    ['StatefulSet', 'db'],
    ['DaemonSet', 'node-exporter'],
  ];
  for (const [kind, name] of named) {
    const wanted = real.find((object) => object.kind === kind && object.metadata.name === name)!;
    const namespace = ['big', 'db'].includes(name) ? 'locked' : 'shop';
    const found = await rig.api.get<typeof wanted>({ kind, namespace, name });
    assert.deepEqual(shape(found?.status), shape(wanted.status), `the status of ${kind}/${name}`);
  }
  const sets = await rig.api.list<(typeof real)[number]>('ReplicaSet');
  for (const name of ['crash', 'typo', 'big']) {
    const set = sets.find(({ metadata }) => metadata.name.startsWith(`${name}-`));
    const wanted = real.find((object) => object.kind === 'ReplicaSet' && object.metadata.name.startsWith(`${name}-`))!;
    assert.deepEqual(shape(set?.status), shape(wanted.status), `the status of the ReplicaSet of ${name}`);
  }
  const isFailed = (job: { status: object }): boolean => 'conditions' in job.status;
  const jobs = (await rig.api.list<(typeof real)[number]>('Job', 'shop')).filter(isFailed);
  const wanted = real.find((object) => object.kind === 'Job' && isFailed(object))!;
  assert.deepEqual(shape(jobs[0]?.status), shape(wanted.status), 'the status of a failed Job');
}

const spoken = ({ type, reason, message, involvedObject, source, reportingComponent }: EventObject): string =>
  [
    source?.component ?? reportingComponent,
    type,
    reason,
    involvedObject.kind,
    involvedObject.fieldPath ? pattern(involvedObject.fieldPath.replace('{p}', '{app}')) : '',
    pattern(message),
  ].join(' | ');

/** Of parts that a simulated cluster does not have. */
const notOurs =
  /horizontal-pod-autoscaler|persistentvolume-controller|CgroupV1|NodeAllocatableEnforced|unbound immediate|PodSecurity/;

async function eventWords(rig: ClusterRig): Promise<void> {
  const real = new Set(
    recorded<EventObject>('node-events')
      .map(spoken)
      .filter((line) => !notOurs.test(line)),
  );
  const ours = new Set((await rig.events()).map(spoken));
  const unheard = [...ours].filter((line) => !real.has(line));
  // A quota refuses the StatefulSet here, a pod security policy there: the words before that are the same.
  assert.deepEqual(
    unheard.map((line) => line.replace(/(failed error: ).*/, '$1...')),
    [
      'statefulset-controller | Warning | FailedCreate | StatefulSet |  | Create Pod db-0 in StatefulSet db failed error: ...',
    ],
  );
  assert.deepEqual(
    [...real].filter((line) => !ours.has(line)),
    [],
  );
}

async function eventKeys(rig: ClusterRig): Promise<void> {
  const keys = (event: EventObject): string => {
    const { metadata, involvedObject, source = {}, ...rest } = event;
    const present = Object.entries(rest).filter(([, value]) => value !== null && value !== '');
    const about = Object.keys(involvedObject).filter((key) => key !== 'fieldPath');
    const of = (names: string[]): string => names.sort().join(',');
    return `${of(present.map(([key]) => key))} | ${of(about)} | ${of(Object.keys(source))} | ${of(Object.keys(metadata).filter((key) => key !== 'managedFields'))}`;
  };
  const byReason = (events: readonly EventObject[]): Map<string, string> =>
    new Map(
      events.map((event) => [
        `${event.reason} ${event.message.startsWith('(combined') ? 'combined' : ''}`,
        keys(event),
      ]),
    );
  const real = byReason(recorded<EventObject>('node-events'));
  for (const [reason, found] of byReason(await rig.events()))
    assert.equal(found, real.get(reason), `the keys of ${reason}`);
}

test('a simulated cluster with the troubles of the recorded one', async (t) => {
  const rig = await allTroubles(t);
  await t.test('pod statuses have the shape and the words of the recorded ones', () => podStatuses(rig));
  await t.test('workload statuses have the shape and the words of the recorded ones', () => workloadStatuses(rig));
  await t.test('events are the recorded ones, word by word', () => eventWords(rig));
  await t.test('events have the keys of the recorded ones', () => eventKeys(rig));
});
