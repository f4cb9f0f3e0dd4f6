import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { readWorkload } from '../../../src/diagnosis/workload.ts';
import { aPodOf, aShop, aWorkload, crashing, endedForGood, ownedBy, type Owner, type Shop } from './support.ts';

const settled = (n: number) => ({ observedGeneration: 1, replicas: n, updatedReplicas: n, availableReplicas: n });
const complete = [{ type: 'Complete', status: 'True' }];

const cases: { name: string; make(shop: Shop): Owner; want: string }[] = [
  {
    name: 'a Deployment at full strength',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, settled(3)),
    want: 'healthy 3/3',
  },
  {
    name: 'a Deployment without a count wants one',
    make: (shop) => aWorkload(shop, 'Deployment', {}, settled(1)),
    want: 'healthy 1/1',
  },
  {
    name: 'a Deployment scaled to zero',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 0 }, settled(0)),
    want: 'it was scaled to zero',
  },
  {
    name: 'a Deployment that is one short',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, { ...settled(3), availableReplicas: 2 }),
    want: '2/3 ready',
  },
  {
    name: 'a Deployment of old and new pods',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, { ...settled(3), updatedReplicas: 1 }),
    want: 'the rollout has not finished',
  },
  {
    name: 'a Deployment with a pod too many',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, { ...settled(3), replicas: 4 }),
    want: 'the rollout has not finished',
  },
  {
    name: 'a Deployment whose controller has not caught up',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, { ...settled(3), observedGeneration: 0 }),
    want: 'the rollout has not finished',
  },
  {
    name: 'a Deployment without any status yet',
    make: (shop) => aWorkload(shop, 'Deployment', { replicas: 3 }, {}),
    want: '0/3 ready',
  },
  {
    name: 'a StatefulSet at full strength',
    make: (shop) => aWorkload(shop, 'StatefulSet', { replicas: 2 }, settled(2)),
    want: 'healthy 2/2',
  },
  {
    name: 'a StatefulSet that is one short',
    make: (shop) => aWorkload(shop, 'StatefulSet', { replicas: 2 }, { ...settled(2), availableReplicas: 1 }),
    want: '1/2 ready',
  },
  {
    name: 'a ReplicaSet of its own',
    make: (shop) => aWorkload(shop, 'ReplicaSet', { replicas: 2 }, { observedGeneration: 1, availableReplicas: 2 }),
    want: 'healthy 2/2',
  },
  {
    name: 'a DaemonSet on every node',
    make: (shop) =>
      aWorkload(
        shop,
        'DaemonSet',
        {},
        { observedGeneration: 1, desiredNumberScheduled: 4, numberAvailable: 4, updatedNumberScheduled: 4 },
      ),
    want: 'healthy 4/4',
  },
  {
    name: 'a DaemonSet that misses a node',
    make: (shop) =>
      aWorkload(
        shop,
        'DaemonSet',
        {},
        { observedGeneration: 1, desiredNumberScheduled: 4, numberAvailable: 3, updatedNumberScheduled: 4 },
      ),
    want: '3/4 ready',
  },
  {
    name: 'a StatefulSet that is held back by a partition',
    make: (shop) =>
      aWorkload(
        shop,
        'StatefulSet',
        { replicas: 3, updateStrategy: { rollingUpdate: { partition: 2 } } },
        { ...settled(3), updatedReplicas: 1 },
      ),
    want: 'healthy 3/3',
  },
  {
    name: 'a StatefulSet short of what its partition lets through',
    make: (shop) =>
      aWorkload(
        shop,
        'StatefulSet',
        { replicas: 3, updateStrategy: { rollingUpdate: { partition: 1 } } },
        { ...settled(3), updatedReplicas: 1 },
      ),
    want: 'the rollout has not finished',
  },
  {
    name: 'a StatefulSet that is updated by hand',
    make: (shop) =>
      aWorkload(
        shop,
        'StatefulSet',
        { replicas: 3, updateStrategy: { type: 'OnDelete' } },
        { ...settled(3), updatedReplicas: 0 },
      ),
    want: 'healthy 3/3',
  },
  {
    name: 'a DaemonSet that is kept off every node',
    make: (shop) =>
      aWorkload(
        shop,
        'DaemonSet',
        {},
        { observedGeneration: 1, desiredNumberScheduled: 0, numberAvailable: 0, updatedNumberScheduled: 0 },
      ),
    want: 'it is wanted on no node',
  },
  {
    name: 'a DaemonSet that nobody has counted nodes for yet',
    make: (shop) => aWorkload(shop, 'DaemonSet', {}, {}),
    want: 'the rollout has not finished',
  },
  {
    name: 'a DaemonSet that is updated by hand',
    make: (shop) =>
      aWorkload(
        shop,
        'DaemonSet',
        { updateStrategy: { type: 'OnDelete' } },
        { observedGeneration: 1, desiredNumberScheduled: 4, numberAvailable: 4, updatedNumberScheduled: 1 },
      ),
    want: 'healthy 4/4',
  },
  {
    name: 'a DaemonSet in the middle of an update',
    make: (shop) =>
      aWorkload(
        shop,
        'DaemonSet',
        {},
        { observedGeneration: 1, desiredNumberScheduled: 4, numberAvailable: 4, updatedNumberScheduled: 1 },
      ),
    want: 'the rollout has not finished',
  },
  { name: 'a Job with its pod', make: (shop) => aWorkload(shop, 'Job', {}, { active: 1 }), want: 'healthy 1/1' },
  { name: 'a Job without its pod', make: (shop) => aWorkload(shop, 'Job', {}, {}), want: '0/1 ready' },
  {
    name: 'a Job that is complete',
    make: (shop) => aWorkload(shop, 'Job', {}, { succeeded: 1, conditions: complete }),
    want: 'healthy 0/0',
  },
  {
    name: 'a Job that is suspended',
    make: (shop) => aWorkload(shop, 'Job', { suspend: true }, {}),
    want: 'healthy 0/0',
  },
  { name: 'a CronJob between two runs', make: (shop) => aWorkload(shop, 'CronJob', {}, {}), want: 'healthy 0/0' },
  {
    name: 'a Deployment whose pod crashes, whatever its counts say',
    make(shop) {
      const deployment = aWorkload(shop, 'Deployment', { replicas: 1 }, settled(1));
      aPodOf(shop, 'p', aWorkload(shop, 'ReplicaSet', { replicas: 1 }, {}, deployment), crashing);
      return deployment;
    },
    want: 'container app keeps crashing',
  },
  {
    name: 'a Deployment with an evicted pod that nobody has removed yet',
    make(shop) {
      const deployment = aWorkload(shop, 'Deployment', { replicas: 1 }, settled(1));
      aPodOf(shop, 'p', aWorkload(shop, 'ReplicaSet', { replicas: 1 }, {}, deployment), endedForGood, 'Failed');
      return deployment;
    },
    want: 'healthy 1/1',
  },
  {
    name: 'a Deployment beside which a foreign pod with the same labels crashes',
    make(shop) {
      aPodOf(shop, 'p', { kind: 'ReplicaSet', name: 'other', uid: 'other' }, crashing);
      aPodOf(shop, 'q', undefined, crashing);
      return aWorkload(shop, 'Deployment', { replicas: 1 }, settled(1));
    },
    want: 'healthy 1/1',
  },
  {
    name: 'a StatefulSet whose own pod crashes',
    make(shop) {
      const set = aWorkload(shop, 'StatefulSet', { replicas: 1 }, settled(1));
      aPodOf(shop, 'a-0', set, crashing);
      return set;
    },
    want: 'container app keeps crashing',
  },
  {
    name: 'a CronJob whose latest run crashes',
    make(shop) {
      const cronJob = aWorkload(shop, 'CronJob', {}, {});
      aPodOf(shop, 'p', aWorkload(shop, 'Job', {}, { active: 1 }, cronJob), crashing);
      return cronJob;
    },
    want: 'container app keeps crashing',
  },
  {
    name: 'a pod that nobody owns, and is up',
    make(shop) {
      aPodOf(shop, 'lonely');
      return { kind: 'Pod', name: 'lonely', uid: '' };
    },
    want: 'healthy 1/1',
  },
  {
    name: 'a pod that nobody owns, and crashes',
    make(shop) {
      aPodOf(shop, 'lonely', undefined, crashing);
      return { kind: 'Pod', name: 'lonely', uid: '' };
    },
    want: 'container app keeps crashing',
  },
  {
    name: 'a pod that nobody owns, and has done its work',
    make(shop) {
      aPodOf(shop, 'lonely', undefined, { name: 'app', ready: false, restartCount: 0 }, 'Succeeded');
      return { kind: 'Pod', name: 'lonely', uid: '' };
    },
    want: 'healthy 1/1',
  },
  {
    name: 'a custom owner whose StatefulSet is one short',
    make(shop) {
      const database = { kind: 'Postgres', name: 'db', uid: 'db-1' };
      aWorkload(shop, 'StatefulSet', { replicas: 3 }, { ...settled(3), availableReplicas: 2 }, database);
      return database;
    },
    want: '2/3 ready',
  },
  {
    name: 'a custom owner with an old and a new ReplicaSet, whose pod crashes',
    make(shop) {
      const rollout = { kind: 'Rollout', name: 'r', uid: 'r-1' };
      aPodOf(
        shop,
        'p',
        aWorkload(shop, 'ReplicaSet', { replicas: 1 }, { observedGeneration: 1, availableReplicas: 1 }, rollout),
        crashing,
      );
      return rollout;
    },
    want: 'container app keeps crashing',
  },
  {
    name: 'a custom owner with all that it wants',
    make(shop) {
      const rollout = { kind: 'Rollout', name: 'r', uid: 'r-1' };
      aWorkload(shop, 'ReplicaSet', { replicas: 2 }, { observedGeneration: 1, availableReplicas: 2 }, rollout);
      aPodOf(shop, 'p', { kind: 'Rollout', name: 'other', uid: 'r-2' }, crashing);
      return rollout;
    },
    want: 'healthy 2/2',
  },
  { name: 'a custom owner that owns nothing', make: () => ({ kind: 'Rollout', name: 'r', uid: 'r-1' }), want: 'gone' },
  { name: 'a Deployment that is gone', make: () => ({ kind: 'Deployment', name: 'nobody', uid: 'd' }), want: 'gone' },
  {
    name: 'another Deployment of the same name',
    make: (shop) => ({ ...aWorkload(shop, 'Deployment', { replicas: 1 }, {}), uid: 'before' }),
    want: 'gone',
  },
  {
    name: 'a Deployment known by name only',
    make: (shop) => ({ ...aWorkload(shop, 'Deployment', { replicas: 1 }, {}), uid: '' }),
    want: '0/1 ready',
  },
];

for (const { name, make, want } of cases)
  test(`health: ${name}: ${want}`, async () => {
    const shop = aShop();
    const object = make(shop);
    const live = await readHealth(shop.reader, { namespace: 'shop', object }, 0);
    const said = live.gone ? 'gone' : live.healthy ? (live.ended ?? `healthy ${live.ready}/${live.desired}`) : live.why;
    assert.equal(said, want);
    assert.equal((await readWorkload(shop.reader, 'shop', object)) === undefined, want === 'gone');
  });

test('a Deployment is read with its own revisions, newest first, and with all their pods', async () => {
  const shop = aShop();
  const deployment = aWorkload(shop, 'Deployment', { replicas: 2, paused: true }, settled(2));
  for (const [name, revision, owner] of [
    ['x', 9, deployment],
    ['y', 10, deployment],
    ['z', 11, { ...deployment, uid: 'other' }],
  ] as const) {
    const { metadata } = shop.server.seed('ReplicaSet', 'shop', {
      metadata: {
        name,
        labels: { app: 'a' },
        annotations: { 'deployment.kubernetes.io/revision': String(revision) },
        ...ownedBy(owner),
      },
      spec: { replicas: 1, template: { spec: { containers: [{ name }] } } },
    });
    aPodOf(shop, `${name}-pod`, { kind: 'ReplicaSet', name, uid: metadata.uid });
  }
  const workload = await readWorkload(shop.reader, 'shop', deployment);
  assert.deepEqual(
    workload?.revisions.map(({ view, template }) => [view.revision, template.spec?.containers?.[0]?.name]),
    [
      [10, 'y'],
      [9, 'x'],
    ],
  );
  assert.deepEqual(
    workload?.pods.map(({ name }) => name),
    ['x-pod', 'y-pod'],
  );
  assert.equal(workload?.deployment?.paused, true);
});

test('a reading that fails is a failure, never "gone"', async () => {
  const shop = aShop();
  const deployment = aWorkload(shop, 'Deployment', { replicas: 1 }, settled(1));
  shop.server.hooks.before = ({ verb }) => {
    if (verb === 'list') throw new Error('connection reset');
  };
  await assert.rejects(readHealth(shop.reader, { namespace: 'shop', object: deployment }, 0), /connection reset/);
});
