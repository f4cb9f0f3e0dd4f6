import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derive } from '../../../src/proposals/derive.ts';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { ApiError } from '../../../src/kube/api.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import type { Log } from '../../../src/lib/log.ts';
import { dyingAt } from '../../support/fake-api.ts';
import { good, imageOf, quotaWorld, silent, template, undoWorld, type World } from './world.ts';

/* What is so at the moment only is no verdict for ever; what is so for ever is not waited for. */

const real = { readHealth, derive };
const pods = (used: string) => ({ status: { hard: { pods: '1' }, used: { pods: used } } });
const ofQuota = (world: World, change: object) => world.server.change('ResourceQuota', 'shop', 'tight', change);
const word = (world: World, type: string) => conditionOf(world.fix(), type);

test('a quota that has room for a moment while it is confirmed: confirmed once it is full again', async () => {
  const world = quotaWorld();
  ofQuota(world, pods('1'));
  let isRehearsed = false;
  const { after } = world.server.hooks;
  world.server.hooks.after = async (call) => {
    await after?.(call);
    if (isRehearsed || !call.dryRun || call.kind !== 'ReplicaSet') return;
    isRehearsed = true;
    ofQuota(world, pods('0'));
  };
  world.start({}, real);
  await world.clock.advance(20_000);
  assert.equal(word(world, 'Confirmed'), undefined);
  ofQuota(world, pods('1'));
  await world.clock.advance(5_000);
  assert.equal(word(world, 'Confirmed')?.status, 'True');
});

test('a namespace in which pods come and go all the time: the rehearsal takes the quota as it is last', async () => {
  const world = quotaWorld();
  let used = 0;
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb === 'list' && kind === 'Deployment')
      ofQuota(world, { status: { hard: { pods: '1' }, used: { pods: '1', 'count/jobs.batch': `${++used}` } } });
  };
  world.start({}, real);
  await world.clock.advance(10_000);
  assert.ok(used > 0);
  assert.equal(word(world, 'Rehearsed')?.status, 'True');
});

test('a target that keeps moving under the rehearsal: no verdict, and accepted once it is quiet', async () => {
  const world = undoWorld();
  let isBusy = true;
  world.server.hooks.before = ({ verb, kind, dryRun }) => {
    if (isBusy && verb === 'patch' && kind === 'Deployment' && dryRun)
      world.server.change('Deployment', 'shop', 'checkout', { status: { replicas: Math.random() } });
  };
  world.start();
  await world.clock.advance(30_000);
  assert.equal(word(world, 'Rehearsed'), undefined);
  isBusy = false;
  await world.clock.advance(60_000);
  assert.equal(word(world, 'Rehearsed')?.status, 'True');
});

test('an admission webhook that is down while it is rehearsed: said on the card, and rehearsed once it is up again', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ dryRun }) => {
    if (dryRun) throw new ApiError('failed calling webhook "no-friday": connection refused', 500, 'InternalError');
  };
  world.start();
  await world.clock.advance(300_000);
  assert.deepEqual([word(world, 'Rehearsed')?.status, word(world, 'Rehearsed')?.reason], ['False', 'NoAnswer']);
  assert.match(word(world, 'Rehearsed')?.message ?? '', /no-friday/);
  const writes = world.server.calls.filter(({ verb, kind }) => verb === 'patch' && kind === 'Remediation').length;
  await world.clock.advance(120_000);
  assert.equal(
    world.server.calls.filter(({ verb, kind }) => verb === 'patch' && kind === 'Remediation').length,
    writes,
  );
  delete world.server.hooks.before;
  await world.clock.advance(60_000);
  assert.deepEqual([word(world, 'Rehearsed')?.status, word(world, 'Confirmed')?.status], ['True', 'True']);
  world.approve();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Recovered');
});

test('rights that cannot be minted because something is missing: said on the card, not tried in silence', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb === 'createSub' && kind === 'ServiceAccount')
      throw new ApiError('serviceaccounts "tapfix-writer" not found', 404, 'NotFound');
  };
  world.start();
  await world.clock.advance(120_000);
  assert.equal(word(world, 'Rehearsed')?.status, 'False');
  assert.match(word(world, 'Rehearsed')?.message ?? '', /serviceaccounts "tapfix-writer" not found/);
});

test('the quota is gone, and nobody may be nudged: applied all the same, and watched', async () => {
  const world = quotaWorld();
  delete world.server.hooks.after;
  const isTheDelete = dyingAt(
    ({ kind, verb, dryRun }) => kind === 'ResourceQuota' && verb === 'delete' && !dryRun,
    'after',
  );
  const first = world.start(isTheDelete);
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(5_000);
  first.stop();
  for (const { metadata } of world.server.list('RoleBinding'))
    world.server.remove('RoleBinding', 'shop', metadata.name);
  world.server.hooks.before = ({ kind, verb }) => {
    if (kind === 'RoleBinding' && verb === 'create')
      throw new ApiError('admission webhook "rbac-guard" denied the request', 403, 'Forbidden');
  };
  world.start();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Applying');
  // How soon the tries are used up is a matter of chance: the pauses between them are.
  for (let n = 0; n < 22 && world.phase() === 'Applying'; n++) await world.clock.advance(30_000);
  assert.equal(world.phase(), 'Applied');
});

test('approved with kubectl while nothing had been shown: what a colleague rolled out meanwhile is not undone', async () => {
  const world = undoWorld();
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
  world.approve('ada@example.com');
  world.server.change('Deployment', 'shop', 'checkout', { spec: { template: template('shop/checkout:1.43-hotfix') } });
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(10_000);
  assert.equal(imageOf(world.server), 'shop/checkout:1.43-hotfix');
  assert.equal(word(world, 'Failed')?.reason, 'NotConfirmed');
});

test('approved with kubectl while it is being rehearsed: the preview that comes then was shown to nobody', async () => {
  const world = undoWorld();
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
  world.server.hooks.after = async ({ verb, kind, dryRun }) => {
    if (kind === 'Deployment' && dryRun && world.fix().spec.approval.state === 'Pending')
      world.approve('ada@example.com');
    if (verb === 'patch') await world.clock.sleep(20);
  };
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(10_000);
  assert.deepEqual([word(world, 'Failed')?.reason, world.changes()], ['NotConfirmed', []]);
});

test('an incident about one workload is no reason to change another', async () => {
  const world = undoWorld();
  const { incident } = world.fix().spec;
  const object = { kind: 'Deployment', name: 'other', uid: 'o' };
  world.server.change('Remediation', 'shop', world.fix().metadata.name, {
    spec: { incident: { ...incident, object } },
  });
  world.start();
  await world.clock.advance(3_000);
  assert.equal(word(world, 'Rehearsed')?.reason, 'WrongTarget');
  world.approve('ada@example.com');
  await world.clock.advance(5_000);
  assert.equal(world.phase(), 'Failed');
  assert.notEqual(imageOf(world.server), good);
});

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
