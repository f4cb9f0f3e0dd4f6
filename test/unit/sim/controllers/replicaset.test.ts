import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf } from '../../../../src/sim/common/conditions.ts';
import { inSlowStart } from '../../../../src/sim/controllers/pod-control.ts';
import { replicaSetStatus } from '../../../../src/sim/controllers/replicaset-status.ts';
import { surplusOf } from '../../../../src/sim/controllers/surplus.ts';
import { retryMs } from '../../../../src/sim/common/loop.ts';
import { aPod, aSet, nowMs } from './objects.ts';

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
