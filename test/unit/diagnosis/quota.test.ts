import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import {
  isProven,
  isWaiting,
  nextOrdinal,
  type QuotaObject,
  readBlocked,
  readQuota,
} from '../../../src/diagnosis/quota.ts';
import { blockedByQuota, refusal } from '../../support/street.ts';
import { aShop, aWorkload, type Owner, type Shop } from './support.ts';

const saidOf = ({ server }: Shop, object: Owner, quota = 'tight'): unknown =>
  server.seed('Event', 'shop', {
    metadata: { name: `${object.name}.${quota}` },
    reason: 'FailedCreate',
    type: 'Warning',
    message: `Error creating: ${refusal(quota)}`,
    involvedObject: { ...object, namespace: 'shop' },
  });

/** Full to the brim, of pods and of Jobs. */
const full = { pods: '1', 'count/jobs.batch': '1' };
const aQuota = (name: string, over: Partial<QuotaObject> = {}): QuotaObject => ({
  metadata: { name } as never,
  spec: { hard: full },
  status: { hard: full, used: full },
  ...over,
});

const others: { name: string; make(shop: Shop): Owner; want: string[] }[] = [
  {
    name: 'a StatefulSet that is short',
    make: (shop) => aWorkload(shop, 'StatefulSet', { replicas: 3 }, { replicas: 1, readyReplicas: 1 }),
    want: ['StatefulSet/a-statefulset 1/3'],
  },
  {
    name: 'a StatefulSet that has its pods by now',
    make: (shop) => aWorkload(shop, 'StatefulSet', { replicas: 3 }, { replicas: 3 }),
    want: [],
  },
  {
    name: 'a DaemonSet that misses a node',
    make: (shop) =>
      aWorkload(shop, 'DaemonSet', {}, { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 3 }),
    want: ['DaemonSet/a-daemonset 3/4'],
  },
  {
    name: 'a DaemonSet on every node',
    make: (shop) => aWorkload(shop, 'DaemonSet', {}, { desiredNumberScheduled: 4, currentNumberScheduled: 4 }),
    want: [],
  },
  {
    name: 'a Job without its pod',
    make: (shop) => aWorkload(shop, 'Job', { parallelism: 2 }, {}),
    want: ['Job/a-job 0/2'],
  },
  {
    name: 'a Job that is complete',
    make: (shop) => aWorkload(shop, 'Job', {}, { conditions: [{ type: 'Complete', status: 'True' }] }),
    want: [],
  },
  {
    name: 'a Job that has failed',
    make: (shop) => aWorkload(shop, 'Job', {}, { conditions: [{ type: 'Failed', status: 'True' }] }),
    want: [],
  },
  {
    name: 'a StatefulSet of the same name that came later',
    make: (shop) => ({ ...aWorkload(shop, 'StatefulSet', { replicas: 3 }, {}), uid: 'before' }),
    want: [],
  },
  { name: 'a StatefulSet that is gone', make: () => ({ kind: 'StatefulSet', name: 'nobody', uid: 'x' }), want: [] },
  {
    name: 'a CronJob whose Jobs are refused',
    make: (shop) => aWorkload(shop, 'CronJob', {}, {}),
    want: ['CronJob/a-cronjob 0/1'],
  },
  { name: 'a CronJob that is suspended', make: (shop) => aWorkload(shop, 'CronJob', { suspend: true }, {}), want: [] },
  { name: 'a custom owner that we cannot read', make: () => ({ kind: 'Rollout', name: 'r', uid: 'x' }), want: [] },
];
for (const { name, make, want } of others)
  test(`named by an event, blocked by the facts: ${name}: ${want.length > 0 ? 'yes' : 'no'}`, async () => {
    const shop = aShop();
    saidOf(shop, make(shop));
    const blocked = await readBlocked(shop.reader, 'shop', aQuota('tight'));
    assert.deepEqual(
      blocked.filter(isProven).map(({ workload, ready, desired }) => `${workload} ${ready}/${desired}`),
      want,
    );
  });

test('an Event about many owners says where to look, and its numbers are nobody’s', async () => {
  const shop = aShop();
  for (const kind of ['StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'ReplicaSet'] as const)
    saidOf(shop, aWorkload(shop, kind, { replicas: 3 }, { desiredNumberScheduled: 4 }));
  const status = { hard: { pods: '9', 'count/jobs.batch': '9' }, used: { pods: '0', 'count/jobs.batch': '0' } };
  const found = await readBlocked(shop.reader, 'shop', aQuota('tight', { status }));
  assert.deepEqual(found.filter(isProven), []);
  assert.deepEqual(found.filter(isWaiting), [], 'nothing to tell either');
});

test('two owners of one kind under a quota that only the larger one exceeds', async () => {
  const shop = aShop();
  const asking = (memory: string) => ({
    template: { spec: { containers: [{ name: 'app', resources: { requests: { memory } } }] } },
  });
  saidOf(shop, aWorkload(shop, 'StatefulSet', { replicas: 1, ...asking('8Gi') }, {}));
  saidOf(shop, aWorkload(shop, 'DaemonSet', asking('64Mi'), { desiredNumberScheduled: 2 }));
  const status = { hard: { 'requests.memory': '4Gi' }, used: { 'requests.memory': '1Gi' } };
  const found = (await readBlocked(shop.reader, 'shop', aQuota('tight', { status }))).filter(isProven);
  assert.deepEqual(
    found.map(({ workload, shortfalls }) => ({ workload, shortfalls })),
    [{ workload: 'StatefulSet/a-statefulset', shortfalls: [{ resource: 'requests.memory', asked: '8Gi' }] }],
  );
});

const claims = {
  volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { resources: { requests: { storage: '5Gi' } } } }],
};
for (const { name, existing, want } of [
  { name: 'it needs a claim', existing: [], want: ['requests.storage 5Gi'] },
  { name: 'its claim is there from before', existing: ['data-a-statefulset-0'], want: [] },
  {
    name: 'only the claim of another pod is there',
    existing: ['data-a-statefulset-1'],
    want: ['requests.storage 5Gi'],
  },
])
  test(`a quota on storage, and a StatefulSet whose next pod is missing: ${name}`, async () => {
    const shop = aShop();
    saidOf(shop, aWorkload(shop, 'StatefulSet', { replicas: 1, ...claims }, {}));
    for (const name of existing) shop.server.seed('PersistentVolumeClaim', 'shop', { metadata: { name } });
    const status = { hard: { 'requests.storage': '4Gi' }, used: { 'requests.storage': '0' } };
    const found = await readBlocked(shop.reader, 'shop', aQuota('tight', { status }));
    assert.deepEqual(
      found.flatMap(({ shortfalls }) => shortfalls).map(({ resource, asked }) => `${resource} ${asked}`),
      want,
    );
  });

const aPod = (name: string, isReady: boolean, more: object = {}) =>
  ({
    metadata: { name, namespace: 'shop', uid: name, ...more },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }) as never;
const orders: [string, object, never[], number | undefined][] = [
  ['no pod yet', {}, [], 0],
  ['the first is ready', {}, [aPod('db-0', true)], 1],
  ['the first is not ready', {}, [aPod('db-0', false)], undefined],
  ['the first is being deleted', {}, [aPod('db-0', true, { deletionTimestamp: '2026-11-16T03:00:00Z' })], undefined],
  ['one in the middle is gone', {}, [aPod('db-0', true), aPod('db-2', false)], 1],
  ['all are there', {}, [aPod('db-0', true), aPod('db-1', true), aPod('db-2', true)], undefined],
  ['the first is not ready, in parallel', { podManagementPolicy: 'Parallel' }, [aPod('db-0', false)], 1],
  ['numbers that begin at five', { ordinals: { start: 5 } }, [aPod('db-5', true)], 6],
  ['pods of others', {}, [aPod('web-0', true), aPod('db-00', true)], 0],
];
for (const [name, spec, pods, want] of orders)
  test(`the next pod of a StatefulSet: ${name}: ${want ?? 'none'}`, () =>
    assert.equal(nextOrdinal({ metadata: { name: 'db' }, spec: { replicas: 3, ...spec } } as never, pods), want));

test('blocked ReplicaSets are known by their condition, and speak for their Deployment', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['web', 'api']);
  shop.server.change('ReplicaSet', 'shop', 'web-7d9f8b6c5d', { spec: { replicas: 0 } });
  const blocked = await readBlocked(shop.reader, 'shop', aQuota('tight'));
  const { uid } = shop.server.get('ReplicaSet', 'shop', 'api-7d9f8b6c5d')!.metadata;
  assert.deepEqual(blocked, [
    {
      kind: 'ReplicaSet',
      name: 'api-7d9f8b6c5d',
      uid,
      workload: 'Deployment/api',
      ready: 0,
      desired: 2,
      refusedSinceMs: blocked[0]?.refusedSinceMs,
      shortfalls: [{ resource: 'pods', asked: '1' }],
      fits: false,
    },
  ]);
  assert.ok(blocked[0]?.refusedSinceMs, 'the time of its condition');
});

const limited = (hard: Record<string, string>, used: Record<string, string>) => ({ status: { hard, used } });
const rooms: { name: string; quota: Partial<QuotaObject>; blocked: boolean }[] = [
  { name: 'that is as full as it was', quota: limited({ pods: '1' }, { pods: '1' }), blocked: true },
  { name: 'that was raised', quota: limited({ pods: '100' }, { pods: '10' }), blocked: false },
  { name: 'that others made room in', quota: limited({ pods: '1' }, { pods: '0' }), blocked: false },
  { name: 'that no longer limits it', quota: limited({ services: '1' }, { services: '1' }), blocked: false },
  { name: 'whose use is not known', quota: limited({ pods: '1' }, {}), blocked: true },
];
for (const { name, quota, blocked } of rooms)
  test(`an old event about a quota ${name}: ${blocked ? 'still blocked' : 'nobody is blocked'}`, async () => {
    const shop = aShop();
    saidOf(shop, aWorkload(shop, 'Job', {}, { active: 0, failed: 2 })); // in its own back-off, or still refused
    const owners = await readBlocked(shop.reader, 'shop', aQuota('tight', quota));
    assert.equal(owners.filter(isWaiting).length, blocked ? 1 : 0);
    assert.equal(owners.some(isProven), blocked && !name.includes('not known'), 'what is not known justifies nothing');
  });

test('a quota with room whose name begins like another is not said to be that other', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['api']);
  saidOf(shop, aWorkload(shop, 'StatefulSet', { replicas: 1 }, {}), 'tight-2');
  const room = limited({ pods: '9' }, { pods: '1' });
  assert.deepEqual(await readBlocked(shop.reader, 'shop', aQuota('tigh', room)), []);
  const [only] = await readBlocked(shop.reader, 'shop', aQuota('tight-2', room));
  assert.equal(only?.workload, 'StatefulSet/a-statefulset');
});

test('what another namespace is refused is not ours', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['api'], 'pay');
  assert.deepEqual(await readBlocked(shop.reader, 'shop', aQuota('tight')), []);
});

const quotas = [
  { name: 'that is there', uid: '', change: {}, found: true },
  { name: 'that is being deleted', uid: '', change: { deletionTimestamp: '2026-11-16T03:00:00Z' }, found: false },
  { name: 'with another uid', uid: 'before', change: {}, found: false },
];
for (const { name, uid, change, found } of quotas)
  test(`a quota ${name} is ${found ? 'read' : 'as good as gone'}`, async () => {
    const shop = aShop();
    blockedByQuota(shop, ['api']);
    shop.server.change('ResourceQuota', 'shop', 'tight', { metadata: change });
    assert.equal((await readQuota(shop.reader, 'shop', { name: 'tight', uid })) !== undefined, found);
    const object = { kind: 'ResourceQuota', name: 'tight', uid };
    const live = await readHealth(shop.reader, { namespace: 'shop', object }, 0);
    assert.deepEqual(
      [live.healthy, live.gone, live.affected],
      found ? [false, false, ['Deployment/api']] : [true, true, []],
    );
  });

test('who was touched by a cause that is over must have pods; whether these are well is another matter', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['api', 'web']);
  shop.server.remove('ResourceQuota', 'shop', 'tight');
  const read = () =>
    readHealth(
      shop.reader,
      {
        namespace: 'shop',
        object: { kind: 'ResourceQuota', name: 'tight', uid: '' },
        affected: ['Deployment/api', 'Deployment/web', 'Deployment/gone'],
      },
      0,
    );
  const live = await read();
  assert.deepEqual(
    [live.healthy, live.why, live.desired],
    [false, 'Deployment/api waits for pods; Deployment/web waits for pods', 4],
  );
  const status = { observedGeneration: 9, replicas: 2, updatedReplicas: 2, availableReplicas: 1 };
  for (const name of ['api', 'web']) {
    shop.server.change('Deployment', 'shop', name, { status });
    shop.server.change('ReplicaSet', 'shop', `${name}-7d9f8b6c5d`, { status: { replicas: 2 } });
  }
  const after = await read();
  assert.deepEqual([after.healthy, after.gone, after.ready], [true, true, 2]);
});

const touched: { name: string; affected: string; make(shop: Shop): void; healthy: boolean }[] = [
  {
    name: 'a Job that failed for good waits for pods no longer',
    affected: 'Job/a-job',
    make: (shop) => void aWorkload(shop, 'Job', {}, { failed: 7, conditions: [{ type: 'Failed', status: 'True' }] }),
    healthy: true,
  },
  {
    name: 'a Job without its pod does',
    affected: 'Job/a-job',
    make: (shop) => void aWorkload(shop, 'Job', {}, {}),
    healthy: false,
  },
  {
    name: 'what is no workload proves nothing',
    affected: 'Namespace/shop',
    make: (shop) => void shop.server.seed('Namespace', undefined, { metadata: { name: 'shop' } }),
    healthy: true,
  },
];
for (const { name, affected, make, healthy } of touched)
  test(`after the quota is gone: ${name}`, async () => {
    const shop = aShop();
    make(shop);
    const object = { kind: 'ResourceQuota', name: 'tight', uid: '' };
    const live = await readHealth(shop.reader, { namespace: 'shop', object, affected: [affected] }, 0);
    assert.equal(live.healthy, healthy);
  });
