import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedulerInWords } from '../../../../src/diagnosis/words/scheduler.ts';

const asks = new Map([
  ['cpu', '4'],
  ['memory', '8Gi'],
]);
const unhelpful = (n: number): string =>
  `preemption: 0/${n} nodes are available: ${n} Preemption is not helpful for scheduling.`;

/** As schedulers of these versions wrote it. */
const said: { version: string; text: string; want: string }[] = [
  {
    version: '1.30',
    text: '0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}. preemption: 0/5 nodes are available: 2 Preemption is not helpful for scheduling, 3 No preemption victims found for incoming pod.',
    want: 'no node fits: 3 of 5 lack cpu (needs 4); 2 of 5 nodes have taint gpu',
  },
  {
    version: '1.36',
    text: '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    want: 'no node fits: 1 of 3 has taints that the pod does not tolerate; 2 of 3 nodes lack cpu (needs 4)',
  },
  {
    version: '1.36, as recorded',
    text: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    want: 'its volume claim is not bound yet',
  },
  {
    version: '1.36, as recorded',
    text: 'no nodes available to schedule pods',
    want: 'the cluster has no node for pods',
  },
  {
    version: '1.34',
    text: "0/7 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod anti-affinity rules, 2 node(s) had untolerated taint(s), 3 Insufficient cpu, 3 Insufficient memory.",
    want: "no node fits: 1 of 7 does not match the pod's node selector; 1 of 7 nodes has a pod that it must not stand beside; 2 of 7 nodes have taints that the pod does not tolerate; 3 of 7 nodes lack cpu (needs 4); 3 of 7 nodes lack memory (needs 8Gi)",
  },
  {
    version: '1.28',
    text: `0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) didn't match Pod's node affinity/selector. ${unhelpful(4)}`,
    want: "no node fits: 1 of 4 is a control plane node; 3 of 4 nodes do not match the pod's node selector",
  },
  {
    version: '1.27',
    text: `0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }. ${unhelpful(1)}.`,
    want: 'the only node is out of reach',
  },
  {
    version: '1.26',
    text: `0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: batch}. ${unhelpful(2)}`,
    want: 'both nodes have taint dedicated=batch',
  },
  {
    version: '1.24',
    text: `0/1 nodes are available: 1 persistentvolumeclaim "example-pvc" not found. ${unhelpful(1)}`,
    want: 'its volume claim example-pvc does not exist',
  },
  {
    version: '1.22',
    text: "0/4 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 3 Insufficient memory.",
    want: 'no node fits: 1 of 4 is a control plane node; 3 of 4 nodes lack memory (needs 8Gi)',
  },
  {
    version: '1.19',
    text: "0/3 nodes are available: 1 node(s) didn't match node selector, 2 node(s) had volume node affinity conflict.",
    want: "no node fits: 1 of 3 does not match the pod's node selector; 2 of 3 nodes cannot reach its volume",
  },
  {
    version: '1.16',
    text: "0/6 nodes are available: 3 node(s) had taints that the pod didn't tolerate, 3 node(s) were unschedulable.",
    want: 'no node fits: 3 of 6 have taints that the pod does not tolerate; 3 of 6 nodes are cordoned',
  },
  {
    version: 'any',
    text: '0/9 nodes are available: 1 Too many pods, 1 node(s) exceed max volume count, 7 Insufficient nvidia.com/gpu.',
    want: 'no node fits: 1 of 9 has all the pods it may; 1 of 9 nodes has all the volumes allowed; 7 of 9 nodes lack nvidia.com/gpu',
  },
  {
    version: 'any',
    text: "0/3 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't match pod topology spread constraints (missing required label).",
    want: 'no node fits: 1 of 3 has its host port in use; 2 of 3 nodes would break its topology spread',
  },
  {
    version: 'of tomorrow: said as it is',
    text: '0/3 nodes are available: 1 node(s) were in a bad mood, 2 Insufficient cpu. preemption: not today.',
    want: 'no node fits: 1 of 3 node(s) were in a bad mood; 2 of 3 nodes lack cpu (needs 4)',
  },
  {
    version: 'of tomorrow, of all nodes',
    text: '0/3 nodes are available: 3 node(s) were in a bad mood.',
    want: 'no node fits: 3 of 3 node(s) were in a bad mood',
  },
  { version: 'of another scheduler: said as it is', text: 'queue "batch" is full', want: 'queue "batch" is full' },
];
for (const { version, text, want } of said)
  test(`scheduler ${version}: ${want}`, () => assert.equal(schedulerInWords(text, asks), want));

test('what a pod asks for is only said when it is known, and nothing makes it throw', () => {
  assert.equal(schedulerInWords('0/1 nodes are available: 1 Insufficient cpu.'), 'the only node lacks cpu');
  for (const text of ['', '0/5 nodes are available:', '0/x nodes', 'x'.repeat(10_000)])
    assert.ok(schedulerInWords(text).length <= 400);
});
