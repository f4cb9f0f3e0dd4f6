import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject, PodObject } from '../../../../src/sim/common/shapes.ts';
import type { RevisionObject } from '../../../sim/controller-revision.ts';
import {
  type DaemonSetObject,
  daemonSetStatus,
  nodeOf,
  pinnedTo,
  placesOf,
  planDaemonSet,
} from '../../../sim/daemonset.ts';
import type { JobObject } from '../../../sim/job.ts';
import { aCluster, aTemplate, aWorkload, counts, namespace } from '../cluster.ts';
import { aNode, aPod, meta, nowMs } from '../objects.ts';

const aDaemon = (spec: DaemonSetObject['spec'] = {}): DaemonSetObject => ({ metadata: meta('agent'), spec });
const on = (node: string, options: Parameters<typeof aPod>[1] & { revision?: string } = {}): PodObject =>
  aPod(`agent-${node}`, { node, labels: { 'controller-revision-hash': options.revision ?? 'new' }, ...options });
const nodes = [aNode('n1'), aNode('n2'), aNode('n3')];
const tainted = aNode('n2', { spec: { taints: [{ key: 'dedicated', effect: 'NoSchedule' }] } });
const down = aNode('n2', { ready: 'Unknown' });

const plan = (set: DaemonSetObject, all: readonly NodeObject[], pods: readonly PodObject[]) => {
  const { create, remove } = planDaemonSet(set, placesOf(set, all, pods), 'new', nowMs);
  return { create, remove: remove.map((pod) => nodeOf(pod)) };
};

const cases = [
  { name: 'one on every node', nodes, pods: [on('n1')], create: ['n2', 'n3'] },
  { name: 'not on one with a taint that it does not tolerate', nodes: [nodes[0]!, tainted], pods: [], create: ['n1'] },
  { name: 'but there it may stay', nodes: [nodes[0]!, tainted], pods: [on('n1'), on('n2')] },
  {
    name: 'not on one that its selector does not match',
    spec: { template: { spec: { nodeSelector: { disk: 'ssd' } } } },
    nodes,
    pods: [on('n1')],
    remove: ['n1'],
  },
  { name: 'it stays on a node that is gone', nodes: [nodes[0]!, down], pods: [on('n1'), on('n2', { ready: false })] },
  {
    name: 'one that failed makes room first',
    nodes: [nodes[0]!],
    pods: [on('n1', { phase: 'Failed', ready: false })],
    remove: ['n1'],
  },
  {
    name: 'an update replaces one at a time',
    nodes,
    pods: ['n1', 'n2', 'n3'].map((node) => on(node, { revision: 'old' })),
    remove: ['n1'],
  },
  { name: 'and waits for it', nodes, pods: [on('n1', { ready: false }), on('n2', { revision: 'old' }), on('n3')] },
  {
    name: 'an old one that is broken goes in any case',
    nodes,
    pods: [on('n1'), on('n2', { revision: 'old', ready: false }), on('n3')],
    remove: ['n2'],
  },
];

for (const { name, spec, nodes: all, pods, create = [], remove = [] } of cases)
  test(name, () => assert.deepEqual(plan(aDaemon(spec), all, pods), { create, remove }));

test('a pod is pinned to its node by affinity and tolerates the trouble of nodes', () => {
  const spec = pinnedTo({ tolerations: [{ key: 'mine' }] }, 'n2');
  assert.equal(nodeOf({ metadata: meta('x'), spec }), 'n2');
  assert.deepEqual(
    spec.tolerations?.map(({ key, effect }) => `${key} ${effect}`),
    [
      'mine undefined',
      'node.kubernetes.io/not-ready NoExecute',
      'node.kubernetes.io/unreachable NoExecute',
      'node.kubernetes.io/disk-pressure NoSchedule',
      'node.kubernetes.io/memory-pressure NoSchedule',
      'node.kubernetes.io/pid-pressure NoSchedule',
      'node.kubernetes.io/unschedulable NoSchedule',
    ],
  );
});

test('counts by node', () => {
  const set = aDaemon();
  const places = placesOf(
    set,
    [...nodes, aNode('n4', { spec: tainted.spec })],
    [on('n1'), on('n2', { ready: false, revision: 'old' }), on('n4')],
  );
  assert.deepEqual(daemonSetStatus(set, places, 'new', nowMs), {
    currentNumberScheduled: 2,
    desiredNumberScheduled: 3,
    numberMisscheduled: 1,
    numberReady: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
    updatedNumberScheduled: 1,
    observedGeneration: 1,
  });
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
