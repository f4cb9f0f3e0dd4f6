import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createController } from '../../../src/controller/controller.ts';
import { createHistory } from '../../../src/health/history.ts';
import { conditionOf, type Remediation } from '../../../src/kube/remediation.ts';
import type { Log } from '../../../src/lib/log.ts';
import { dyingAt } from '../../support/fake-api.ts';
import { good, imageOf, quotaWorld, silent, undoWorld, type World } from './world.ts';

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

const sighted = ({ server, fix }: World, affected: string[]): unknown =>
  server.change('Remediation', 'shop', fix().metadata.name, {
    status: { sightings: { count: 1, lastSeen: '2026-11-16T03:00:00Z', affected } },
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

describe('the audit line of a decision', () => {
  const decisions: [string, object, number, string[]][] = [
  ['with kubectl', { state: 'Approved', by: 'ada@example.com', via: 'kubernetes' }, 0, ['Approved ada@example.com kubernetes Approved']],
  ['with kubectl, which says it was the console', { state: 'Approved', by: 'ada@example.com', via: 'console' }, 0, ['Approved ada@example.com console Approved']],
  ['with kubectl, too late', { state: 'Approved', by: 'ada@example.com' }, 31, ['Approved ada@example.com kubernetes Expired']],
  ['with kubectl, against it', { state: 'Rejected', by: 'ada@example.com' }, 0, ['Rejected ada@example.com kubernetes Rejected']],
  ['in chat, where it was written down', { state: 'Approved', by: 'telegram:7', via: 'telegram' }, 0, []],
]; // prettier-ignore
  for (const [how, approval, minutes, want] of decisions)
    test(`a decision made ${how}: ${want.length} audit line(s)`, async () => {
      const world = undoWorld();
      const lines: string[] = [];
      const info = (fields: object): void => {
        const { audit, decision, by, channel, phase } = fields as Record<string, unknown>;
        if (audit) lines.push([decision, by, channel, phase].join(' '));
      };
      const log: Log = { ...silent, info };
      const first = world.start({}, { log });
      await world.clock.advance(3_000);
      first.stop();
      await world.clock.advance(minutes * 60_000);
      world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { approval } });
      world.start({}, { log });
      await world.clock.advance(10_000);
      assert.deepEqual(lines, want);
    });
});

test('a successor alone wakes what it replaces', async () => {
  const { server, clock, config, fix } = undoWorld();
  const never = async () => assert.fail('not asked for');
  const deps = {
    api: server.client(),
    clock,
    log: silent,
    current: () => config,
    namespace: 'tapfix',
    history: createHistory(),
  };
  const controller = createController({
    ...deps,
    isOurs: () => true,
    readHealth: never,
    patienceMs: () => 0,
    derive: async () => undefined,
  });
  controller.onFixes([structuredClone(fix())]);
  const stop = new AbortController();
  const ended = controller.run(stop.signal);
  await clock.advance(10_000);
  const { spec, metadata } = fix();
  const follows = { name: metadata.name, uid: metadata.uid };
  const view = server.seed('Remediation', 'shop', { metadata: { name: 'next' }, spec: { ...spec, follows } });
  controller.onFix({ type: 'upsert', view: structuredClone(view) as unknown as Remediation });
  await clock.advance(1_000);
  assert.equal(fix().status?.phase, 'Superseded');
  stop.abort();
  await ended;
});
