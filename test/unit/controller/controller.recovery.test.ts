import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unreachable } from '../../../src/kube/api.ts';
import { conditionOf, madeItWorse } from '../../../src/kube/remediation.ts';
import { bad, good, health, imageOf, quotaWorld, undoWorld, type World } from './world.ts';

async function proposed(make: () => World): Promise<World> {
  const world = make();
  world.start();
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Proposed');
  return world;
}

const reason = (world: World): string | undefined => conditionOf(world.fix(), world.phase() ?? '')?.reason;

test('what does not recover fails in time, and may still recover within half an hour', async () => {
  const world = undoWorld();
  let healthy = false;
  world.start({}, { readHealth: async () => health({ healthy, why: '0/3 ready' }) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(640_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NotRecovered']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /0\/3 ready/);
  healthy = true;
  await world.clock.advance(40_000);
  assert.equal(world.phase(), 'Recovered');
});

test('a fresh signal starts the window again', async () => {
  const world = await proposed(undoWorld);
  world.approve();
  await world.clock.advance(20_000);
  const sightings = { count: 2, lastSeen: new Date(world.clock.now()).toISOString() };
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { sightings } });
  await world.clock.advance(20_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(15_000);
  assert.equal(world.phase(), 'Recovered');
});

test('good readings with a long silence in between were not "held"', async () => {
  const world = undoWorld();
  world.start();
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Applied');
  world.server.hooks.before = () => {
    throw new Unreachable('down');
  };
  await world.clock.advance(120_000);
  delete world.server.hooks.before;
  await world.clock.advance(29_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Recovered');
});

test('scaled to zero after the fix is not a recovery', async () => {
  const world = undoWorld();
  const live = () =>
    imageOf(world.server) === good ? health({ ended: 'it was scaled to zero' }) : health({ healthy: false });
  world.start({}, { readHealth: async () => live() });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(700_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NotRecovered']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /scaled to zero/);
});

test('what was seen since the fix to die after 50 s must hold for twice that, and the record says so', async () => {
  const world = undoWorld();
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { incident: { class: 'CrashLoop' } } });
  let died = 0;
  const live = () =>
    imageOf(world.server) === good
      ? health({ restarts: died, longestUptimeMs: died * 50_000 })
      : health({ healthy: false });
  world.start({}, { readHealth: async () => live() });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(20_000);
  died = 1;
  await world.clock.advance(10_000);
  died = 0; // a new pod, which has no past
  await world.clock.advance(95_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(10_000);
  assert.equal(world.phase(), 'Recovered');
  assert.match(conditionOf(world.fix(), 'Recovered')?.message ?? '', /held 100 s/);
  assert.equal(world.fix().status?.execution?.stableSeconds, 100);
});

test('what could not be read for a moment was not seen to be healthy: the window begins again', async () => {
  const world = undoWorld();
  let isDown = false;
  const look = async () => {
    if (isDown) throw new Unreachable('down');
    return health({ healthy: imageOf(world.server) === good });
  };
  world.start({}, { readHealth: look });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(20_000);
  isDown = true;
  await world.clock.advance(3_000);
  isDown = false;
  await world.clock.advance(20_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(20_000);
  assert.equal(world.phase(), 'Recovered');
});

const ended = (world: World) => [world.phase(), conditionOf(world.fix(), world.phase() ?? '')?.reason];

test('a Deployment that is deleted after the fix has not recovered', async () => {
  const isGood = (world: World) => imageOf(world.server) !== bad;
  const world: World = undoWorld();
  world.start({}, { readHealth: async () => (isGood(world) ? health({ gone: true }) : health({ healthy: false })) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(700_000);
  assert.deepEqual(ended(world), ['Failed', 'NotRecovered']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /no longer there/);
});

async function applied(live: (world: World) => ReturnType<typeof health>): Promise<World> {
  const world = undoWorld();
  world.start(
    {},
    { readHealth: async () => (imageOf(world.server) === good ? live(world) : health({ healthy: false })) },
  );
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(2_000);
  assert.equal(world.phase(), 'Applied');
  return world;
}

test('one bad reading begins the window again', async () => {
  let isBad = false;
  const world = await applied(() => health({ healthy: !isBad }));
  await world.clock.advance(20_000);
  isBad = true;
  await world.clock.advance(2_000);
  isBad = false;
  await world.clock.advance(25_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(10_000);
  assert.equal(world.phase(), 'Recovered');
});

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
