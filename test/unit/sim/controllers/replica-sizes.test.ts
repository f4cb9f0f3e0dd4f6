import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  recreateStep,
  rollingStep,
  rolloutBounds,
  roomForNew,
  scaleStep,
  wasScaled,
} from '../../../../src/sim/controllers/replica-sizes.ts';
import { aDeployment, aSet } from '../objects.ts';

const fences = [
  { name: 'a quarter each way by default: surge rounds up, unavailable down', spec: { replicas: 3 }, want: [1, 0] },
  { name: 'of ten', spec: { replicas: 10 }, want: [3, 2] },
  {
    name: 'both rounded to nothing would be a standstill',
    spec: { replicas: 3, strategy: rolling(0, '25%') },
    want: [0, 1],
  },
  { name: 'numbers are taken as they are', spec: { replicas: 3, strategy: rolling(2, 1) }, want: [2, 1] },
  { name: 'never more than all', spec: { replicas: 3, strategy: rolling(0, '200%') }, want: [0, 3] },
  { name: 'Recreate has none', spec: { replicas: 3, strategy: { type: 'Recreate' } }, want: [0, 0] },
];

function rolling(maxSurge: number | string, maxUnavailable: number | string) {
  return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
}

for (const { name, spec, want } of fences) {
  test(`fences: ${name}`, () => {
    const { surge, unavailable } = rolloutBounds(aDeployment(spec));
    assert.deepEqual([surge, unavailable], want);
  });
}

test('a first ReplicaSet gets all pods; one beside an old one only the surge', () => {
  assert.equal(roomForNew(aDeployment(), 0, []), 3);
  assert.equal(roomForNew(aDeployment(), 0, [aSet('old', { size: 3, available: 3 })]), 1);
});

const steps = [
  {
    name: 'the new one grows into the surge',
    fresh: aSet('new', { size: 0 }),
    old: [aSet('old', { size: 3, available: 3 })],
    want: { new: 1 },
  },
  {
    name: 'a new pod that is available lets an old one go',
    fresh: aSet('new', { size: 1, available: 1 }),
    old: [aSet('old', { size: 3, available: 3 })],
    want: { old: 2 },
  },
  {
    name: 'a new pod that crashes keeps every old one serving',
    fresh: aSet('new', { size: 1, available: 0 }),
    old: [aSet('old', { size: 3, available: 3 })],
    want: {},
  },
  {
    name: 'old pods that are not available go first: it costs nothing',
    fresh: aSet('new', { size: 0 }),
    old: [aSet('older', { size: 1, available: 0, age: 9000 }), aSet('old', { size: 3, available: 3 })],
    want: { older: 0 },
  },
  {
    name: 'a broken old pod stays while the new ones are not there either: nothing more may be lost',
    spec: { replicas: 10, strategy: rolling(3, 2) },
    fresh: aSet('new', { size: 5, available: 0 }),
    old: [aSet('old', { size: 8, available: 7 })],
    want: {},
  },
  {
    name: 'as many may be down at once as the Deployment says',
    spec: { strategy: rolling(0, '100%') },
    fresh: aSet('new', { size: 0 }),
    old: [aSet('old', { size: 3, available: 3 })],
    want: { old: 0 },
  },
  {
    name: 'a new one that is too large shrinks at once',
    spec: { replicas: 2 },
    fresh: aSet('new', { size: 5, available: 5 }),
    old: [],
    want: { new: 2 },
  },
  { name: 'nothing to do', fresh: aSet('new', { size: 3, available: 3 }), old: [aSet('old', { size: 0 })], want: {} },
];

for (const { name, spec, fresh, old, want } of steps)
  test(`rolling: ${name}`, () => assert.deepEqual(rollingStep(aDeployment(spec), fresh, old), want));

test('recreate: old ones first, the new one when no old pod is left', () => {
  const deployment = aDeployment({ strategy: { type: 'Recreate' } });
  const gone = aSet('old', { size: 0 });
  assert.deepEqual(recreateStep(deployment, undefined, [aSet('old', { size: 3 })], true), { old: 0 });
  assert.deepEqual(recreateStep(deployment, aSet('new', { size: 0 }), [gone], true), {});
  assert.deepEqual(recreateStep(deployment, aSet('new', { size: 0 }), [gone], false), { new: 3 });
});

const then = (desired: number, max = desired) => ({
  'deployment.kubernetes.io/desired-replicas': String(desired),
  'deployment.kubernetes.io/max-replicas': String(max),
});

test('scaling is seen by what the ReplicaSets were sized for', () => {
  assert.equal(wasScaled(aDeployment(), [aSet('new', { size: 3, annotations: then(3) })]), false);
  assert.equal(wasScaled(aDeployment(), [aSet('new', { size: 3, annotations: then(2) })]), true);
  assert.equal(wasScaled(aDeployment(), [aSet('gone', { size: 0, annotations: then(2) })]), false);
});

const scalings = [
  {
    name: 'the only living ReplicaSet takes it all',
    spec: { replicas: 5 },
    fresh: aSet('new', { size: 3, annotations: then(3, 4) }),
    old: [aSet('old', { size: 0 })],
    want: { new: 5 },
  },
  {
    name: 'in the middle of a rollout all share it in proportion',
    spec: { replicas: 20, strategy: rolling(0, 1) },
    fresh: aSet('new', { size: 5, annotations: then(10) }),
    old: [aSet('old', { size: 5, annotations: then(10), age: 9000 })],
    want: { new: 10, old: 10 },
  },
  {
    name: 'of two of the same size the newer one grows first',
    spec: { replicas: 11, strategy: rolling(0, 1) },
    fresh: aSet('new', { size: 5, annotations: then(10) }),
    old: [aSet('old', { size: 5, annotations: then(10), age: 9000 })],
    want: { new: 6, old: 5 },
  },
  {
    name: 'also down',
    spec: { replicas: 5, strategy: rolling(0, 1) },
    fresh: aSet('new', { size: 8, annotations: then(10) }),
    old: [aSet('old', { size: 2, annotations: then(10), age: 9000 })],
    want: { new: 4, old: 1 },
  },
  {
    name: 'to nothing',
    spec: { replicas: 0 },
    fresh: aSet('new', { size: 1, annotations: then(3, 4) }),
    old: [aSet('old', { size: 3, annotations: then(3, 4) })],
    want: { new: 0, old: 0 },
  },
  {
    name: 'what the new one already has in full, the old ones lose',
    spec: { replicas: 3 },
    fresh: aSet('new', { size: 3, available: 3, annotations: then(3, 4) }),
    old: [aSet('old', { size: 1, annotations: then(2, 3) })],
    want: { old: 0 },
  },
];

for (const { name, spec, fresh, old, want } of scalings)
  test(`scaling: ${name}`, () => assert.deepEqual(scaleStep(aDeployment(spec), fresh, old), want));
