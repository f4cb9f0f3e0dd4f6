import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/kube/api.ts';
import { aRollout } from '../../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

const nodeWith = (status: string, message: string, over: object = {}) => ({
  metadata: { name: 'worker-3' },
  status: {
    conditions: [
      { type: 'Ready', status, message, lastTransitionTime: '2026-11-16T03:11:20Z' },
      ...((over as { also?: object[] }).also ?? []),
    ],
  },
});
const nodes: { name: string; node: object; want: string }[] = [
  {
    name: 'silence',
    node: nodeWith('Unknown', 'Kubelet stopped posting node status.'),
    want: 'kubelet has stopped posting its status',
  },
  {
    name: 'its own word',
    node: nodeWith('False', 'container runtime is down'),
    want: 'kubelet says that it is not ready: container runtime is down',
  },
  {
    name: 'pressure',
    node: nodeWith('False', 'x', {
      also: [
        { type: 'DiskPressure', status: 'True' },
        { type: 'MemoryPressure', status: 'False' },
      ],
    }),
    want: 'kubelet says that it is not ready: x; the node is short of disk',
  },
];
for (const { name, node, want } of nodes)
  test(`a node, by ${name}: ${want}`, async () => {
    const { server, ask } = aRollout({ pods: [{ spec: { nodeName: 'worker-3' } }, { spec: { nodeName: 'other' } }] });
    server.seed('Node', undefined, node);
    server.seed('Pod', 'kube-system', { metadata: { name: 'proxy' }, spec: { nodeName: 'worker-3' } });
    const found = await ask('NodeDown', {}, { kind: 'Node', name: 'worker-3' }, 'tapfix');
    assert.deepEqual(shown(found!), {
      why: want,
      seen: ['1 pod of 1 workload: shop/web 1'],
      fix: 'tapfix does not change nodes',
    });
  });

test('a node whose pods may not be listed is told without them; one that is gone is gone', async () => {
  const { server, ask } = aRollout();
  server.seed('Node', undefined, nodeWith('Unknown', ''));
  server.hooks.before = ({ kind, verb }) => {
    if (kind === 'Pod' && verb === 'list') throw new ApiError('no', 403, 'Forbidden');
  };
  assert.deepEqual((await ask('NodeDown', {}, { kind: 'Node', name: 'worker-3' }, 'tapfix'))?.evidence, []);
  assert.equal(await ask('NodeDown', {}, { kind: 'Node', name: 'nobody' }, 'tapfix'), undefined);
});
