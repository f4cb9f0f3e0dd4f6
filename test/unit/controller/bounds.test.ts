import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { Unreachable } from '../../../src/kube/api.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { dyingAt } from '../../support/fake-api.ts';
import { bad, good, health, imageOf, quotaWorld, silent, template, undoWorld, type World } from './world.ts';

/* What neither a compromised watcher, nor a long outage, nor somebody else's edit may bring about. */

const reason = (world: World): string | undefined => conditionOf(world.fix(), world.phase() ?? '')?.reason;
const real = { readHealth, derive };

const counts = (ready: number) => ({
  observedGeneration: 9,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: ready,
  availableReplicas: ready,
});
/** The quota refuses nobody any more; as many of their pods are ready. */
function makeRoom({ server }: World, ready: number): void {
  for (const name of ['api', 'web']) {
    server.change('ReplicaSet', 'shop', `${name}-5bbc`, { status: { replicas: 2, conditions: [] } });
    server.change('Deployment', 'shop', name, { status: counts(ready) });
  }
}
const sighted = ({ server, fix }: World, affected: string[]): unknown =>
  server.change('Remediation', 'shop', fix().metadata.name, {
    status: { sightings: { count: 1, lastSeen: '2026-11-16T03:00:00Z', affected } },
  });

test('a quota that refuses nobody is not deleted, whatever the watcher calls affected', async () => {
  const world = quotaWorld();
  makeRoom(world, 2);
  world.server.seed('Namespace', undefined, { metadata: { name: 'shop' } });
  sighted(world, ['Namespace/shop', 'Deployment/nobody']);
  world.start({}, real);
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'False');
  world.approve();
  await world.clock.advance(90_000);
  assert.equal(world.phase(), 'Failed');
  assert.deepEqual(world.changes(), []);
});

test('room that came between the card and the tap: nothing is deleted, and nothing is called healthy that is not', async () => {
  const world = quotaWorld();
  sighted(world, ['Deployment/api', 'Deployment/web']);
  world.start({}, real);
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'True');
  makeRoom(world, 0);
  world.approve();
  await world.clock.advance(90_000);
  assert.notEqual(world.phase(), 'Recovered');
  assert.deepEqual(world.changes(), []);
});

test('room that came, and a StatefulSet that stays short for reasons of its own: the approval does not wait for ever', async () => {
  const world = quotaWorld();
  world.start({}, real);
  await world.clock.advance(3_000);
  makeRoom(world, 2);
  const { uid } = world.server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  }).metadata;
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid };
  const message = 'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
  world.server.seed('Event', 'shop', { metadata: { name: 'db.1' }, reason: 'FailedCreate', message, involvedObject });
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '0' } } });
  world.approve('grace');
  await world.clock.advance(90_000);
  assert.equal(world.phase(), 'Resolved');
  assert.deepEqual(world.changes(), []);
});

for (const how of ['killed', 'cut off'] as const)
  test(`${how} in Applying for hours, and the world has moved on: nothing is changed any more`, async () => {
    const world = undoWorld();
    let healthy = false;
    const over = { readHealth: async () => health({ healthy, why: 'x' }) };
    const first = world.start({}, over);
    await world.clock.advance(3_000);
    let isDown = false;
    world.server.hooks.before = ({ verb, kind }) => {
      isDown ||= verb === 'create' && kind === 'RoleBinding';
      if (isDown) throw new Unreachable('down');
    };
    world.approve();
    await world.clock.advance(3_000);
    assert.equal(world.phase(), 'Applying');
    if (how === 'killed') first.stop();
    healthy = true;
    await world.clock.advance(20 * 60_000);
    delete world.server.hooks.before;
    isDown = false;
    if (how === 'killed') world.start({}, over);
    await world.clock.advance(60_000);
    assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TooLate']);
    assert.equal(imageOf(world.server), bad);
  });

test('what is confirmed is never older than what is shown', async () => {
  const world = undoWorld();
  let moved = false;
  world.server.hooks.before = ({ verb, kind }) => {
    if (moved || verb !== 'create' || kind !== 'RoleBinding') return;
    moved = true; // somebody rolls out a cure while the rehearsal is being prepared
    world.server.change('Deployment', 'shop', 'checkout', { spec: { template: template('shop/checkout:1.43') } });
  };
  const { action } = world.fix().spec;
  const said = { diagnosis: '', changed: [], evidence: [], rationale: 'it is another one by now' };
  world.start({}, { derive: async () => (imageOf(world.server) === bad ? { ...said, action: action! } : said) });
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'False');
  world.approve();
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NotConfirmed']);
  assert.equal(imageOf(world.server), 'shop/checkout:1.43');
});

test('an older revision that was edited since it was shown is not put back', async () => {
  const world = undoWorld();
  world.start();
  await world.clock.advance(3_000);
  world.server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: template('evil/miner:1') } });
  world.approve();
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TargetChanged']);
  assert.equal(imageOf(world.server), bad);
});

test('a second ReplicaSet of the same revision: which was meant is not guessed', async () => {
  const world = undoWorld();
  const { metadata } = world.server.get('ReplicaSet', 'shop', 'checkout-0')!;
  const { annotations, ownerReferences } = metadata;
  world.server.seed('ReplicaSet', 'shop', {
    metadata: { name: 'planted', annotations, ownerReferences },
    spec: { template: template('evil/miner:1') },
  });
  world.start();
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Rehearsed')?.reason, 'RevisionGone');
});

test('a Remediation in another namespace, or of another incident, replaces nothing here', async () => {
  const world = undoWorld();
  world.start();
  await world.clock.advance(3_000);
  const { spec, metadata } = world.fix();
  const follows = { name: metadata.name, uid: metadata.uid };
  world.server.seed('Remediation', 'team-b', { metadata: { name: 'evil' }, spec: { ...spec, follows } });
  world.server.seed('Remediation', 'shop', {
    metadata: { name: 'other' },
    spec: { ...spec, incident: { ...spec.incident, key: 'shop/Deployment/other' }, follows },
  });
  sighted(world, []);
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Proposed');
});

test('a namespace that this installation is not configured for is left to the one that is', async () => {
  const world = undoWorld();
  world.config.namespaces.include = ['payments-*'];
  const proposedBy = 'system:serviceaccount:tapfix-two:tapfix-watcher';
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy } });
  world.start();
  await world.clock.advance(3_000);
  assert.equal(world.fix().status, undefined);
});

test('a namespace that leaves the configuration while a fix is under way: it ends, saying so, and no right is left', async () => {
  const world = undoWorld();
  const first = world.start(
    dyingAt(({ kind, verb, dryRun }) => kind === 'Deployment' && verb === 'patch' && !dryRun, 'before'),
  );
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  first.stop();
  assert.deepEqual([world.phase(), world.server.list('RoleBinding').length], ['Applying', 1]);
  world.config.namespaces.include = ['payments'];
  world.start();
  await world.clock.advance(3 * 60_000);
  assert.equal(conditionOf(world.fix(), 'Failed')?.reason, 'NotWatched');
  assert.equal(world.server.list('RoleBinding').length, 0);
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

/** Nobody is refused at this moment but a StatefulSet that would be let in: no plan can be made of that. */
function makeRoomForAMoment(world: World): void {
  makeRoom(world, 2);
  const { uid } = world.server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  }).metadata;
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid };
  const message = 'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
  world.server.seed('Event', 'shop', { metadata: { name: 'db.1' }, reason: 'FailedCreate', message, involvedObject });
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '0' } } });
}

test('an approval for which no plan can be made at this moment is still looked at, and its clock runs', async () => {
  const world = quotaWorld();
  const warned: string[] = [];
  world.start({}, { log: { ...silent, warn: (_fields: object, message: string) => void warned.push(message) } });
  await world.clock.advance(3_000);
  makeRoomForAMoment(world);
  world.approve();
  await world.clock.advance(10_000);
  assert.deepEqual([world.phase(), warned], ['Approved', []]);
});

test('in Applying, room for a moment is no answer of the API server: it is not counted as one', async () => {
  const world = quotaWorld();
  world.start();
  await world.clock.advance(3_000);
  world.server.hooks.before = ({ kind, verb }) => {
    if (kind !== 'RoleBinding' || verb !== 'create' || world.phase() !== 'Applying') return;
    delete world.server.hooks.before;
    makeRoomForAMoment(world);
  };
  world.approve();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Applying');
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '1' } } });
  await world.clock.advance(31_000);
  assert.equal(world.server.get('ResourceQuota', 'shop', 'tight'), undefined);
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
