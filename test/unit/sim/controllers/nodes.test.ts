import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject } from '../../../../src/sim/common/shapes.ts';
import { aCluster, aWorkload, conditions, counts } from './cluster.ts';

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

test('pods that no node will have are told why, and bound as soon as one will', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  const container = { resources: { requests: { cpu: '3', memory: '16Mi' } } };
  await create('Deployment', aWorkload({ container }, { replicas: 3 }));
  await advance(5);
  const [waiting] = (await pods()).filter(({ spec }) => !spec?.nodeName);
  const refusal =
    '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.';
  const scheduled = waiting?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  assert.deepEqual([scheduled?.status, scheduled?.reason, scheduled?.message], ['False', 'Unschedulable', refusal]);
  assert.equal(waiting?.status?.phase, 'Pending');
  const [event] = await events({ reason: 'FailedScheduling' });
  assert.equal(event?.message, refusal);
  assert.equal(event.reportingComponent, 'default-scheduler');
  assert.deepEqual([event.firstTimestamp ?? null, event.count, event.source ?? {}], [null, undefined, {}]);
  assert.match((event as unknown as { eventTime: string }).eventTime, /^\d{4}-.*\.\d{6}Z$/);

  const [placed] = (await pods()).filter(({ spec }) => spec?.nodeName);
  await api.delete({ kind: 'Pod', namespace: 'shop', name: placed!.metadata.name });
  await advance(5);
  const now = await api.get({ kind: 'Pod', namespace: 'shop', name: waiting!.metadata.name });
  assert.ok((now as { spec?: { nodeName?: string } }).spec?.nodeName);
});
