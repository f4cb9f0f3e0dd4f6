import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unreachable } from '../../../src/kube/api.ts';
import { conditionOf, type Remediation } from '../../../src/kube/remediation.ts';
import { type Call, dyingAt, isWrite } from '../../support/fake-api.ts';
import { imageWorld, podWorld, restartWorld, scaleWorld, stuckSetWorld } from './action-worlds.ts';
import { bad, health, imageOf, quotaWorld, undoWorld, type World } from './world.ts';

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

const isJudged = ({ status }: Remediation): boolean =>
  ['Rehearsed', 'Confirmed'].every((type) => status?.conditions?.some((c) => c.type === type));

/** Time passes; somebody approves as soon as there is something to look at. */
async function pass(world: World, ms: number, isOver = () => false): Promise<void> {
  const untilMs = world.clock.now() + ms;
  for (; world.clock.now() < untilMs && !isOver(); await world.clock.advance(1_000))
    if (world.phase() === 'Proposed' && isJudged(world.fix())) world.approve();
}

const nameOf = ({ verb, kind, subresource, body }: Call): string => {
  const { status } = (body ?? {}) as Pick<Remediation, 'status'>;
  const said = kind === 'Remediation' ? (status?.phase ?? (status?.preview && 'preview')) : subresource;
  return [verb, kind, said].filter(Boolean).join(' ');
};

/** Of a life without a crash, from creation to recovery: a new write gets its cases by itself. */
async function writesOf(make: () => World): Promise<string[]> {
  const world = make();
  const { stop } = world.start();
  await pass(world, 60_000);
  assert.equal(world.phase(), 'Recovered');
  stop();
  return world.server.calls.filter(counts).map(nameOf);
}

const ofRights = ['create RoleBinding', 'createSub ServiceAccount token', 'delete RoleBinding'];
const ofEveryLife = [
  'patch Remediation Proposed',
  ...ofRights,
  'patch Remediation preview',
  'patch Remediation Approved',
  'patch Remediation Applying',
  ...ofRights,
  'patch Remediation Applied',
  'patch Remediation Recovered',
];

/** A death at the nth write. */
function deathAt(n: number, when: 'before' | 'after') {
  let seen = 0;
  const client = dyingAt((call) => counts(call) && ++seen === n, when);
  return { client, isDead: () => seen >= n };
}

for (const [name, make] of Object.entries(worlds)) {
  const writes = await writesOf(make);
  test(`${name}: every write of a life has its crashes`, () => {
    const own = writes.filter((what) => ofEveryLife.includes(what));
    assert.deepEqual(own, ofEveryLife);
  });

  for (const when of ['before', 'after'] as const) {
    for (const [index, what] of writes.entries()) {
      test(`${name}: a crash ${when} write ${index + 1}, ${what}, ends in one change, recovered, and no rights left`, async () => {
        const world = make();
        const { client, isDead } = deathAt(index + 1, when);
        const first = world.start(client);
        await pass(world, 60_000, isDead);
        first.stop();
        assert.ok(isDead());
        const second = world.start();
        await pass(world, 75_000); // with a sweep
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

const ended = (world: World) => [world.phase(), conditionOf(world.fix(), world.phase() ?? '')?.reason];

/* Taken up again in Applying. */

async function diedInApplying(): Promise<World> {
  const world = undoWorld();
  const first = world.start(
    dyingAt(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create' && world.phase() === 'Applying', 'before'),
  );
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  first.stop();
  assert.equal(world.phase(), 'Applying');
  return world;
}
const meanwhile: [string, (world: World) => unknown, object, string][] = [
  ['healed by itself', () => undefined, { readHealth: async () => health() }, 'AlreadyHealthy'],
  [
    'protected by now',
    ({ server }) =>
      server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } }),
    {},
    'ProtectedNamespace',
  ],
  ['switched off by now', ({ config }) => (config.actions.allow = []), {}, 'NotAllowed'],
];
for (const [name, change, over, reason] of meanwhile)
  test(`killed in Applying, and two minutes later it is ${name}: nothing is changed`, async () => {
    const world = await diedInApplying();
    change(world);
    await world.clock.advance(120_000);
    world.start({}, over);
    await world.clock.advance(35_000); // what looks healthy must hold for the window
    assert.deepEqual(ended(world), ['Failed', reason]);
    assert.equal(imageOf(world.server), bad);
  });
