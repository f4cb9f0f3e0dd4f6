import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryMs } from '../../../../src/sim/common/controller-runtime.ts';
import { conditionOf } from '../../../../src/sim/common/status-writing.ts';
import { inSlowStart } from '../../../../src/sim/controllers/pod-control.ts';
import { replicaSetStatus, surplusOf } from '../../../../src/sim/controllers/replicaset.ts';
import { aCluster, aWorkload, type ClusterRig, conditions, counts, namespace } from '../cluster.ts';
import { aPod, aSet, nowMs } from '../objects.ts';

const order = [
  { name: 'one without a node', first: aPod('x', { node: '' }), second: aPod('y', { ready: false, phase: 'Pending' }) },
  {
    name: 'one that is pending',
    first: aPod('x', { ready: false, phase: 'Pending' }),
    second: aPod('y', { ready: false }),
  },
  {
    name: 'one that is not ready, though it is older',
    first: aPod('x', { ready: false, age: 9000 }),
    second: aPod('y', { age: 1 }),
  },
  { name: 'a cheap one', first: aPod('x', cost(-1)), second: aPod('y', { readyFor: 1 }) },
  {
    name: 'one that was ready for a shorter time',
    first: aPod('x', { readyFor: 5 }),
    second: aPod('y', { readyFor: 50 }),
  },
  { name: 'one that restarts', first: aPod('x', { restarts: 4 }), second: aPod('y', { age: 1 }) },
  { name: 'the younger one', first: aPod('x', { age: 5 }), second: aPod('y', { age: 50 }) },
];

function cost(value: number) {
  return { annotations: { 'controller.kubernetes.io/pod-deletion-cost': String(value) } };
}

for (const { name, first, second } of order) {
  test(`goes first: ${name}`, () => {
    assert.deepEqual(surplusOf([second, first], 1), [first]);
    assert.deepEqual(surplusOf([first, second], 1), [first]);
  });
}

test('of two nodes the one with more of them loses one', () => {
  const pods = [aPod('a', { node: 'n1' }), aPod('b', { node: 'n2' }), aPod('c', { node: 'n2' })];
  assert.equal(surplusOf(pods, 1)[0]?.spec?.nodeName, 'n2');
});

test('creations begin slowly, and a batch with a failure is the last', async () => {
  const tried: number[] = [];
  const failure = await inSlowStart(20, async (index) => {
    tried.push(index);
    if (index === 4) throw new Error('no');
  });
  assert.deepEqual(tried, [0, 1, 2, 3, 4, 5, 6]); // 1 + 2 + 4
  assert.equal((failure as Error).message, 'no');
  assert.equal(await inSlowStart(5, async () => undefined), undefined);
});

test('after failures it waits 5 ms, doubling, up to a thousand seconds', () => {
  assert.deepEqual([0, 1, 2, 17, 18, 40].map(retryMs), [5, 10, 20, 655_360, 1_000_000, 1_000_000]);
});

test('counts: labelled, ready, available, terminating', () => {
  const set = aSet('web-1', { size: 4, status: {} });
  set.spec = { ...set.spec, minReadySeconds: 10, template: { metadata: { labels: { app: 'web' } } } };
  const labels = { app: 'web' };
  const pods = [aPod('a', { labels }), aPod('b', { labels, readyFor: 5 }), aPod('c', { ready: false })];
  assert.deepEqual(replicaSetStatus(set, pods, 1, undefined, nowMs), {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    observedGeneration: 1,
    terminatingReplicas: 1,
  });
});

test('a refusal is written down with its words, which stay until a pass without any', () => {
  const set = aSet('web-1', { size: 2, replicas: 0 });
  const first = replicaSetStatus(set, [], 0, 'pods "a" is forbidden', nowMs);
  assert.equal(conditionOf(first.conditions, 'ReplicaFailure')?.reason, 'FailedCreate');
  const second = replicaSetStatus({ ...set, status: first }, [], 0, 'pods "b" is forbidden', nowMs + 5000);
  assert.deepEqual(second.conditions, first.conditions);
  assert.equal(replicaSetStatus({ ...set, status: second }, [], 0, undefined, nowMs).conditions, undefined);
});

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
