import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../src/actions/table.ts';
import { aPodOf, imageWorld, podWorld, restartWorld, scaleWorld } from '../unit/controller/action-worlds.ts';
import { good, imageOf, quotaWorld, template, undoWorld, type World } from '../unit/controller/world.ts';
import { type Ending, liveThrough, type Stage } from './chaos.ts';
import { forSeeds, randomOf } from './random.ts';

const counts = (n: number) => ({ replicas: 3, updatedReplicas: 3, readyReplicas: n, availableReplicas: n });
const change = ({ server }: World, patch: object) => void server.change('Deployment', 'shop', 'checkout', patch);

/** The Deployment's controller: what was rolled out becomes ready, or does not. */
const rollOut =
  (isGood: (world: World) => boolean) =>
  (world: World, delayMs: number | undefined): void => {
    const { generation } = world.server.get('Deployment', 'shop', 'checkout')!.metadata;
    change(world, { status: { ...counts(0), observedGeneration: generation } });
    if (delayMs === undefined) return;
    void world.clock.sleep(delayMs).then(() => {
      const now = world.server.get('Deployment', 'shop', 'checkout');
      if (now && isGood(world))
        change(world, { status: { ...counts(3), observedGeneration: now.metadata.generation } });
    });
  };

const isWhole = ({ server }: World): boolean => {
  const live = server.get('Deployment', 'shop', 'checkout');
  return !live || (live['status'] as { availableReplicas?: number }).availableReplicas === 3;
};

const undo: Stage = {
  make: undoWorld,
  kind: 'Deployment',
  name: 'checkout',
  others: {
    'rolls out another image': (world) => change(world, { spec: { template: template('shop/checkout:1.43') } }),
    'deletes it': ({ server }) => void server.remove('Deployment', 'shop', 'checkout'),
    'touches an annotation': (world) => change(world, { metadata: { annotations: { 'example.com/seen': 'yes' } } }),
    'writes its status': (world) => change(world, { status: { replicas: 2 } }),
    'pauses it': (world) => change(world, { spec: { paused: true } }),
  },
  follow: rollOut(({ server }) => imageOf(server) === good),
  isHealthy: isWhole,
};

/** Done twice it would be another restart: what was lost on the way must not lead to that. */
const restart: Stage = { ...undo, make: restartWorld('Deployment'), follow: rollOut(() => true) };

const patchImage: Stage = { ...undo, make: imageWorld };

const scaling: Stage = {
  ...undo,
  make: scaleWorld,
  others: { ...undo.others, 'scales it otherwise': (world) => change(world, { spec: { replicas: 7 } }) },
  follow: rollOut(
    ({ server }) => (server.get('Deployment', 'shop', 'checkout')!['spec'] as { replicas: number }).replicas === 3,
  ),
};

const pod: Stage = {
  make: podWorld('Deployment'),
  kind: 'Pod',
  name: 'checkout-x2x4z',
  others: {
    'deletes it': ({ server }) => void server.remove('Pod', 'shop', 'checkout-x2x4z'),
    'puts another in its place': ({ server }) => {
      const { uid } = server.get('ReplicaSet', 'shop', 'checkout')!.metadata;
      server.remove('Pod', 'shop', 'checkout-x2x4z');
      aPodOf(server, 'ReplicaSet', uid, 'checkout-x2x4z');
    },
    'writes its status': ({ server }) =>
      server.get('Pod', 'shop', 'checkout-x2x4z') &&
      void server.change('Pod', 'shop', 'checkout-x2x4z', { status: { message: 'seen' } }),
  },
  follow: rollOut(() => true),
  isHealthy: isWhole,
};

const quota: Stage = {
  make: quotaWorld,
  kind: 'ResourceQuota',
  name: 'tight',
  others: {
    'raises the limit': ({ server }) =>
      server.get('ResourceQuota', 'shop', 'tight') &&
      void server.change('ResourceQuota', 'shop', 'tight', { spec: { hard: { pods: '9' } } }),
    'deletes it': ({ server }) => void server.remove('ResourceQuota', 'shop', 'tight'),
    'puts another in its place': ({ server }) => {
      server.remove('ResourceQuota', 'shop', 'tight');
      server.seed('ResourceQuota', 'shop', { metadata: { name: 'tight' }, spec: { hard: { pods: '0' } } });
    },
    'touches an annotation': ({ server }) =>
      server.get('ResourceQuota', 'shop', 'tight') &&
      void server.change('ResourceQuota', 'shop', 'tight', { metadata: { annotations: { seen: 'yes' } } }),
  },
  follow: () => undefined, // a nudged ReplicaSet makes its pods: see quotaWorld
  isHealthy: ({ server }) =>
    ['api', 'web'].every((name) => {
      const { status } = server.get('Deployment', 'shop', name) as unknown as {
        status: { availableReplicas?: number };
      };
      return status.availableReplicas === 2;
    }),
};

const endings = ['Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved'];

const stages = { undo, 'quota deletion': quota, restart, 'pod deletion': pod, 'image change': patchImage, scaling };

test('every action is among them', () => assert.equal(Object.keys(stages).length, actions.length));

for (const [name, stage] of Object.entries(stages))
  test(`${name}: whatever is killed, lost, refused or changed by others, at most one change, of what was shown`, async () => {
    const all = await forSeeds(200, async (seed) => {
      const ending = await liveThrough(stage, randomOf(seed));
      assert.ok(ending.changes <= 1, `changed ${ending.changes} times`);
      assert.equal(ending.blind, 0, `changed what was not shown (somebody ${ending.other})`);
      assert.equal(ending.rash, 0, 'said Recovered too early');
      assert.equal(ending.bindings, 0, 'rights are left');
      assert.ok(endings.includes(ending.phase ?? ''), `ended as ${ending.phase} (${JSON.stringify(ending)})`);
      // Of a quota somebody has to be nudged, which the faults may prevent; the others heal, however their answers were lost.
      const isDone = stage !== quota && ending.changes === 1 && ending.heals && !ending.other;
      if (isDone) assert.equal(ending.phase, 'Recovered', 'applied and healthy, but not said');
      return ending;
    });
    const share = (holds: (ending: Ending) => boolean): number => all.filter(holds).length / all.length;
    if (process.env['SEED']) return;
    // Otherwise the seeds would prove nothing.
    assert.ok(share(({ phase }) => phase === 'Recovered') > 0.25, 'too few recover');
    assert.ok(share(({ phase }) => phase === 'Failed') > 0.05, 'too few fail');
    assert.ok(share(({ faults }) => faults > 5) > 0.2, 'too few faults');
    assert.ok(share(({ kills, changes }) => kills > 0 && changes > 0) > 0.25, 'too few kills');
  });
