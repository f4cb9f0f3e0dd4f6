import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject } from '../../../../src/sim/common/shapes.ts';
import { evictAtMs, silenced, taintsFor } from '../../../sim/node-lifecycle.ts';
import { aCluster, aWorkload, conditions, counts } from '../cluster.ts';
import { aNode, aPod, at, nowMs } from '../objects.ts';

test('a node that has fallen silent: nothing that kubelet said is known any more', () => {
  const node = aNode('n1', {
    status: {
      conditions: [
        { type: 'NetworkUnavailable', status: 'False' },
        { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: at(-60) },
        { type: 'Ready', status: 'True', lastHeartbeatTime: at(-60), lastTransitionTime: at(-600) },
      ],
    },
  });
  const conditions = silenced(node, nowMs)!;
  assert.deepEqual(
    conditions.map(({ type, status, reason = '' }) => `${type} ${status} ${reason}`),
    [
      'NetworkUnavailable False ',
      'Ready Unknown NodeStatusUnknown',
      'MemoryPressure Unknown NodeStatusUnknown',
      'DiskPressure Unknown NodeStatusNeverUpdated',
      'PIDPressure Unknown NodeStatusNeverUpdated',
    ],
  );
  assert.deepEqual(conditions[1], {
    type: 'Ready',
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
    lastHeartbeatTime: at(-60),
    lastTransitionTime: at(0),
  });
  assert.equal(silenced({ ...node, status: { conditions } }, nowMs + 5000), undefined);
});

const own = { key: 'dedicated', effect: 'NoSchedule' };

test('it is tainted while it is gone, beside the taints that others gave it', () => {
  const gone = aNode('n1', { ready: 'Unknown', spec: { taints: [own] } });
  const taints = taintsFor(gone, nowMs)!;
  assert.deepEqual(
    taints.map(({ key, effect }) => `${key} ${effect}`),
    ['dedicated NoSchedule', 'node.kubernetes.io/unreachable NoSchedule', 'node.kubernetes.io/unreachable NoExecute'],
  );
  assert.equal(taintsFor({ ...gone, spec: { taints } }, nowMs), undefined);
  assert.deepEqual(taintsFor(aNode('n1', { spec: { taints } }), nowMs), [own]);
  assert.equal(taintsFor(aNode('n1', { spec: { taints: [own] } }), nowMs), undefined);
});

const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: at(-100) };

test('its pods have five minutes, or as long as they say', () => {
  assert.equal(evictAtMs(aPod('p'), [unreachable]), nowMs + 200_000);
  const patient = (tolerationSeconds?: number) =>
    aPod('p', {
      spec: {
        tolerations: [
          {
            key: unreachable.key,
            operator: 'Exists',
            effect: 'NoExecute',
            ...(tolerationSeconds && { tolerationSeconds }),
          },
        ],
      },
    });
  assert.equal(evictAtMs(patient(10), [unreachable]), nowMs - 90_000);
  assert.equal(evictAtMs(patient(), [unreachable]), undefined);
  assert.equal(evictAtMs(aPod('p'), [own]), undefined);
});

const readyNodes = (nodes: readonly NodeObject[]): Record<string, string | undefined> =>
  Object.fromEntries(nodes.map((node) => [node.metadata.name, conditions(node)['Ready']]));

test('a node that is gone with its pods: NotReady, events, eviction after five minutes, and back again', async (t) => {
  const { sim, api, create, advance, deployment, pods, events } = await aCluster(t);
  await create('Deployment', aWorkload({}, { replicas: 20 }));
  await advance(5);
  const there = (await pods()).filter(({ spec }) => spec?.nodeName === 'node-2').map(({ metadata }) => metadata.name);
  assert.equal(there.length, 10);

  sim.stopNode('node-2');
  await advance(40);
  assert.equal(counts(await deployment())['readyReplicas'], 20, 'nobody knows yet');
  await advance(25);
  assert.deepEqual(readyNodes(await api.list<NodeObject>('Node')), {
    'node-1': 'True KubeletReady',
    'node-2': 'Unknown NodeStatusUnknown',
  });
  assert.equal(counts(await deployment())['readyReplicas'], 10);
  const said = await events({ reason: 'NodeNotReady' });
  assert.deepEqual(
    said
      .filter(({ involvedObject }) => involvedObject.kind === 'Pod')
      .map(({ type, message, involvedObject }) => [type, message, involvedObject.name])
      .sort(),
    there.map((name) => ['Warning', 'Node is not ready', name]).sort(),
  );
  const [own] = said.filter(({ involvedObject }) => involvedObject.kind === 'Node');
  assert.deepEqual([own?.type, own?.message], ['Normal', 'Node node-2 status is now: NodeNotReady']);

  await advance(310);
  assert.equal(counts(await deployment())['readyReplicas'], 20, 'others took their place');
  const leaving = (await pods()).filter(({ metadata }) => metadata.deletionTimestamp);
  assert.deepEqual(leaving.map(({ metadata }) => metadata.name).sort(), there.sort());
  assert.equal((await events({ reason: 'TaintManagerEviction' })).length, 10);

  sim.startNode('node-2');
  await advance(20);
  assert.equal(readyNodes(await api.list<NodeObject>('Node'))['node-2'], 'True KubeletReady');
  const nodeTwo = (await api.get<NodeObject>({ kind: 'Node', name: 'node-2' }))!;
  assert.deepEqual(nodeTwo.spec?.taints ?? [], []);
  assert.equal((await pods()).length, 20);
});

test('back before anybody was evicted: its pods are ready again', async (t) => {
  const { sim, create, advance, deployment } = await aCluster(t);
  await create('Deployment', aWorkload({}, { replicas: 4 }));
  await advance(5);
  sim.stopNode('node-1');
  await advance(80);
  assert.equal(counts(await deployment())['readyReplicas'], 2);
  sim.startNode('node-1');
  await advance(5);
  assert.equal(counts(await deployment())['readyReplicas'], 4);
});
