import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplicaSetObject } from '../../../../src/sim/common/shapes.ts';
import { aCluster, aTemplate, aWorkload, conditions, counts, namespace, probed, waitingReasons } from '../cluster.ts';

const sizes = (sets: readonly ReplicaSetObject[]): Record<string, number | undefined> =>
  Object.fromEntries(
    sets.map(({ metadata, spec }) => [
      `revision ${metadata.annotations?.['deployment.kubernetes.io/revision']}`,
      spec?.replicas,
    ]),
  );

test('a Deployment comes up 3/3', async (t) => {
  const { create, advance, deployment, sets, pods, events } = await aCluster(t);
  await create('Deployment', aWorkload());
  await advance(5);
  const web = await deployment();
  assert.deepEqual(counts(web), {
    observedGeneration: 1,
    replicas: 3,
    updatedReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    terminatingReplicas: 0,
  });
  assert.deepEqual(conditions(web), {
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'True NewReplicaSetAvailable',
  });
  assert.equal(web.metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
  assert.equal(web.metadata.generation, 1);
  const [set] = await sets();
  assert.match(set!.metadata.name, /^web-[456789bcdf]{1,10}$/);
  for (const pod of await pods()) {
    assert.match(pod.metadata.name, new RegExp(`^${set!.metadata.name}-[bcdfghjklmnpqrstvwxz2456789]{5}$`));
    assert.deepEqual(pod.metadata.ownerReferences, [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: set!.metadata.name,
        uid: set!.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  }
  assert.deepEqual(new Set((await pods()).map(({ spec }) => spec?.nodeName)), new Set(['node-1', 'node-2']));
  const [scaled] = await events({ reason: 'ScalingReplicaSet' });
  assert.equal(scaled?.message, `Scaled up replica set ${set!.metadata.name} from 0 to 3`);
});

test('a rollout to a crashing image leaves the old pods serving', async (t) => {
  const { create, advance, deployment, sets, pods, setTemplate } = await aCluster(t);
  await create('Deployment', aWorkload({ container: probed }));
  await advance(5);
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'crash', container: probed }));
  await advance(60);
  const web = await deployment();
  assert.deepEqual(sizes(await sets()), { 'revision 1': 3, 'revision 2': 1 });
  assert.deepEqual(counts(web), {
    observedGeneration: 2,
    replicas: 4,
    updatedReplicas: 1,
    readyReplicas: 3,
    availableReplicas: 3,
    unavailableReplicas: 1,
    terminatingReplicas: 0,
  });
  assert.deepEqual(conditions(web), {
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'True ReplicaSetUpdated',
  });
  assert.deepEqual(waitingReasons(await pods()).filter(Boolean), ['CrashLoopBackOff']);
});

test('where all may be down at once, a crashing image takes everything down', async (t) => {
  const { create, advance, deployment, pods, setTemplate } = await aCluster(t);
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } };
  await create('Deployment', aWorkload({ container: probed }, { strategy }));
  await advance(5);
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'crash', container: probed }));
  await advance(60);
  const web = await deployment();
  assert.deepEqual(counts(web), {
    observedGeneration: 2,
    replicas: 3,
    updatedReplicas: 3,
    unavailableReplicas: 3,
    terminatingReplicas: 0,
  });
  // With all of them allowed to be missing, none is enough.
  assert.equal(conditions(web)['Available'], 'True MinimumReplicasAvailable');
  assert.deepEqual(waitingReasons(await pods()), Array(3).fill('CrashLoopBackOff'));
});

test('without a probe a crasher looks ready for a moment, and so replaces what works', async (t) => {
  const { create, advance, deployment, sets, setTemplate } = await aCluster(t);
  await create('Deployment', aWorkload());
  await advance(5);
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'crash-after=2s' }));
  await advance(120);
  assert.deepEqual(sizes(await sets()), { 'revision 1': 0, 'revision 2': 3 });
  assert.deepEqual(conditions(await deployment()), {
    Available: 'False MinimumReplicasUnavailable',
    Progressing: 'True NewReplicaSetAvailable',
  });
});

test('an undo takes up the old ReplicaSet again, as the newest revision', async (t) => {
  const { create, advance, deployment, sets, pods, setTemplate } = await aCluster(t);
  const good = aTemplate({ container: probed });
  await create('Deployment', aWorkload({ container: probed }));
  await advance(5);
  const [first] = await sets();
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'crash', container: probed }));
  await advance(30);
  await setTemplate('web', good);
  await advance(5);
  assert.deepEqual(sizes(await sets()), { 'revision 2': 0, 'revision 3': 3 });
  const again = (await sets()).find(({ metadata }) => metadata.uid === first!.metadata.uid);
  assert.equal(again?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
  const web = await deployment();
  assert.equal(web.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  assert.equal(conditions(web)['Progressing'], 'True NewReplicaSetAvailable');
  assert.equal((await pods()).length, 3);
});

test('a rollout that does not come forward misses its deadline, without an event', async (t) => {
  const { create, advance, deployment, events, setTemplate } = await aCluster(t);
  await create('Deployment', aWorkload({ container: probed }, { progressDeadlineSeconds: 60 }));
  await advance(5);
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'unready', container: probed }));
  await advance(55);
  assert.equal(conditions(await deployment())['Progressing'], 'True ReplicaSetUpdated');
  await advance(15);
  assert.equal(conditions(await deployment())['Progressing'], 'False ProgressDeadlineExceeded');
  assert.deepEqual(await events({ reason: 'ProgressDeadlineExceeded' }), []);
});

test('Recreate: the new pods come when the last old one is gone', async (t) => {
  const { create, advance, pods, setTemplate, clock } = await aCluster(t);
  await create('Deployment', aWorkload({}, { strategy: { type: 'Recreate' } }));
  await advance(5);
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1' }));
  const images = async (): Promise<Set<unknown>> =>
    new Set((await pods()).map(({ spec }) => spec?.containers?.[0]?.image));
  await clock.advance(200);
  assert.deepEqual(await images(), new Set(['shop/web:1.0']));
  await clock.advance(5_000);
  assert.deepEqual(await images(), new Set(['shop/web:1.1']));
});

test('paused: a new template waits; scaling works all the same', async (t) => {
  const { api, create, advance, deployment, sets, setTemplate } = await aCluster(t);
  await create('Deployment', aWorkload());
  await advance(5);
  const ref = { kind: 'Deployment', namespace, name: 'web' } as const;
  await api.patch(ref, 'merge', { spec: { paused: true } });
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1' }));
  await api.patch(ref, 'merge', { spec: { replicas: 5 } });
  await advance(5);
  assert.deepEqual(sizes(await sets()), { 'revision 1': 5 });
  assert.equal(conditions(await deployment())['Progressing'], 'Unknown DeploymentPaused');
  await api.patch(ref, 'merge', { spec: { paused: null } });
  await advance(20);
  assert.deepEqual(sizes(await sets()), { 'revision 1': 0, 'revision 2': 5 });
  assert.equal(conditions(await deployment())['Progressing'], 'True NewReplicaSetAvailable');
});

test('only so many old revisions are kept', async (t) => {
  const { create, advance, sets, setTemplate } = await aCluster(t);
  await create('Deployment', aWorkload({}, { replicas: 1, revisionHistoryLimit: 2 }));
  for (const tag of ['1.1', '1.2', '1.3', '1.4']) {
    await advance(10);
    await setTemplate('web', aTemplate({ image: `shop/web:${tag}` }));
  }
  await advance(10);
  assert.deepEqual(sizes(await sets()), { 'revision 3': 0, 'revision 4': 0, 'revision 5': 1 });
});

test('minReadySeconds: ready is not available yet', async (t) => {
  const { create, advance, deployment } = await aCluster(t);
  await create('Deployment', aWorkload({}, { minReadySeconds: 20 }));
  await advance(10);
  assert.deepEqual(
    [counts(await deployment())['readyReplicas'], counts(await deployment())['availableReplicas']],
    [3, undefined],
  );
  await advance(15);
  assert.equal(counts(await deployment())['availableReplicas'], 3);
});

test('a Deployment that is deleted takes everything along, and nothing stays behind', async (t) => {
  const { api, create, advance, sets, pods } = await aCluster(t);
  await create('Deployment', aWorkload());
  await advance(5);
  await api.delete({ kind: 'Deployment', namespace, name: 'web' });
  await advance(5);
  assert.deepEqual([...(await sets()), ...(await pods())], []);
});
