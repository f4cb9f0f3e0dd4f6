import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeploymentStatus, StatusCondition } from '../../../../src/sim/common/shapes.ts';
import { conditionOf } from '../../../../src/sim/common/status-writing.ts';
import { rolloutStatus, timesOutAtMs } from '../../../../src/sim/controllers/deployment-status.ts';
import { aDeployment, aSet, at, nowMs } from '../objects.ts';

const progressing = (reason: string, over: Partial<StatusCondition> = {}): StatusCondition => ({
  type: 'Progressing',
  status: 'True',
  reason,
  message: 'as before',
  lastUpdateTime: at(-60),
  lastTransitionTime: at(-60),
  ...over,
});

const before = (counts: DeploymentStatus, condition: StatusCondition): DeploymentStatus => ({
  ...counts,
  conditions: [condition],
});

test('counts of zero are left out, but for those that are terminating', () => {
  const status = rolloutStatus(aDeployment(), aSet('new', { size: 3, replicas: 0 }), [], nowMs);
  assert.deepEqual(Object.keys(status).sort(), [
    'conditions',
    'observedGeneration',
    'terminatingReplicas',
    'unavailableReplicas',
  ]);
  assert.equal(status.unavailableReplicas, 3);
});

test('old and new pods are counted together, the updated ones apart', () => {
  const status = rolloutStatus(
    aDeployment(),
    aSet('new', { size: 1 }),
    [aSet('old', { size: 3, available: 3, status: { terminatingReplicas: 1 } })],
    nowMs,
  );
  const { conditions: _, ...counts } = status;
  assert.deepEqual(counts, {
    observedGeneration: 1,
    replicas: 4,
    updatedReplicas: 1,
    readyReplicas: 3,
    availableReplicas: 3,
    unavailableReplicas: 1,
    terminatingReplicas: 1,
  });
});

const full = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const cases = [
  {
    name: 'all there: the rollout has succeeded',
    status: before({ ...full, availableReplicas: 2 }, progressing('ReplicaSetUpdated')),
    fresh: aSet('new', { size: 3, available: 3 }),
    want: { reason: 'NewReplicaSetAvailable', status: 'True', lastTransitionTime: at(-60), lastUpdateTime: at(0) },
  },
  {
    name: 'one more is ready: it progresses, and that is written down anew',
    status: before({ replicas: 3, updatedReplicas: 3 }, progressing('ReplicaSetUpdated')),
    fresh: aSet('new', { size: 3, available: 1 }),
    want: { reason: 'ReplicaSetUpdated', lastUpdateTime: at(0), lastTransitionTime: at(-60) },
  },
  {
    name: 'nothing new within the deadline: as before',
    status: before({ replicas: 3, updatedReplicas: 3 }, progressing('ReplicaSetUpdated')),
    fresh: aSet('new', { size: 3 }),
    want: { reason: 'ReplicaSetUpdated', lastUpdateTime: at(-60) },
  },
  {
    name: 'nothing new for longer: the deadline is missed',
    status: before({ replicas: 3, updatedReplicas: 3 }, progressing('ReplicaSetUpdated', { lastUpdateTime: at(-601) })),
    fresh: aSet('new', { size: 3 }),
    want: {
      reason: 'ProgressDeadlineExceeded',
      status: 'False',
      message: 'ReplicaSet "new" has timed out progressing.',
      lastTransitionTime: at(0),
    },
  },
  {
    name: 'one old pod fewer is progress too',
    status: before(
      { replicas: 4, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3 },
      progressing('ReplicaSetUpdated'),
    ),
    fresh: aSet('new', { size: 1 }),
    old: [aSet('old', { size: 2, available: 2 })],
    want: { reason: 'ReplicaSetUpdated', lastUpdateTime: at(0) },
  },
  {
    name: 'pods that come back after the rollout succeeded are no new rollout',
    status: before({ ...full, readyReplicas: 0, availableReplicas: 0 }, progressing('NewReplicaSetAvailable')),
    fresh: aSet('new', { size: 3, available: 1 }),
    want: { reason: 'NewReplicaSetAvailable', lastUpdateTime: at(-60) },
  },
  {
    name: 'pods that crash after the rollout succeeded are no failed rollout',
    status: before(full, progressing('NewReplicaSetAvailable', { lastUpdateTime: at(-9000) })),
    fresh: aSet('new', { size: 3, available: 0 }),
    want: { reason: 'NewReplicaSetAvailable', lastUpdateTime: at(-9000) },
  },
];

for (const { name, status, fresh, old = [], want } of cases) {
  test(name, () => {
    const next = rolloutStatus(aDeployment({}, status), fresh, old, nowMs);
    const condition = conditionOf(next.conditions, 'Progressing')!;
    const about = Object.fromEntries(Object.keys(want).map((key) => [key, condition[key as keyof StatusCondition]]));
    assert.deepEqual(about, want);
  });
}

test('availability is a matter of how many may be missing', () => {
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
  const with2 = aSet('new', { size: 3, available: 2 });
  const reason = (deployment: ReturnType<typeof aDeployment>): string | undefined =>
    conditionOf(rolloutStatus(deployment, with2, [], nowMs).conditions, 'Available')?.reason;
  assert.equal(reason(aDeployment()), 'MinimumReplicasUnavailable');
  assert.equal(reason(aDeployment({ strategy })), 'MinimumReplicasAvailable');
});

test("a ReplicaSet's failure is the Deployment's too, until it is over", () => {
  const failure: StatusCondition = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'pods "x" is forbidden: exceeded quota: tight',
    lastTransitionTime: at(-5),
  };
  const blocked = aSet('new', { size: 3, replicas: 0, status: { conditions: [failure] } });
  const status = rolloutStatus(aDeployment(), blocked, [], nowMs);
  assert.deepEqual(conditionOf(status.conditions, 'ReplicaFailure'), { ...failure, lastUpdateTime: at(-5) });
  const after = rolloutStatus(aDeployment({}, status), aSet('new', { size: 3, available: 3 }), [], nowMs);
  assert.equal(conditionOf(after.conditions, 'ReplicaFailure'), undefined);
});

test('who waits for a deadline, and who does not', () => {
  const status = (reason: string): DeploymentStatus => before({}, progressing(reason));
  assert.equal(timesOutAtMs(aDeployment(), status('ReplicaSetUpdated')), nowMs + 540_000);
  assert.equal(timesOutAtMs(aDeployment({ progressDeadlineSeconds: 60 }), status('ReplicaSetUpdated')), nowMs);
  assert.equal(timesOutAtMs(aDeployment({ progressDeadlineSeconds: 2 ** 31 - 1 }), status('x')), undefined);
  for (const over of ['NewReplicaSetAvailable', 'ProgressDeadlineExceeded'])
    assert.equal(timesOutAtMs(aDeployment(), status(over)), undefined);
});
