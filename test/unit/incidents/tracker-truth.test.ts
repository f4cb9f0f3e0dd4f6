import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewReplicaSet } from '../../../src/kube/views.ts';
import { detectEvent } from '../../../src/signals/detect-event.ts';
import {
  aStreet,
  block,
  blockedByQuota,
  comeUp,
  crash,
  crashLoop,
  failedCreate,
  podSignal,
  type Process,
  refusal,
  type Street,
  unblock,
} from '../../support/street.ts';
import { anEvent } from '../../support/views.ts';

/* What is told must be true: of old events, of rollouts under way, of episodes that are not over. */

const pod = 'checkout-6b8c9d7f54-x2x4z';
const set = 'checkout-6b8c9d7f54';

function sawItHealthy({ server, clock }: Street, { history }: Process): void {
  const view = viewReplicaSet(server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!)!;
  history.observe({ ...view, desired: 1, available: 1 }, clock.now() - 3_600_000);
  history.observe({ ...view, desired: 0, available: 0 }, clock.now());
}

/** A BackOff event of a pod that is long gone: events live for an hour, and every list has them again. */
const oldNews = () =>
  detectEvent(anEvent({ object: { kind: 'Pod', name: 'checkout-7d9f8b6c5d-x2x4z', namespace: 'shop', uid: 'gone' } }))!;

function watching() {
  const street = aStreet();
  crashLoop(street);
  const process = street.start();
  sawItHealthy(street, process);
  return { street, process };
}

test('old news and an ordinary rollout under way: nothing is told, and certainly no undo', async () => {
  const { street, process } = watching();
  const starting = { name: 'app', ready: false, restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } }, lastState: null }; // prettier-ignore
  street.server.change('Pod', 'shop', pod, { status: { phase: 'Pending', containerStatuses: [starting] } });
  process.onSignal(oldNews());
  await street.advance(120_000);
  assert.deepEqual(street.fixes(), []);
  crash(street, 1);
  await street.advance(6_000);
  assert.equal(street.fixes()[0]?.spec.action?.type, 'RolloutUndo', 'once it does crash it is told');
});

test('old news of something that is broken in another way is not pursued for ever', async () => {
  const { street, process } = watching();
  const starting = { name: 'app', ready: false, restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } }, lastState: null }; // prettier-ignore
  street.server.change('Pod', 'shop', pod, { status: { phase: 'Pending', containerStatuses: [starting] } });
  process.onSignal(oldNews());
  await street.advance(16 * 60_000);
  assert.deepEqual(street.outcomes, ['Kept', 'NoLongerTrue']);
  const calls = street.server.calls.length;
  await street.advance(60_000);
  assert.equal(street.server.calls.length, calls);
});

test('old news and a revision that a quota refuses: one card, about the quota', async () => {
  const { street, process } = watching();
  street.server.remove('Pod', 'shop', pod);
  street.server.seed('ResourceQuota', 'shop', { metadata: { name: 'tight' }, spec: { hard: { pods: '1' } } });
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: refusal('tight') }];
  street.server.change('ReplicaSet', 'shop', set, { status: { replicas: 0, conditions } });
  const { uid } = street.server.get('ReplicaSet', 'shop', set)!.metadata;
  const object = { kind: 'ReplicaSet', name: set, namespace: 'shop', uid };
  process.onSignal(oldNews());
  process.onSignal(detectEvent(anEvent({ reason: 'FailedCreate', message: refusal('tight'), object }))!);
  await street.advance(120_000);
  assert.deepEqual(street.fixes().map(({ spec }) => spec.action?.type), ['DeleteResourceQuota']); // prettier-ignore
});

test('the episode of a fix is not over before the controller has its verdict, nor sooner than it watches', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  const { name } = street.fixes()[0]!.metadata;
  street.phase(name, 'Applied');
  street.server.change('Remediation', 'shop', name, { status: { execution: { stableSeconds: 240 } } });
  comeUp(street, 0);
  await street.advance(300_000);
  assert.deepEqual(street.cleared(), [], 'Applied');
  street.phase(name, 'Recovered');
  await street.advance(2_000);
  assert.deepEqual(street.cleared(), [name]);
});

test('a crash loop that lives for long is not over with the first good moments of new pods', async () => {
  const { street, process } = watching();
  const ended = { exitCode: 1, reason: 'Error', startedAt: '2026-11-16T03:09:00Z', finishedAt: '2026-11-16T03:11:00Z' };
  const down = { name: 'app', ready: false, restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } }; // prettier-ignore
  street.server.change('Pod', 'shop', pod, { status: { containerStatuses: [down] } });
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  const { name } = street.fixes()[0]!.metadata;
  const fresh = { name: 'app', ready: true, restartCount: 0, state: { running: {} }, lastState: null };
  comeUp(street, 0);
  street.server.change('Pod', 'shop', pod, { status: { containerStatuses: [fresh] } });
  await street.advance(200_000);
  assert.deepEqual(street.cleared(), [], 'it used to live for two minutes');
  await street.advance(60_000);
  assert.deepEqual(street.cleared(), [name]);
});

test('a signal while the end is being written begins a new episode, with all its patience', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  const again = podSignal(street);
  comeUp(street, 3);
  let clearedAtMs = 0;
  street.server.hooks.after = async ({ verb, body }) => {
    if (clearedAtMs > 0 || verb !== 'patch' || !JSON.stringify(body).includes('IncidentCleared')) return;
    clearedAtMs = street.clock.now();
    await street.clock.sleep(5);
    crash(street, 4);
    process.onSignal(again);
    await street.clock.sleep(5);
  };
  await street.advance(60_000);
  assert.ok(clearedAtMs > 0);
  assert.equal(street.fixes().length, 1, 'not before its patience is over');
  await street.advance(35_000);
  const second = street.fixes().find(({ metadata }) => metadata.name.endsWith('-2'));
  assert.ok(Date.parse(second!.spec.incident.firstSeen) >= clearedAtMs);
  assert.equal(second!.status?.sightings?.count, 1);
});

test('a restart or a new list counts nothing again', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(40_000);
  const before = street.fixes()[0]!.status!.sightings!;
  process.stop();
  const next = street.start();
  for (let n = 0; n < 4; n++) next.onSignal({ ...podSignal(street), listed: true });
  await street.advance(120_000);
  assert.deepEqual(street.fixes()[0]!.status!.sightings, before);
  next.onSignal(podSignal(street));
  await street.advance(61_000);
  assert.equal(street.fixes()[0]!.status!.sightings!.count, before.count + 1, 'news is counted');
});

test('a pod of somebody else’s StatefulSet crash-loops: told, under a key of its own', async () => {
  const street = aStreet();
  const owner = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'db', uid: 'k-1', controller: true };
  const down = { name: 'app', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const { metadata } = street.server.seed('Pod', 'shop', { metadata: { name: 'db-0', ownerReferences: [owner] }, status: { phase: 'Running', containerStatuses: [down] } }); // prettier-ignore
  const object = { kind: 'Pod', name: 'db-0', namespace: 'shop', uid: metadata.uid };
  street.start().onSignal(detectEvent(anEvent({ object }))!);
  await street.advance(60_000);
  assert.deepEqual(street.fixes().map(({ spec }) => spec.incident.key), ['shop/StatefulSet.apps.kruise.io/db']); // prettier-ignore
});

test('a CronJob whose Jobs a quota refuses is told like any other', async () => {
  const street = aStreet();
  street.server.seed('ResourceQuota', 'shop', { metadata: { name: 'jobs' }, spec: { hard: { 'count/jobs.batch': '1' } } }); // prettier-ignore
  const { metadata } = street.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {} });
  const involvedObject = { kind: 'CronJob', name: 'nightly', namespace: 'shop', uid: metadata.uid };
  const message = 'Error creating job: jobs.batch "nightly-28" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1'; // prettier-ignore
  street.server.seed('Event', 'shop', { metadata: { name: 'n.1' }, type: 'Warning', reason: 'FailedCreate', message, involvedObject }); // prettier-ignore
  street.start().onSignal(detectEvent(anEvent({ reason: 'FailedCreate', message, object: involvedObject }))!);
  await street.advance(20_000);
  assert.deepEqual(street.fixes()[0]?.status?.sightings?.affected, ['CronJob/nightly']);
});

test('a quota that has room by now is not offered for deletion', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.server.change('ResourceQuota', 'shop', 'tight', { spec: { hard: { pods: '9' } }, status: { used: { pods: '1' } } }); // prettier-ignore
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  const [fix] = street.fixes();
  assert.equal(fix?.spec.action, undefined);
  assert.match(fix?.spec.rationale ?? '', /^the quota has room by now/);
});

const ignored = [
  { name: 'by a rule', over: { ignore: [{ kind: 'Deployment', name: 'sandbox-*' }] }, annotations: {} },
  { name: 'by its annotation', over: {}, annotations: { 'tapfix.dev/ignore': 'true' } },
];
for (const { name, over, annotations } of ignored)
  test(`a quota that blocks only what is ignored ${name} is not told; one that blocks others as well is`, async () => {
    const street = aStreet(over);
    blockedByQuota(street, ['sandbox-1', 'web']);
    unblock(street, 'web');
    street.server.change('Deployment', 'shop', 'sandbox-1', { metadata: { annotations } });
    const process = street.start();
    process.onSignal(failedCreate(street, 'sandbox-1'));
    await street.advance(20_000);
    assert.deepEqual(street.fixes(), []);
    block(street, 'web');
    process.onSignal(failedCreate(street, 'web'));
    await street.advance(20_000);
    assert.equal(street.fixes().length, 1);
  });
