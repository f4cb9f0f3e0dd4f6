import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActionPlan } from '../../../src/actions/action.ts';
import { markAnnotation } from '../../../src/actions/action.ts';
import { deleteResourceQuota } from '../../../src/actions/delete-resource-quota.ts';
import { nudge, nudgeAnnotation, stillShort } from '../../../src/actions/nudge.ts';
import { isProtected } from '../../../src/actions/ownership.ts';
import { rolloutUndo } from '../../../src/actions/rollout-undo.ts';
import { essence } from '../../../src/actions/template.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { quotaWorld, template, undoWorld, type World } from '../controller/world.ts';

/* What each action checks for itself, before anybody relies on it. */

const context = ({ server }: World) => ({ namespace: 'shop', fixUid: 'f', reader: server.client() });
function undo(world: World, uid = world.server.get('Deployment', 'shop', 'checkout')!.metadata.uid) {
  const params = { kind: 'Deployment' as const, name: 'checkout', uid, toRevision: 1 };
  return {
    prepare: () => rolloutUndo.prepare(params, context(world)),
    inspect: (before: string) => rolloutUndo.inspect(params, before, context(world)),
  };
}
function deletion(world: World) {
  const { uid } = world.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  return deleteResourceQuota.prepare({ name: 'tight', uid }, context(world));
}
async function planned(prepared: ReturnType<typeof deletion>): Promise<ActionPlan> {
  const plan = await prepared;
  assert.ok(plan.ok);
  return plan;
}
const change = ({ server }: World, patch: object) => server.change('Deployment', 'shop', 'checkout', patch);

test('both writes stand under the uid and the resourceVersion that were read', async () => {
  const quotas = quotaWorld();
  const quota = quotas.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  const { write } = await planned(deletion(quotas));
  assert.deepEqual(write.do === 'delete' && write.preconditions, {
    uid: quota.uid,
    resourceVersion: quota.resourceVersion,
  });
  const world = undoWorld();
  const { uid, resourceVersion } = world.server.get('Deployment', 'shop', 'checkout')!.metadata;
  const patch = (await planned(undo(world).prepare())).write;
  assert.deepEqual(patch.do === 'patch' && patch.body.slice(0, 2), [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
  ]);
});

const refusals: [string, (world: World) => unknown, string][] = [
  [
    'a Deployment on its way out',
    (world) => change(world, { metadata: { deletionTimestamp: '2026-11-16T03:12:00Z' } }),
    'TargetGone',
  ],
  [
    'a template too large to keep',
    (world) => change(world, { spec: { template: template('x'.repeat(262_144)) } }),
    'TooLarge',
  ],
  [
    'two ReplicaSets of that revision',
    ({ server }) => {
      const { annotations, ownerReferences } = server.get('ReplicaSet', 'shop', 'checkout-0')!.metadata;
      server.seed('ReplicaSet', 'shop', {
        metadata: { name: 'planted', annotations, ownerReferences },
        spec: { template: template('evil:1') },
      });
    },
    'RevisionGone',
  ],
];
for (const [name, prepare, want] of refusals)
  test(`an undo is refused for ${name}`, async () => {
    const world = undoWorld();
    prepare(world);
    const prepared = await undo(world).prepare();
    assert.equal(!prepared.ok && prepared.reason, want);
  });

test('an undo is bound to what it puts there, not only to what it replaces', async () => {
  const world = undoWorld();
  const { targetHash } = await planned(undo(world).prepare());
  world.server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: template('evil/miner:1') } });
  assert.notEqual((await planned(undo(world).prepare())).targetHash, targetHash);
});

test('the snapshot of an undo carries no literal of env', async () => {
  const { before } = await planned(undo(undoWorld()).prepare());
  assert.match(before, /"name":"LEVEL"/);
  assert.doesNotMatch(before, /"info"/);
});

const traces: [string, (world: World) => unknown, string][] = [
  [
    'the mark of an earlier fix',
    (world) => change(world, { metadata: { annotations: { [markAnnotation]: 'another' } } }),
    'untouched',
  ],
  ['our own mark', (world) => change(world, { metadata: { annotations: { [markAnnotation]: 'f' } } }), 'ours'],
  [
    'an earlier mark and another template',
    (world) =>
      change(world, {
        metadata: { annotations: { [markAnnotation]: 'another' } },
        spec: { template: template('x:9') },
      }),
    'other',
  ],
  ['a Deployment that is gone', ({ server }) => server.remove('Deployment', 'shop', 'checkout'), 'other'],
];
for (const [name, meddle, want] of traces)
  test(`after a crash, ${name}: ${want}`, async () => {
    const world = undoWorld();
    const { inspect, prepare } = undo(world);
    const { before } = await planned(prepare());
    meddle(world);
    assert.equal(await inspect(before), want);
  });

test('a quota that refuses nobody is not deleted', async () => {
  const world = quotaWorld();
  for (const name of ['api-5bbc', 'web-5bbc'])
    world.server.change('ReplicaSet', 'shop', name, { status: { conditions: [] } });
  const prepared = await deletion(world);
  assert.equal(!prepared.ok && prepared.reason, 'NotBlocking');
});

test('the snapshot of a quota has its labels and annotations, without what kubectl noted', async () => {
  const world = quotaWorld();
  const annotations = { team: 'a', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  world.server.change('ResourceQuota', 'shop', 'tight', { metadata: { labels: { tier: 'x' }, annotations } });
  const { before } = await planned(deletion(world));
  assert.deepEqual((JSON.parse(before) as { metadata: object }).metadata, {
    name: 'tight',
    labels: { tier: 'x' },
    annotations: { team: 'a' },
  });
});

test('a quota is put back with its labels and annotations, and with fewer of them rather than not at all', async () => {
  const undo = async (annotations: object): Promise<object> => {
    const world = quotaWorld();
    world.server.change('ResourceQuota', 'shop', 'tight', { metadata: { labels: { tier: 'x' }, annotations } });
    const command = (await planned(deletion(world))).undo;
    return (JSON.parse(/\{.*\}/.exec(command)![0]) as { metadata: object }).metadata;
  };
  const helm = { 'meta.helm.sh/release-name': 'shop' };
  assert.deepEqual(await undo(helm), { name: 'tight', labels: { tier: 'x' }, annotations: helm });
  assert.deepEqual(await undo({ story: 'x'.repeat(5_000) }), { name: 'tight', labels: { tier: 'x' } });
});

test('a CronJob that is blocked is remembered, but nobody promises that it retries at once', async () => {
  const world = quotaWorld();
  const { metadata } = world.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {} });
  const message = 'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
  const involvedObject = { kind: 'CronJob', name: 'nightly', namespace: 'shop', uid: metadata.uid };
  world.server.seed('Event', 'shop', { metadata: { name: 'n.1' }, reason: 'FailedCreate', message, involvedObject });
  const { diff, blocked } = await planned(deletion(world));
  assert.deepEqual(blocked.map(({ kind }) => kind).sort(), ['CronJob', 'ReplicaSet', 'ReplicaSet']);
  assert.match(diff, /then make 2 owners retry at once: ReplicaSet api-5bbc, ReplicaSet web-5bbc$/);
});

test('a nudge is for the one that was blocked: its uid is in the request', async () => {
  const server = fakeServer(fakeClock());
  const { metadata } = server.seed('StatefulSet', 'shop', { metadata: { name: 'db' }, spec: { replicas: 1 } });
  const owner = { kind: 'StatefulSet', name: 'db', uid: metadata.uid };
  await nudge(server.client(), 'shop', owner, 'f-1');
  assert.deepEqual(server.calls.at(-1)?.body, {
    metadata: { uid: metadata.uid, annotations: { [nudgeAnnotation]: 'f-1' } },
  });
  await assert.rejects(nudge(server.client(), 'shop', { ...owner, uid: 'another' }, 'f-2'), /immutable/);
});

const owners: [string, { kind: 'StatefulSet' | 'CronJob'; replicas?: number; uid?: string }, boolean][] = [
  ['one that lacks a pod', { kind: 'StatefulSet' }, true],
  ['one that has its pods', { kind: 'StatefulSet', replicas: 1 }, false],
  ['another of the same name', { kind: 'StatefulSet', uid: 'another' }, false],
  ['a CronJob, which tries again by itself', { kind: 'CronJob' }, false],
];
for (const [name, { kind, replicas = 0, uid }, want] of owners)
  test(`${name} is ${want ? '' : 'not '}nudged`, async () => {
    const server = fakeServer(fakeClock());
    const { metadata } = server.seed(kind, 'shop', {
      metadata: { name: 'x' },
      spec: { replicas: 1 },
      status: { replicas },
    });
    const blocked = [{ kind, name: 'x', uid: uid ?? metadata.uid }];
    assert.deepEqual(await stillShort(server.client(), 'shop', blocked), want ? blocked : []);
  });

test('an owner of a kind nobody knows is not asked for', async () => {
  const server = fakeServer(fakeClock());
  assert.deepEqual(await stillShort(server.client(), 'shop', [{ kind: 'Rollout', name: 'x', uid: 'u' }]), []);
  assert.deepEqual(server.calls, []);
});

test('only the word "true" protects', () => {
  assert.equal(isProtected({ labels: { 'tapfix.dev/protected': 'true' } }), true);
  assert.equal(isProtected({ labels: { 'tapfix.dev/protected': 'false' } }), false);
});

test('two templates that differ in the generated hash alone are the same', () => {
  const labelled = (hash: string) => ({ metadata: { labels: { app: 'a', 'pod-template-hash': hash } }, spec: {} });
  assert.deepEqual(essence(labelled('1') as never), essence(labelled('2') as never));
});
