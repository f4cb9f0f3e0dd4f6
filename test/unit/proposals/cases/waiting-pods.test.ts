import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, waiting } from '../../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

test('no sandbox: why, and on which node', async () => {
  const creating = { ...waiting('ContainerCreating'), spec: { nodeName: 'worker-3' } };
  const { say, ask } = aRollout({ pods: [creating], oldPods: [{ ready: true }] });
  say(
    'FailedCreatePodSandBox',
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a": plugin type="calico" failed (add): no',
  );
  assert.deepEqual(shown((await ask('SandboxFailed'))!), {
    why: 'the network plugin calico fails: no',
    seen: ['1 of 2 pods cannot start', 'on node worker-3'],
    fix: 'Nothing of it runs; it is evicted and made anew, maybe on another node. Nothing to undo: ReplicaSet web-2 makes a new pod.',
  });
  const root = aRollout({
    pods: [waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root')],
  });
  assert.equal((await root.ask('SandboxFailed'))?.diagnosis, 'container app may not run as root, and its image does');
});

test('evictions: why, how many, from where; a pod that is well is none', async () => {
  const evicted = (nodeName: string) => ({
    spec: { nodeName },
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. ',
      containerStatuses: [],
    },
  });
  const { ask } = aRollout({ pods: [evicted('a'), evicted('b'), { ready: true }] });
  assert.deepEqual(shown((await ask('Evicted'))!), {
    why: 'the node was low on memory (20Mi left, it keeps 100Mi free)',
    seen: ['2 pods were evicted', 'on 2 nodes: a, b'],
    fix: 'no one-tap fix',
  });
});
