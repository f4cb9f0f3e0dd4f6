import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, madeItWorse } from '../../../src/kube/remediation.ts';
import { health, quotaWorld, undoWorld, type World } from './world.ts';

/** Applied, and not recovered in time; `ready` of three before, and after. */
async function failedWorld(before: number, after: number): Promise<World> {
  const world = undoWorld();
  world.config.recovery = { stableFor: 30_000, timeout: 120_000 };
  const readHealth = async () =>
    health({ healthy: false, why: 'sick', ready: world.phase() === 'Approved' ? before : after });
  world.start({}, { readHealth });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(200_000);
  return world;
}

test('a fix after which fewer are ready than before is said to have made it worse', async () => {
  const world = await failedWorld(2, 0);
  const { reason, message } = conditionOf(world.fix(), 'Failed')!;
  assert.deepEqual([world.phase(), reason], ['Failed', 'NotRecovered']);
  assert.equal(message, 'it made it worse, 0 ready and 2 before it; did not recover within 2 min: sick');
  assert.deepEqual(madeItWorse(world.fix()), { before: 2, after: 0 });
  assert.match(world.fix().status?.execution?.undo ?? '', /^kubectl -n shop /);
  const told = world.server.list('Event').find((event) => event['reason'] === 'FixFailed');
  assert.match(String(told?.['message']), /made it worse/);
});

test('one after which as few are ready only did not help', async () => {
  const world = await failedWorld(1, 1);
  assert.equal(world.phase(), 'Failed');
  assert.equal(madeItWorse(world.fix()), undefined);
  assert.equal(conditionOf(world.fix(), 'Failed')?.message, 'did not recover within 2 min: sick');
});

test('what comes and goes as before is not called worse for the moment at which its time is over', async () => {
  const world = undoWorld();
  world.config.recovery = { stableFor: 30_000, timeout: 120_000 };
  // 40 s up and 20 s down, all the time: up when it was approved, down when its time is over.
  const ready = (): number => (world.clock.now() % 60_000 < 40_000 ? 2 : 0);
  let last = -1;
  const readHealth = async () => {
    if (world.phase() !== 'Failed') last = ready();
    return health({ healthy: false, why: 'sick', ready: ready() });
  };
  world.start({}, { readHealth });
  await world.clock.advance(60_000 - (world.clock.now() % 60_000) + 10_000);
  world.approve();
  await world.clock.advance(200_000);
  assert.deepEqual([world.phase(), last], ['Failed', 0]);
  assert.equal(world.fix().status?.execution?.readyBefore, 2);
  assert.equal(madeItWorse(world.fix()), undefined);
  assert.equal(conditionOf(world.fix(), 'Failed')?.message, 'did not recover within 2 min: sick');
});

test('of a quota those whom it blocked are compared, before and after', async () => {
  const world = quotaWorld();
  world.server.change('Deployment', 'shop', 'api', {
    status: { replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1 },
  });
  world.config.recovery = { stableFor: 30_000, timeout: 120_000 };
  world.server.hooks.after = ({ verb, kind, dryRun }) => {
    if (verb === 'delete' && kind === 'ResourceQuota' && !dryRun)
      world.server.change('Deployment', 'shop', 'api', { status: { readyReplicas: 0, availableReplicas: 0 } });
  };
  world.start();
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(200_000);
  assert.deepEqual([world.phase(), madeItWorse(world.fix())], ['Failed', { before: 1, after: 0 }]);
});
