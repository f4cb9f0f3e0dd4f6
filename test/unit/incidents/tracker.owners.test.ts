import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectEvent } from '../../../src/signals/detect.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import {
  aStreet,
  blockedByQuota,
  comeUp,
  crashLoop,
  failedCreate,
  podSignal,
  type Street,
} from '../../support/street.ts';
import { anEvent } from '../../support/views.ts';

/* One thing is one incident, however its objects come and go. */

const backOff = (name: string, uid: string, over: Partial<Signal> = {}): Signal => ({
  ...detectEvent(anEvent({ object: { kind: 'Pod', name, namespace: 'shop', uid } }))!,
  ...over,
});
const keys = (street: Street): string[] => street.fixes().map(({ spec }) => spec.incident.key);
const pod = 'checkout-6b8c9d7f54-x2x4z';

test('a StatefulSet that is re-created around its pod: the crash loop goes on, and the new one is told', async () => {
  const street = aStreet();
  const selector = { matchLabels: { app: 'db' } };
  const status = { observedGeneration: 99, replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0 };
  const create = () =>
    street.server.seed('StatefulSet', 'shop', { metadata: { name: 'db' }, spec: { replicas: 1, selector }, status })
      .metadata.uid;
  const ownedBy = (uid: string) => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }],
  });
  const down = { name: 'app', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const metadata = { name: 'db-0', labels: { app: 'db' }, ...ownedBy(create()) };
  const { uid } = street.server.seed('Pod', 'shop', {
    metadata,
    status: { phase: 'Running', containerStatuses: [down] },
  }).metadata;
  const process = street.start();
  process.onSignal(backOff('db-0', uid));
  await street.advance(60_000);
  street.server.remove('StatefulSet', 'shop', 'db'); // kubectl delete --cascade=orphan
  const second = create();
  street.server.change('Pod', 'shop', 'db-0', { metadata: ownedBy(second) });
  for (let n = 0; n < 15; n++) {
    process.onSignal(backOff('db-0', uid));
    await street.advance(20_000);
  }
  assert.deepEqual(keys(street), ['shop/StatefulSet/db', 'shop/StatefulSet/db']);
  assert.equal(street.fixes()[1]?.spec.incident.object.uid, second);
});

test('the Deployment of an operator: a pod that is gone leads to the operator as well, and no undo is offered', async () => {
  const street = aStreet();
  const owner = { apiVersion: 'example.com/v1', kind: 'Shop', name: 'main', uid: 'shop-1', controller: true };
  const { goodRevision } = crashLoop(street, { metadata: { ownerReferences: [owner] } });
  const process = street.start();
  process.history.observe({ uid: goodRevision, desired: 1, available: 1 } as never, street.clock.now() - 3_600_000);
  process.onSignal(podSignal(street));
  process.onSignal(backOff('checkout-6b8c9d7f54-b5b6b', 'gone'));
  await street.advance(60_000);
  assert.deepEqual(keys(street), ['shop/Shop/main']);
  assert.equal(street.fixes()[0]?.spec.action, undefined);
});

/** It was started again at some time, runs since, and its readiness probe fails just now. */
function unready(street: Street, restartCount: number, [startedAt, finishedAt]: [string, string]): void {
  crashLoop(street);
  comeUp(street, restartCount);
  const lastState = { terminated: { exitCode: 137, reason: 'Error', startedAt, finishedAt } };
  const container = { name: 'app', ready: false, restartCount, state: { waiting: null, running: { startedAt: finishedAt } }, lastState }; // prettier-ignore
  const conditions = [{ type: 'Ready', status: 'False' }];
  street.server.change('Pod', 'shop', pod, {
    status: { phase: 'Running', conditions, containerStatuses: [container] },
  });
  street.server.change('Deployment', 'shop', 'checkout', { status: { readyReplicas: 0, availableReplicas: 0 } });
}

const longAgo: [string, number, [string, string], () => Signal][] = [
  [
    '50 minutes ago, and its event is still listed',
    2,
    ['2026-11-16T02:19:00Z', '2026-11-16T02:19:40Z'],
    () => backOff(pod, '', { listed: true }),
  ],
  [
    'three weeks ago, beside the event of a pod that is gone',
    1,
    ['2026-10-01T02:19:00Z', '2026-10-20T02:19:40Z'],
    () => backOff('checkout-7d9f8b6c5d-x2x4z', 'gone', { listed: true }),
  ],
];
for (const [when, restarts, times, signal] of longAgo)
  test(`a pod that is unready now and was restarted ${when}, is no crash loop`, async () => {
    const street = aStreet();
    unready(street, restarts, times);
    street.start().onSignal(signal());
    await street.advance(60_000);
    assert.deepEqual(keys(street), []);
  });

test('a quota that was replaced under its name while nobody watched is told, though its events were only listed', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const before = street.start();
  before.onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  before.stop();
  street.server.remove('ResourceQuota', 'shop', 'tight');
  const { uid } = street.server.seed('ResourceQuota', 'shop', {
    metadata: { name: 'tight' },
    spec: { hard: { pods: '1' } },
  }).metadata;
  street.start().onSignal({ ...failedCreate(street, 'api'), listed: true });
  await street.advance(120_000);
  const [first, second] = street.fixes();
  assert.deepEqual(street.cleared(), []);
  assert.equal(second?.spec.incident.object.uid, uid);
  assert.equal(second?.spec.follows?.uid, first?.metadata.uid);
});

test('one that is simply gone leaves nothing behind', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  street.server.remove('Deployment', 'shop', 'api');
  street.server.remove('ReplicaSet', 'shop', 'api-7d9f8b6c5d');
  await street.advance(120_000);
  assert.equal(street.fixes().length, 1);
  assert.equal(street.cleared().length, 1);
});
