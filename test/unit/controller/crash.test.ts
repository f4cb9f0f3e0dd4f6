import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unreachable } from '../../../src/kube/api.ts';
import type { Call } from '../../support/fake-api.ts';
import { dyingAt, isWrite } from '../../support/fake-api.ts';
import { imageWorld, podWorld, restartWorld, scaleWorld, stuckSetWorld } from './action-worlds.ts';
import type { World } from './world.ts';
import { health, quotaWorld, undoWorld } from './world.ts';

/** Each action, and what differs in how it writes; the other kinds go through the actions' contract. */
const worlds: Record<string, () => World> = {
  undo: undoWorld,
  'quota deletion': quotaWorld,
  'image change': imageWorld,
  scaling: scaleWorld,
  restart: restartWorld('DaemonSet'),
  'pod deletion': podWorld('Deployment'),
  'undo of a StatefulSet that waits': stuckSetWorld,
};
/** A pod that a StatefulSet waits for is evicted after the change: no change of the target, but a nudge. */
const inTheWay = 'checkout-2';
const ofTheTarget = ({ kind, name }: Call): boolean =>
  (kind === 'Pod' && name !== inTheWay) || ['Deployment', 'StatefulSet', 'DaemonSet', 'ResourceQuota'].includes(kind);
const counts = (call: Call): boolean => isWrite(call) && call.kind !== 'Event';

/** Proposed and rehearsed by a first process; then approved. */
async function approvedWorld(make: () => World): Promise<World> {
  const world = make();
  const { stop } = world.start();
  await world.clock.advance(3_000);
  stop();
  await world.clock.advance(100);
  assert.equal(world.phase(), 'Proposed');
  world.server.calls.length = 0;
  world.approve();
  return world;
}

async function writesUntilApplied(make: () => World): Promise<number> {
  const world = await approvedWorld(make);
  const { stop } = world.start();
  await world.clock.advance(5_000);
  assert.equal(world.phase(), 'Applied');
  stop();
  return world.server.calls.filter(counts).length;
}

function nth(n: number): (call: Call) => boolean {
  let seen = 0;
  return (call) => counts(call) && ++seen === n;
}

for (const [name, make] of Object.entries(worlds)) {
  const writes = await writesUntilApplied(make);
  for (const when of ['before', 'after'] as const) {
    for (let n = 1; n <= writes; n++) {
      test(`${name}: a crash ${when} write ${n} of ${writes} ends in one change, recovered, and no rights left`, async () => {
        const world = await approvedWorld(make);
        const first = world.start(dyingAt(nth(n), when));
        await world.clock.advance(5_000);
        first.stop();
        const second = world.start();
        await world.clock.advance(70_000);
        second.stop();
        assert.equal(world.phase(), 'Recovered');
        assert.equal(world.changes().filter(ofTheTarget).length, 1);
        assert.equal(world.server.list('RoleBinding').length, 0);
        assert.equal(world.server.get('Pod', 'shop', inTheWay), undefined);
      });
    }

    test(`${name}: a connection lost ${when} the change arrived ends in one change`, async () => {
      const world = await approvedWorld(make);
      const hook = world.server.hooks[when];
      let isLost = false;
      world.server.hooks[when] = async (call) => {
        await hook?.(call);
        if (isLost || !isWrite(call) || !ofTheTarget(call)) return;
        isLost = true;
        throw new Unreachable('connection reset');
      };
      world.start();
      await world.clock.advance(60_000);
      assert.deepEqual([isLost, world.phase()], [true, 'Recovered']);
      assert.equal(world.changes().filter(ofTheTarget).length, 1);
    });
  }

  test(`${name}: killed in Applying and started again at once, it acts, however healthy it looks at that moment`, async () => {
    const world = await approvedWorld(make);
    const first = world.start(dyingAt(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create', 'before'));
    await world.clock.advance(1_000);
    first.stop();
    assert.equal(world.phase(), 'Applying');
    world.start({}, { readHealth: async () => health() });
    await world.clock.advance(5_000);
    assert.equal(world.changes().filter(ofTheTarget).length, 1);
  });

  for (const found of ['Approved', 'Applying'])
    test(`${name}: two controllers that find it ${found} make one change`, async () => {
      const world = await approvedWorld(make);
      if (found === 'Applying') {
        world.start(dyingAt(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create', 'before'));
        await world.clock.advance(1_000);
        assert.equal(world.phase(), 'Applying');
      }
      const both = [world.start(), world.start()];
      await world.clock.advance(75_000);
      for (const { stop } of both) stop();
      assert.equal(world.phase(), 'Recovered');
      assert.equal(world.changes().filter(ofTheTarget).length, 1);
      assert.equal(world.server.list('RoleBinding').length, 0);
    });
}
