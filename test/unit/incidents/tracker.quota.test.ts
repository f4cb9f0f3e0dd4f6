import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import { detectEvent } from '../../../src/signals/detect.ts';
import {
  aStreet,
  block,
  blockedByQuota,
  failedCreate,
  type Process,
  refusal,
  type Street,
  unblock,
} from '../../support/street.ts';
import { anEvent } from '../../support/views.ts';

const key = 'shop/ResourceQuota/tight';
const name = remediationName(key, 1);
const four = ['api', 'web', 'worker', 'search'];

/** Blocked, signalled once each. */
function blocked(names: readonly string[] = four, over = {}): { street: Street; process: Process } {
  const street = aStreet(over);
  blockedByQuota(street, names);
  const process = street.start();
  for (const workload of names) process.onSignal(failedCreate(street, workload));
  return { street, process };
}

async function told(names: readonly string[] = four): Promise<{ street: Street; process: Process }> {
  const both = blocked(names);
  await both.street.advance(12_000);
  assert.deepEqual(
    both.street.fixes().map(({ metadata }) => metadata.name),
    [name],
  );
  return both;
}

test('twenty refusals of four ReplicaSets are one Remediation that deletes the quota', async () => {
  const { street, process } = blocked();
  for (let n = 0; n < 16; n++) {
    await street.advance(500);
    process.onSignal(failedCreate(street, four[n % 4]!));
  }
  await street.advance(3_000);
  const [fix, ...others] = street.fixes();
  assert.deepEqual(others, []);
  const { uid } = street.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  assert.equal(fix?.metadata.name, name);
  assert.match(name, /^tight-[0-9a-f]{6}-1$/);
  assert.equal(fix?.metadata.namespace, 'shop');
  assert.deepEqual(fix?.spec.action, { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'tight', uid } });
  assert.equal(fix?.spec.incident.key, key);
  assert.deepEqual(fix?.spec.incident.object, { kind: 'ResourceQuota', name: 'tight', uid });
  assert.equal(fix?.spec.incident.severity, 'critical');
  assert.equal(fix?.spec.diagnosis, 'pods 1, used 1, a pod asks 1');
  assert.deepEqual(fix?.spec.context.evidence, ['ready when noticed: api 0/2, search 0/2, web 0/2, worker 0/2']);
  assert.match(fix?.spec.rationale ?? '', /4 workloads can start pods again/);
  assert.equal(fix?.status?.sightings?.count, 20);
  assert.deepEqual(
    fix?.status?.sightings?.affected?.toSorted(),
    four.toSorted().map((workload) => `Deployment/${workload}`),
  );
});

test('nothing is said before patience is over, counted from our own first observation', async () => {
  const { street } = blocked();
  await street.advance(9_900);
  assert.deepEqual(street.fixes(), []);
  await street.advance(200);
  assert.equal(street.fixes().length, 1);
});

test('a class whose patience the config changes is waited for that long', async () => {
  const { street } = blocked(four, { classes: { QuotaExceeded: { for: 20_000, enabled: true } } });
  await street.advance(19_900);
  assert.deepEqual(street.fixes(), []);
  await street.advance(200);
  assert.equal(street.fixes().length, 1);
});

test('what heals within its patience is silent, and counted as that', async () => {
  const { street } = blocked();
  await street.advance(5_000);
  for (const workload of four) unblock(street, workload);
  await street.advance(60_000);
  assert.deepEqual(street.fixes(), []);
  assert.deepEqual(
    street.outcomes,
    four.map(() => 'HealedBeforeTold'),
  );
});

test('a quota that is gone before patience is over is silent, and counted as that', async () => {
  const { street } = blocked();
  street.server.remove('ResourceQuota', 'shop', 'tight');
  await street.advance(60_000);
  assert.deepEqual(street.fixes(), []);
  assert.ok(street.outcomes.includes('TargetGone'));
});

test('signals that come before the Remediations are listed wait for them', async () => {
  const { street, process } = await told();
  process.stop();
  const next = street.start({}, false);
  const calls = street.server.calls.length;
  next.onSignal(failedCreate(street, 'api'));
  await street.advance(30_000);
  assert.equal(street.server.calls.length, calls);
  next.onFixes(street.fixes());
  await street.advance(90_000);
  assert.equal(street.fixes().length, 1);
  assert.equal(street.fixes()[0]!.status?.sightings?.count, 5);
});

test('a restart repeats nothing and goes on counting', async () => {
  const { street, process } = await told();
  process.stop();
  const next = street.start();
  for (const workload of four) next.onSignal(failedCreate(street, workload));
  await street.advance(90_000);
  assert.equal(street.fixes().length, 1);
  assert.equal(street.fixes()[0]!.status?.sightings?.count, 8);
  assert.equal(street.fixes()[0]!.spec.incident.class, 'QuotaExceeded');
});

test('killed during patience: told once, by the next process', async () => {
  const { street, process } = blocked();
  await street.advance(6_000);
  process.stop();
  await street.advance(30_000);
  assert.deepEqual(street.fixes(), []);
  const next = street.start();
  for (const workload of four) next.onSignal(failedCreate(street, workload)); // the first list has them still
  await street.advance(60_000);
  assert.equal(street.fixes().length, 1);
});

for (const phase of ['Rejected', 'Failed', 'Expired'])
  test(`${phase}, and still failing for three minutes: nothing more is said`, async () => {
    const { street, process } = await told();
    street.phase(name, phase);
    for (let n = 0; n < 18; n++) {
      process.onSignal(failedCreate(street, four[n % 4]!));
      await street.advance(10_000);
    }
    assert.equal(street.fixes().length, 1);
    assert.deepEqual(street.cleared(), []);
  });

test('healthy for the recovery window ends the episode; failing again is the second Remediation', async () => {
  const { street, process } = await told();
  for (const workload of four) unblock(street, workload);
  await street.advance(29_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(8_000);
  assert.deepEqual(street.cleared(), [name]);
  street.phase(name, 'Resolved');
  block(street, 'api');
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.deepEqual(
    street
      .fixes()
      .map(({ metadata }) => metadata.name)
      .sort(),
    [name, remediationName(key, 2)],
  );
  assert.ok(street.fixes()[1]!.spec.action, 'nothing was applied before, so the fix is offered again');
  assert.deepEqual(street.cleared(), [name]);
});

test('a break in the recovery window starts it again', async () => {
  const { street } = await told(['api']);
  unblock(street, 'api');
  await street.advance(20_000);
  block(street, 'api');
  await street.advance(3_000);
  unblock(street, 'api');
  await street.advance(25_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(15_000);
  assert.deepEqual(street.cleared(), [name]);
});

test('a fresh signal in the recovery window starts it again, even if no reading caught the failure', async () => {
  const { street, process } = await told(['api']);
  unblock(street, 'api');
  await street.advance(25_000);
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(25_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(10_000);
  assert.deepEqual(street.cleared(), [name]);
});

const again = [
  { minutes: 5, offered: false },
  { minutes: 61, offered: true },
];
for (const { minutes, offered } of again)
  test(`failing again ${minutes} min after the fix was applied: ${offered ? 'offered again' : 'notify only, and it says why'}`, async () => {
    const { street, process } = await told(['api']);
    street.phase(name, 'Applied');
    unblock(street, 'api');
    await street.advance(40_000);
    street.phase(name, 'Recovered');
    await street.advance(2_000);
    await street.clock.advance((minutes - 1) * 60_000);
    block(street, 'api');
    process.onSignal(failedCreate(street, 'api'));
    await street.advance(25_000);
    const second = street.fixes().find(({ metadata }) => metadata.name === remediationName(key, 2));
    assert.equal(second?.spec.action?.type, offered ? 'DeleteResourceQuota' : undefined);
    if (!offered)
      assert.equal(
        second?.spec.rationale,
        'the same fix was applied at 2026-11-16T03:12:12.000Z and did not last (second time in an hour)',
      );
  });

test('a quota deleted by hand is not the end while a workload it had blocked is still short', async () => {
  const { street } = await told(['api', 'web']);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  unblock(street, 'api');
  await street.advance(120_000);
  assert.deepEqual(street.cleared(), []);
  unblock(street, 'web');
  await street.advance(40_000);
  assert.deepEqual(street.cleared(), [name]);
});

test('an episode that is over is over: its last signal is not judged, nor counted, a second time', async () => {
  const { street } = await told();
  for (const workload of four) unblock(street, workload);
  await street.advance(120_000);
  assert.deepEqual(street.cleared(), [name]);
  assert.deepEqual(
    street.outcomes,
    four.map(() => 'Told'),
  );
});

/* A quota is told when it is what refuses, at this moment, somebody whom people want to hear of. */

test('a CronJob whose Jobs a quota refuses is told like any other', async () => {
  const street = aStreet();
  street.server.seed('ResourceQuota', 'shop', {
    metadata: { name: 'jobs' },
    spec: { hard: { 'count/jobs.batch': '1' } },
  });
  street.server.seed('Job', 'shop', { metadata: { name: 'nightly-27' } });
  const { metadata } = street.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {} });
  const involvedObject = { kind: 'CronJob', name: 'nightly', namespace: 'shop', uid: metadata.uid };
  const message =
    'Error creating job: jobs.batch "nightly-28" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: count/jobs.batch=1, limited: count/jobs.batch=1';
  street.server.seed('Event', 'shop', {
    metadata: { name: 'n.1' },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    involvedObject,
  });
  street.start().onSignal(detectEvent(anEvent({ reason: 'FailedCreate', message, object: involvedObject }))!);
  await street.advance(20_000);
  assert.deepEqual(street.fixes()[0]?.status?.sightings?.affected, ['CronJob/nightly']);
});

const room = (street: Street, used: number): unknown =>
  street.server.change('ResourceQuota', 'shop', 'tight', {
    spec: { hard: { pods: '9' } },
    status: { used: { pods: String(used) } },
  });

test('a quota that has room at the moment is watched, not judged: once it is full again its deletion is offered', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  room(street, 8);
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(60_000);
  assert.deepEqual(street.fixes(), []);
  room(street, 9);
  await street.advance(10_000);
  assert.equal(street.fixes()[0]?.spec.action?.type, 'DeleteResourceQuota');
});

const set = 'api-7d9f8b6c5d';
/** What the ReplicaSet's newest event says; its condition keeps the first refusal for ever. */
function eventSays({ server }: Street, quota: string, n: number): ReturnType<typeof failedCreate> {
  const { uid } = server.get('ReplicaSet', 'shop', set)!.metadata;
  const message = `Error creating: ${refusal(quota)}`;
  const object = { kind: 'ReplicaSet', name: set, namespace: 'shop', uid };
  const lastTimestamp = `2026-11-16T03:1${n}:00Z`;
  server.seed('Event', 'shop', {
    metadata: { name: `api.${n}` },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    involvedObject: object,
    lastTimestamp,
  });
  return detectEvent(anEvent({ reason: 'FailedCreate', message, object }))!;
}

test('refused by something else first and by a quota since: told, though the condition still has the first words', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const message = 'pods "api-" is forbidden: error looking up service account shop/api: serviceaccount "api" not found';
  street.server.change('ReplicaSet', 'shop', set, {
    status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message }] },
  });
  street.start().onSignal(eventSays(street, 'tight', 3));
  await street.advance(20_000);
  assert.equal(street.fixes()[0]?.spec.action?.type, 'DeleteResourceQuota');
});

test('two quotas, one after the other: each is told when it is the one that refuses', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.server.seed('ResourceQuota', 'shop', {
    metadata: { name: 'team' },
    spec: { hard: { pods: '1' } },
    status: { used: { pods: '1' } },
  });
  const process = street.start();
  process.onSignal(eventSays(street, 'tight', 3));
  await street.advance(20_000);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  process.onSignal(eventSays(street, 'team', 4));
  await street.advance(20_000);
  assert.deepEqual(
    street
      .fixes()
      .map(({ spec }) => spec.incident.object.name)
      .sort(),
    ['team', 'tight'],
  );
});

test('a quota that is replaced under its name, and refuses as well, gets a card of its own', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  const { metadata } = street.server.seed('ResourceQuota', 'shop', {
    metadata: { name: 'tight' },
    spec: { hard: { pods: '1' } },
  });
  for (let n = 0; n < 6; n++) {
    process.onSignal(failedCreate(street, 'api'));
    await street.advance(20_000);
  }
  assert.ok(street.fixes().some(({ spec }) => spec.incident.object.uid === metadata.uid));
});

test('whoever has pods again is no longer the quota’s matter, however sick these are', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api', 'worker']);
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  for (const name of ['api', 'worker']) unblock(street, name);
  street.server.change('Deployment', 'shop', 'worker', { status: { readyReplicas: 0, availableReplicas: 0 } });
  await street.advance(60_000);
  assert.equal(street.cleared().length, 1);
});

test('a Job that is short for reasons of its own is not counted among those that a quota blocks', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.server.change('ResourceQuota', 'shop', 'tight', { spec: { scopes: ['NotTerminating'] } });
  const { metadata } = street.server.seed('Job', 'shop', {
    metadata: { name: 'old' },
    spec: { template: { spec: { activeDeadlineSeconds: 60 } } }, // such pods are not counted by this quota
    status: {},
  });
  const involvedObject = { kind: 'Job', name: 'old', namespace: 'shop', uid: metadata.uid };
  const message =
    'exceeded quota: tight, requested: requests.memory=64Mi, used: requests.memory=90Mi, limited: requests.memory=100Mi';
  street.server.seed('Event', 'shop', { metadata: { name: 'old.1' }, reason: 'FailedCreate', message, involvedObject });
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(20_000);
  const { spec } = street.fixes()[0]!;
  assert.deepEqual(spec.context.evidence, ['ready when noticed: api 0/2']);
  assert.match(spec.rationale, /1 workload can start pods again/);
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

const memory = (amount: string): object => ({ 'requests.memory': amount });
const refusedFor = (asked: string): string =>
  `create Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden: exceeded quota: tight, requested: requests.memory=${asked}, used: requests.memory=0, limited: requests.memory=4Gi`;

for (const { what, there, cards } of [
  { what: 'the pod that was refused is there by now', there: 'db-0', cards: 0 },
  { what: 'only another one of its pods is', there: 'db-1', cards: 1 },
])
  test(`a StatefulSet that was refused a pod, and ${what}: ${cards} card(s)`, async () => {
    const street = aStreet();
    street.server.seed('ResourceQuota', 'shop', {
      metadata: { name: 'tight' },
      spec: { hard: memory('4Gi') },
      status: { hard: memory('4Gi'), used: memory('1Gi') },
    });
    const { uid } = street.server.seed('StatefulSet', 'shop', {
      metadata: { name: 'db' },
      spec: { replicas: 3, selector: { matchLabels: { app: 'db' } } },
      status: { replicas: 1, readyReplicas: 0 },
    }).metadata;
    const object = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid };
    const message = refusedFor('8Gi');
    street.server.seed('Event', 'shop', {
      metadata: { name: 'db.1' },
      type: 'Warning',
      reason: 'FailedCreate',
      message,
      involvedObject: object,
    });
    await street.advance(5_000);
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true };
    street.server.seed('Pod', 'shop', { metadata: { name: there, ownerReferences: [owner] } });
    street.start().onSignal({ ...detectEvent(anEvent({ reason: 'FailedCreate', message, object }))!, listed: true });
    await street.advance(60_000);
    assert.equal(street.fixes().length, cards);
  });

test('a Job of which some pods run and the others are refused is told', async () => {
  const street = aStreet();
  const pods = { pods: '4' };
  street.server.seed('ResourceQuota', 'shop', {
    metadata: { name: 'tight' },
    spec: { hard: pods },
    status: { hard: pods, used: pods },
  });
  const { uid } = street.server.seed('Job', 'shop', {
    metadata: { name: 'reindex' },
    spec: { parallelism: 10, completions: 10 },
    status: { active: 4, ready: 4, succeeded: 2 },
  }).metadata;
  for (const n of [1, 2, 3, 4]) street.server.seed('Pod', 'shop', { metadata: { name: `resident-${n}` } });
  const object = { kind: 'Job', name: 'reindex', namespace: 'shop', uid };
  const message =
    'Error creating: pods "reindex-x" is forbidden: exceeded quota: tight, requested: pods=1, used: pods=4, limited: pods=4';
  street.server.seed('Event', 'shop', {
    metadata: { name: 'r.1' },
    type: 'Warning',
    reason: 'FailedCreate',
    message,
    involvedObject: object,
  });
  street.start().onSignal(detectEvent(anEvent({ reason: 'FailedCreate', message, object }))!);
  await street.advance(20_000);
  assert.deepEqual(street.fixes()[0]?.status?.sightings?.affected, ['Job/reindex']);
  street.server.change('Job', 'shop', 'reindex', { status: { active: 4, succeeded: 6 } }); // no more than these are left
  await street.advance(60_000);
  assert.equal(street.cleared().length, 1);
});

test('the quota is gone and everybody has pods: that one of them restarts again and again is another matter', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(15_000);
  street.server.remove('ResourceQuota', 'shop', 'tight');
  unblock(street, 'api');
  const { name, uid } = street.server.get('ReplicaSet', 'shop', set)!.metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true };
  street.server.seed('Pod', 'shop', {
    metadata: { name: 'api-x', labels: { app: 'api' }, ownerReferences: [owner] },
    status: {},
  });
  for (let restartCount = 1; restartCount < 10; restartCount++) {
    const down = { name: 'app', ready: false, restartCount, state: { waiting: { reason: 'CrashLoopBackOff' } } };
    street.server.change('Pod', 'shop', 'api-x', { status: { phase: 'Running', containerStatuses: [down] } });
    await street.advance(20_000);
  }
  assert.equal(street.cleared().length, 1);
});
