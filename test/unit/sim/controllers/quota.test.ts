import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, aWorkload, type ClusterRig, conditions, counts, namespace } from './cluster.ts';

const words =
  /^Error creating: pods "web-[456789bcdf]+-[bcdfghjklmnpqrstvwxz2456789]{5}" is forbidden: exceeded quota: tight, requested: requests\.memory=16Mi, used: requests\.memory=0, limited: requests\.memory=1Mi$/;

async function blocked(rig: ClusterRig): Promise<void> {
  await rig.create('ResourceQuota', { metadata: { name: 'tight' }, spec: { hard: { 'requests.memory': '1Mi' } } });
  await rig.create('Deployment', aWorkload());
}

test('a quota refuses the pods: condition and events say so in its words', async (t) => {
  const rig = await aCluster(t);
  await blocked(rig);
  await rig.advance(30);
  const [set] = await rig.sets();
  assert.deepEqual(conditions(set!), { ReplicaFailure: 'True FailedCreate' });
  const web = await rig.deployment();
  assert.deepEqual(counts(web), { observedGeneration: 1, unavailableReplicas: 3, terminatingReplicas: 0 });
  assert.deepEqual(conditions(web), {
    Progressing: 'True NewReplicaSetCreated',
    Available: 'False MinimumReplicasUnavailable',
    ReplicaFailure: 'True FailedCreate',
  });
  const refusals = (await rig.events({ reason: 'FailedCreate' })).filter(
    ({ source }) => source?.component === 'replicaset-controller',
  );
  const plain = refusals.filter(({ message }) => !message.startsWith('(combined'));
  assert.equal(plain.length, 9);
  for (const { message } of plain) assert.match(message, words);
  const combined = refusals.find(({ message }) => message.startsWith('(combined from similar events): Error creating'));
  assert.ok(combined && combined.count! > 1);
});

test('it waits longer and longer, and its events fall silent', async (t) => {
  const rig = await aCluster(t);
  await blocked(rig);
  await rig.advance(5);
  const tries = async (): Promise<number> =>
    (await rig.events({ reason: 'FailedCreate' })).reduce((total, { count = 1 }) => total + count, 0);
  const early = await tries();
  assert.ok(early >= 10 && early <= 14, `${early} tries in 5 s`);
  await rig.advance(235);
  assert.ok((await tries()) - early <= 6, 'doubling: few more in four minutes');
});

test('once the quota is gone any change of the ReplicaSet brings the pods at once', async (t) => {
  const rig = await aCluster(t);
  await blocked(rig);
  await rig.advance(60);
  await rig.api.delete({ kind: 'ResourceQuota', namespace, name: 'tight' });
  await rig.advance(10);
  assert.deepEqual(await rig.pods(), [], 'nobody told it');
  const [set] = await rig.sets();
  const ref = { kind: 'ReplicaSet', namespace, name: set!.metadata.name } as const;
  await rig.api.patch(ref, 'merge', { metadata: { annotations: { 'tapfix.dev/nudge': '1' } } });
  await rig.clock.advance(0);
  assert.equal((await rig.pods()).length, 3);
  await rig.advance(5);
  assert.equal(counts(await rig.deployment())['availableReplicas'], 3);
  assert.deepEqual(conditions((await rig.sets())[0]!), {});
  assert.equal(conditions(await rig.deployment())['ReplicaFailure'], undefined);
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
