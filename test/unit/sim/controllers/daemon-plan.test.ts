import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeObject, PodObject } from '../../../../src/sim/common/shapes.ts';
import {
  type DaemonSetObject,
  daemonSetStatus,
  nodeOf,
  pinnedTo,
  placesOf,
  planDaemonSet,
} from '../../../../src/sim/controllers/daemon-plan.ts';
import { aNode, aPod, meta, nowMs } from './objects.ts';

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
