import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evictAtMs, silenced, taintsFor } from '../../../../src/sim/controllers/judge-node.ts';
import { aNode, aPod, at, nowMs } from './objects.ts';

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
