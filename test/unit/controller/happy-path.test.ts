import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf } from '../../../src/kube/remediation.ts';
import { good, imageOf, quotaWorld, silent, undoWorld } from './world.ts';

const settled = 5_000;

test('an undo goes from proposed to recovered, with one patch and no rights left', async () => {
  const world = undoWorld();
  const { stop } = world.start();
  await world.clock.advance(settled);
  assert.equal(world.phase(), 'Proposed');
  assert.equal(conditionOf(world.fix(), 'Rehearsed')?.status, 'True');
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'True');
  assert.match(world.fix().status?.preview?.diff ?? '', /^app image {2}shop\/checkout:1\.42 → shop\/checkout:1\.41/);
  assert.equal(world.changes().length, 0, 'a rehearsal changes nothing');

  world.approve();
  await world.clock.advance(settled);
  assert.equal(world.phase(), 'Applied');
  assert.equal(imageOf(world.server), good);
  assert.deepEqual(world.fix().status?.execution?.stableSeconds, 30);
  await world.clock.advance(31_000);
  assert.equal(world.phase(), 'Recovered');
  assert.equal(world.changes().length, 1);
  assert.equal(world.server.list('RoleBinding').length, 0);
  const told = world.server.list('Event').map((event) => event['reason']);
  for (const reason of ['FixProposed', 'FixApproved', 'FixApplying', 'FixApplied', 'FixRecovered']) {
    assert.ok(told.includes(reason), reason);
  }
  const onTarget = world.server
    .list('Event')
    .filter((event) => (event['involvedObject'] as { kind: string }).kind === 'Deployment');
  assert.deepEqual(
    onTarget.map((event) => event['reason']),
    ['FixApproved', 'FixApplying', 'FixApplied', 'FixRecovered'],
  );
  stop();
});

const decisions = [
  { name: 'with kubectl is one audit line', by: 'grace', lines: [{ decision: 'Approved', by: 'grace' }] },
  { name: 'in chat was audited there', by: 'telegram:7', lines: [] },
];
for (const { name, by, lines } of decisions)
  test(`a decision made ${name}`, async () => {
    const world = undoWorld();
    const said: Record<string, unknown>[] = [];
    const log = { ...silent, info: (fields: object) => void said.push(fields as Record<string, unknown>) };
    world.start({}, { log });
    await world.clock.advance(settled);
    world.approve(by);
    await world.clock.advance(settled);
    const audited = said.filter(({ audit }) => audit).map(({ decision, by }) => ({ decision, by }));
    assert.deepEqual(audited, lines);
  });

test('a quota is deleted, the blocked owners are nudged at once, and all of them recover', async () => {
  const world = quotaWorld();
  const { stop } = world.start();
  await world.clock.advance(settled);
  assert.equal(
    world.fix().status?.preview?.diff,
    'delete ResourceQuota tight\n  pods  1\nthen make 2 owners retry at once: ReplicaSet api-5bbc, ReplicaSet web-5bbc',
  );
  world.approve();
  await world.clock.advance(settled);
  assert.equal(world.phase(), 'Applied');
  assert.deepEqual(
    world.changes().map(({ verb, kind, name }) => `${verb} ${kind} ${name}`),
    ['delete ResourceQuota tight', 'patch ReplicaSet api-5bbc', 'patch ReplicaSet web-5bbc'],
  );
  await world.clock.advance(31_000);
  assert.equal(world.phase(), 'Recovered');
  assert.equal(world.server.list('RoleBinding').length, 0);
  stop();
});

test('the rehearsal sends the very requests of the execution', async () => {
  for (const world of [undoWorld(), quotaWorld()]) {
    const { stop } = world.start();
    await world.clock.advance(settled);
    world.approve();
    await world.clock.advance(settled);
    const sent = world.server.calls.filter(({ identity, verb }) => identity && ['patch', 'delete'].includes(verb));
    const as = (dryRun: boolean) =>
      sent.filter((call) => call.dryRun === dryRun).map(({ verb, kind, name, body }) => ({ verb, kind, name, body }));
    assert.ok(as(true).length > 0);
    assert.deepEqual(as(false), as(true));
    stop();
  }
});
