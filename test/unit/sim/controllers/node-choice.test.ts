import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../../../../src/sim/common/shapes.ts';
import { chooseNode, noLoad, requestsOf } from '../../../../src/sim/controllers/node-choice.ts';
import { aNode, aPod } from '../objects.ts';

const asking = (cpu: string, memory = '16Mi'): PodSpec => ({
  containers: [{ name: 'app', resources: { requests: { cpu, memory } } }],
});
const pod = (spec: PodSpec = {}) => aPod('p', { node: '', spec });
const taint = { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' };
const nodes = [aNode('n1'), aNode('n2')];
const half = () => ({ cpu: 1, memory: 0, pods: 3 });
const nobody = () => noLoad;

test('round robin over those that fit', () => {
  assert.deepEqual(
    [0, 1, 2].map((turn) => chooseNode(pod(), nodes, nobody, turn)),
    [{ node: 'n1' }, { node: 'n2' }, { node: 'n1' }],
  );
});

const cases = [
  {
    name: 'a selector',
    spec: { nodeSelector: { disk: 'ssd' } },
    nodes: [nodes[0]!, aNode('n2', { labels: { disk: 'ssd' } })],
  },
  { name: 'a taint', spec: {}, nodes: [aNode('n1', { spec: { taints: [taint] } }), nodes[1]!] },
  { name: 'a node that does not report', spec: {}, nodes: [aNode('n1', { ready: 'Unknown' }), nodes[1]!] },
  { name: 'a node that is closed', spec: {}, nodes: [aNode('n1', { spec: { unschedulable: true } }), nodes[1]!] },
  { name: 'an affinity', spec: required({ key: 'metadata.name', operator: 'In', values: ['n2'] }), nodes },
];

function required(field: { key: string; operator: string; values: string[] }): PodSpec {
  const nodeSelectorTerms = [{ matchFields: [field] }];
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

for (const { name, spec, nodes } of cases)
  test(`${name} is honoured`, () => assert.deepEqual(chooseNode(pod(spec), nodes, nobody, 0), { node: 'n2' }));

test('a toleration lets it in', () => {
  const tainted = [aNode('n1', { spec: { taints: [taint] } })];
  for (const toleration of [
    { key: 'dedicated', value: 'gpu' },
    { key: 'dedicated', operator: 'Exists' },
    { operator: 'Exists' },
  ])
    assert.deepEqual(chooseNode(pod({ tolerations: [toleration] }), tainted, nobody, 0), { node: 'n1' });
  assert.ok('refusal' in chooseNode(pod({ tolerations: [{ key: 'dedicated', value: 'other' }] }), tainted, nobody, 0));
});

test('what is asked for must fit beside what is promised', () => {
  assert.deepEqual(chooseNode(pod(asking('1')), nodes, half, 0), { node: 'n1' });
  assert.deepEqual(chooseNode(pod(asking('1100m')), nodes, half, 0), {
    refusal:
      '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
  });
});

test('each reason is counted, in the words of the scheduler', () => {
  const mixed = [aNode('n1', { spec: { taints: [taint] } }), aNode('n2'), aNode('n3')];
  assert.deepEqual(chooseNode(pod(asking('100m', '2Gi')), mixed, nobody, 0), {
    refusal:
      '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient memory. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
  });
  assert.deepEqual(chooseNode(pod({ nodeSelector: { a: 'b' } }), nodes, nobody, 0), {
    refusal:
      "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
  });
  assert.deepEqual(chooseNode(pod(), [], nobody, 0), { refusal: 'no nodes available to schedule pods' });
});

test('init containers run one at a time, the others side by side', () => {
  const one = (cpu: string) => ({ name: cpu, resources: { requests: { cpu } } });
  assert.equal(requestsOf({ containers: [one('1'), one('500m')], initContainers: [one('1'), one('1')] }).cpu, 1.5);
  assert.equal(requestsOf({ containers: [one('1')], initContainers: [one('3')] }).cpu, 3);
});
