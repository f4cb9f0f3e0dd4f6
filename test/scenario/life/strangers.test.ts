import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { iso } from '../../../src/lib/clock.ts';
import { ada } from './phone.ts';
import { deployment, isRunning, rollOut, untilAsked } from './shop.ts';
import { aWorld, type World } from './world.ts';

/* Somebody who may do everything in one namespace, and a watcher that somebody has taken over. No admission policy helps here. */

const everywhere = { namespaces: { include: ['*'] } };
const firstSeen = '2026-11-16T03:00:00Z';

/** A record in namespace `mail`, whose owner holds every verb there. */
async function theirs(world: World, name: string, spec: { key: string; kind: string; follows?: object }) {
  const { key, kind, follows } = spec;
  const object = { kind, name: 'web', uid: '' };
  const incident = { key, class: 'Custom', severity: 'info', reason: 'r', object, message: 'm', firstSeen };
  const body = {
    apiVersion: 'tapfix.dev/v1alpha1',
    kind: 'Remediation',
    metadata: { name },
    spec: { incident, proposedBy: 'mallory', ...(follows && { follows }) },
  };
  return world.api.create<Remediation>({ kind: 'Remediation', namespace: 'mail' }, body);
}

test('a record whose key names another namespace silences nobody there, and nothing is made of it', async (t) => {
  const world = await aWorld(t, { config: everywhere });
  await world.api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mail' } });
  world.start();
  await isRunning(world, 'web');
  await theirs(world, 'quiet-1', { key: 'shop/Deployment/web', kind: 'Deployment' });
  await world.advance(10_000);
  await rollOut(world, 'web', 'shop/app:2-crash');
  await world.until('the card', () => world.phone.has(/Roll back/));
  assert.equal(world.phone.messages.length, 1, world.phone.text());
  assert.equal((await world.fixes()).length, 1);
  assert.equal((await world.fixes('mail'))[0]?.status, undefined);
  world.kill();
  world.start();
  await world.advance(60_000);
  assert.equal(world.phone.messages.length, 1, 'nor after a restart');
});

test('whom another namespace calls affected, or what it says to follow, is posted all the same', async (t) => {
  const world = await aWorld(t, { config: everywhere });
  await world.api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mail' } });
  world.start();
  await isRunning(world, 'web');
  // Nothing shows whether such a class is still true, so it stays open for a quarter of an hour.
  await world.api.create({ kind: 'Deployment', namespace: 'mail' }, deployment('web', { replicas: 1 }));
  const cause = await theirs(world, 'cause-1', { key: 'mail/Deployment/web', kind: 'Deployment' });
  const ref = { kind: 'Remediation', namespace: 'mail', name: cause.metadata.name, subresource: 'status' } as const;
  const sightings = { count: 1, lastSeen: iso(world.clock.now()), affected: ['shop/Deployment/web'] };
  await world.api.patch(ref, 'merge', { status: { sightings } });
  await world.advance(10_000);
  await rollOut(world, 'web', 'shop/app:2-unready');
  await world.until('its record', async () => (await world.fixes()).length === 1, 300_000);
  const [{ metadata }] = (await world.fixes()) as [Remediation];
  const follows = { name: metadata.name, uid: metadata.uid };
  await theirs(world, 'next-1', { key: 'mail/Deployment/next', kind: 'Deployment', follows });
  await world.until('its card', () => world.phone.headlines().some((line) => /^web is (?:down|degraded)/.test(line)));
  await world.advance(60_000);
  assert.notEqual((await world.fixes())[0]?.status?.phase, 'Superseded');
});

/** The watcher's own token writes it: nobody pressed anything. */
async function attest(world: World, by: string): Promise<void> {
  const [fix] = await world.fixes();
  const approval = { state: 'Approved', by, at: firstSeen, via: 'telegram' };
  const ref = { kind: 'Remediation', namespace: 'shop', name: fix!.metadata.name } as const;
  await world.api.patch(ref, 'merge', { spec: { approval } });
}

const stranger = 424242;

test('an approval in the name of somebody whom the configuration does not list is not carried out', async (t) => {
  const world = await aWorld(t);
  await untilAsked(world);
  await attest(world, `telegram:${stranger}`);
  await world.advance(175_000);
  assert.equal((await world.fixes())[0]?.status?.phase, 'Approved', 'it waits for the configuration');
  const { status } = await world.phase('Failed', 10_000);
  const failed = status?.conditions?.find(({ type }) => type === 'Failed');
  assert.equal(failed?.reason, 'NotAnApprover');
  assert.match(failed!.message, /telegram:424242 is not an approver for shop/);
  assert.deepEqual(await world.bindings(), []);
});

test('nor in the name of a channel that the configuration does not have', async (t) => {
  const approval = { approvers: [{ name: 'Ada', telegram: ada, slack: 'U012AB3CD' }] };
  const world = await aWorld(t, { config: { approval } });
  await untilAsked(world);
  await attest(world, 'slack:U012AB3CD');
  const { status } = await world.phase('Failed', 200_000);
  assert.equal(status?.conditions?.find(({ type }) => type === 'Failed')?.reason, 'NotAnApprover');
});

test('an approver whom the reload lists only later is waited for', async (t) => {
  const world = await aWorld(t);
  await untilAsked(world);
  await attest(world, `telegram:${stranger}`);
  await world.advance(150_000);
  assert.equal((await world.fixes())[0]?.status?.phase, 'Approved');
  const approvers = [
    { name: 'Ada', telegram: ada },
    { name: 'Ben', telegram: stranger },
  ];
  world.configure({ approval: { approvers } });
  await world.phase('Applied', 10_000);
  await world.phase('Recovered');
});
