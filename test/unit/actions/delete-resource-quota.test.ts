import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ActionPlan } from '../../../src/actions/action.ts';
import { deleteResourceQuota } from '../../../src/actions/delete-resource-quota.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { quotaWorld, type World } from '../controller/world.ts';

const context = ({ server }: World) => ({ namespace: 'shop', fixUid: 'f', reader: server.client() });
function deletion(world: World) {
  const { uid } = world.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  return deleteResourceQuota.prepare({ name: 'tight', uid }, context(world));
}
async function planned(prepared: ReturnType<typeof deletion>): Promise<ActionPlan> {
  const plan = await prepared;
  assert.ok(plan.ok);
  return plan;
}

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
  const hard = { 'count/jobs.batch': '0' };
  world.server.change('ResourceQuota', 'shop', 'tight', { spec: { hard }, status: { hard, used: hard } });
  const { metadata } = world.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {} });
  const message = 'exceeded quota: tight, requested: count/jobs.batch=1, used: count/jobs.batch=0';
  const involvedObject = { kind: 'CronJob', name: 'nightly', namespace: 'shop', uid: metadata.uid };
  world.server.seed('Event', 'shop', { metadata: { name: 'n.1' }, reason: 'FailedCreate', message, involvedObject });
  const { diff, blocked } = await planned(deletion(world));
  assert.deepEqual(blocked.map(({ kind }) => kind).sort(), ['CronJob', 'ReplicaSet', 'ReplicaSet']);
  assert.match(diff, /then make 2 owners retry at once: ReplicaSet api-5bbc, ReplicaSet web-5bbc$/);
});

const refusal = (quota: string) => `pods "x" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=1`;

test('a quota that has room for everybody at this moment is no verdict: ask again', async () => {
  const { server, fix } = quotaWorld();
  for (const name of ['api-5bbc', 'web-5bbc'])
    server.change('ReplicaSet', 'shop', name, { status: { conditions: [] } });
  const { metadata } = server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  });
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid: metadata.uid };
  const message = `${refusal('tight')}, limited: pods=1`;
  server.seed('Event', 'shop', { metadata: { name: 'db.1' }, reason: 'FailedCreate', message, involvedObject });
  server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '0' } } });
  const { uid } = server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  const context = { namespace: 'shop', fixUid: fix().metadata.uid, reader: server.client() };
  await assert.rejects(deleteResourceQuota.prepare({ name: 'tight', uid }, context), RetryLater);
});

test('a StatefulSet refused by the quota is found in the live cluster, and the quota can be put back', async () => {
  const { server, fix } = quotaWorld();
  const { metadata } = server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  });
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid: metadata.uid };
  const event = { metadata: { name: 'db.1' }, reason: 'FailedCreate', message: refusal('tight'), involvedObject };
  server.seed('Event', 'shop', event);
  const { uid } = server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  const context = { namespace: 'shop', fixUid: fix().metadata.uid, reader: server.client() };
  const prepared = await deleteResourceQuota.prepare({ name: 'tight', uid }, context);
  assert.ok(prepared.ok);
  assert.deepEqual(
    prepared.blocked.map(({ kind, name }) => `${kind}/${name}`),
    ['ReplicaSet/api-5bbc', 'ReplicaSet/web-5bbc', 'StatefulSet/db'],
  );
  assert.equal(
    prepared.undo,
    "kubectl -n shop create -f - <<'EOF'\n" +
      '{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"tight"},"spec":{"hard":{"pods":"1"}}}\nEOF',
  );
});
