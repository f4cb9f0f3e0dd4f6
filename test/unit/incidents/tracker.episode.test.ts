import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unreachable } from '../../../src/kube/api.ts';
import { viewJob, viewReplicaSet } from '../../../src/kube/views.ts';
import { detectEvent, detectJob } from '../../../src/signals/detect.ts';
import {
  aStreet,
  comeUp,
  crash,
  crashLoop,
  fullQuota,
  podSignal,
  type Process,
  refusal,
  type Street,
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
  assert.deepEqual(street.outcomes, ['NoLongerTrue']);
  const calls = street.server.calls.length;
  await street.advance(60_000);
  assert.equal(street.server.calls.length, calls);
});

test('old news and a revision that a quota refuses: one card, about the quota', async () => {
  const { street, process } = watching();
  street.server.remove('Pod', 'shop', pod);
  fullQuota(street.server);
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: refusal('tight') }];
  street.server.change('ReplicaSet', 'shop', set, { status: { replicas: 0, conditions } });
  const { uid } = street.server.get('ReplicaSet', 'shop', set)!.metadata;
  const object = { kind: 'ReplicaSet', name: set, namespace: 'shop', uid };
  process.onSignal(oldNews());
  process.onSignal(detectEvent(anEvent({ reason: 'FailedCreate', message: refusal('tight'), object }))!);
  await street.advance(120_000);
  assert.deepEqual(
    street.fixes().map(({ spec }) => spec.action?.type),
    ['DeleteResourceQuota'],
  );
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
  const { metadata } = street.server.seed('Pod', 'shop', {
    metadata: { name: 'db-0', ownerReferences: [owner] },
    status: { phase: 'Running', containerStatuses: [down] },
  });
  const object = { kind: 'Pod', name: 'db-0', namespace: 'shop', uid: metadata.uid };
  street.start().onSignal(detectEvent(anEvent({ object }))!);
  await street.advance(60_000);
  assert.deepEqual(
    street.fixes().map(({ spec }) => spec.incident.key),
    ['shop/StatefulSet.apps.kruise.io/db'],
  );
});

test('a Deployment that is deleted and made again, and crashes again: its Remediation follows the first one', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(40_000);
  for (const [kind, name] of [
    ['Deployment', 'checkout'],
    ['ReplicaSet', 'checkout-7d9f8b6c5d'],
    ['ReplicaSet', set],
    ['Pod', pod],
  ] as const)
    street.server.remove(kind, 'shop', name);
  crashLoop(street);
  const { uid } = street.server.get('Deployment', 'shop', 'checkout')!.metadata;
  for (let n = 0; n < 9; n++) {
    process.onSignal(podSignal(street));
    await street.advance(20_000);
  }
  const [first, second] = street.fixes().sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  assert.deepEqual(street.cleared(), []);
  assert.equal(second?.spec.incident.object.uid, uid);
  assert.deepEqual(second?.spec.follows, { name: first!.metadata.name, uid: first!.metadata.uid });
  assert.equal(second?.spec.incident.firstSeen, first?.spec.incident.firstSeen, 'it is the same episode');
});

const parts = [
  ['Deployment', 'checkout'],
  ['ReplicaSet', 'checkout-7d9f8b6c5d'],
  ['ReplicaSet', set],
  ['Pod', pod],
] as const;
const remove = ({ server }: ReturnType<typeof watching>['street']): void => {
  for (const [kind, name] of parts) server.remove(kind, 'shop', name);
};

const goesOn: [string, (street: ReturnType<typeof watching>['street'], name: string) => void, number][] = [
  ['rejected', (street, name) => street.phase(name, 'Rejected'), 2],
  ['expired', (street, name) => street.phase(name, 'Expired'), 2],
  ['recovered: that was the end of it', (street, name) => street.phase(name, 'Recovered'), 1],
];
for (const [what, happens, want] of goesOn)
  test(`made again within the episode, and broken: ${what}`, async () => {
    const { street, process } = watching();
    process.onSignal(podSignal(street));
    await street.advance(70_000);
    happens(street, street.fixes()[0]!.metadata.name);
    remove(street);
    crashLoop(street);
    await street.advance(40_000);
    assert.equal(street.fixes().length, want);
    assert.equal(street.fixes().filter(({ spec }) => spec.follows).length, want - 1);
  });

test('made again, it is given its patience', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(70_000);
  remove(street);
  await street.advance(20_000);
  crashLoop(street);
  await street.advance(25_000);
  assert.equal(street.fixes().length, 1);
  await street.advance(15_000);
  assert.equal(street.fixes().length, 2);
});

test('made again and healthy: the episode ends as healthy, after the whole window', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(70_000);
  remove(street);
  await street.advance(20_000);
  crashLoop(street);
  comeUp(street, 3);
  await street.advance(35_000);
  assert.deepEqual(street.cleared(), []);
  await street.advance(70_000);
  const [fix] = street.fixes();
  assert.equal(fix?.status?.conditions?.find(({ type }) => type === 'IncidentCleared')?.reason, 'Healthy');
  assert.equal(street.fixes().length, 1);
});

test('a Job that crashed until it failed for good: the episode ends, and nobody calls it healthy', async () => {
  const street = aStreet();
  const selector = { matchLabels: { job: 'migrate' } };
  const { metadata } = street.server.seed('Job', 'shop', {
    metadata: { name: 'migrate' },
    spec: { selector },
    status: { active: 1 },
  });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'migrate', uid: metadata.uid, controller: true };
  const down = { name: 'app', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } };
  const own = street.server.seed('Pod', 'shop', {
    metadata: { name: 'migrate-x2x4z', labels: { job: 'migrate' }, ownerReferences: [owner] },
    status: { phase: 'Running', containerStatuses: [down] },
  });
  const object = { kind: 'Pod', name: 'migrate-x2x4z', namespace: 'shop', uid: own.metadata.uid };
  street.start().onSignal(detectEvent(anEvent({ object }))!);
  await street.advance(40_000);
  street.server.remove('Pod', 'shop', 'migrate-x2x4z');
  street.server.change('Job', 'shop', 'migrate', {
    status: { active: 0, failed: 1, conditions: [{ type: 'Failed', status: 'True' }] },
  });
  await street.advance(60_000);
  const cleared = street.fixes()[0]?.status?.conditions?.find(({ type }) => type === 'IncidentCleared');
  assert.deepEqual([cleared?.reason, cleared?.message], ['Ended', 'the Job failed for good']);
});

test('scaled to zero by somebody: the episode ends, and nobody calls it healthy', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(40_000);
  const none = { observedGeneration: 99, replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  street.server.change('Deployment', 'shop', 'checkout', { spec: { replicas: 0 }, status: none });
  street.server.remove('Pod', 'shop', pod);
  await street.advance(60_000);
  const cleared = street.fixes()[0]?.status?.conditions?.find(({ type }) => type === 'IncidentCleared');
  assert.deepEqual([cleared?.reason, cleared?.message], ['Ended', 'it was scaled to zero']);
});

for (const isKept of [true, false])
  test(`a CronJob whose last run failed is not healthy before a run succeeds, ${isKept ? 'which is kept' : 'which is gone at once'}`, async () => {
    const street = aStreet();
    const { uid } = street.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {} }).metadata;
    const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid, controller: true };
    const down = { name: 'app', ready: false, restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } };
    const runIt = (n: number, conditions: object[]) => {
      const name = `nightly-2940000${n}`;
      const { metadata } = street.server.seed('Job', 'shop', {
        metadata: { name, ownerReferences: [cronJob] },
        spec: {},
        status: { conditions },
      });
      return { apiVersion: 'batch/v1', kind: 'Job', name, uid: metadata.uid, controller: true };
    };
    const owner = runIt(1, []);
    const own = street.server.seed('Pod', 'shop', {
      metadata: { name: `${owner.name}-x2x4z`, ownerReferences: [owner] },
      status: { phase: 'Running', containerStatuses: [down] },
    });
    const object = { kind: 'Pod', name: own.metadata.name, namespace: 'shop', uid: own.metadata.uid };
    street.start().onSignal(detectEvent(anEvent({ object }))!);
    await street.advance(40_000);
    street.server.remove('Pod', 'shop', own.metadata.name);
    street.server.change('Job', 'shop', owner.name, { status: { conditions: [{ type: 'Failed', status: 'True' }] } });
    await street.advance(600_000);
    assert.deepEqual(street.cleared(), []);
    street.server.change('CronJob', 'shop', 'nightly', { status: { lastSuccessfulTime: '2026-11-16T03:11:00Z' } });
    await street.advance(60_000);
    assert.deepEqual(street.cleared(), [], 'that was before the run that failed');
    if (isKept) runIt(2, [{ type: 'Complete', status: 'True' }]);
    else street.server.change('CronJob', 'shop', 'nightly', { status: { lastSuccessfulTime: '2026-11-16T03:30:00Z' } });
    await street.advance(60_000);
    assert.equal(street.cleared().length, 1);
    assert.equal(street.fixes().length, 1);
  });

test('a CronJob that failed yesterday and has succeeded since: its kept failed run wakes nobody when we start', async () => {
  const street = aStreet();
  const at = (agoMs: number): string => new Date(street.clock.now() - agoMs).toISOString();
  const status = { lastSuccessfulTime: at(3_600_000) };
  const { uid } = street.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {}, status }).metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid, controller: true };
  const conditions = [
    { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', lastTransitionTime: at(86_400_000) },
  ];
  const run = street.server.seed('Job', 'shop', {
    metadata: { name: 'nightly-29400001', ownerReferences: [owner] },
    spec: {},
    status: { conditions },
  });
  const made = { metadata: { creationTimestamp: at(86_500_000) } };
  street.server.change('Job', 'shop', run.metadata.name, made);
  const process = street.start();
  for (const signal of detectJob(viewJob(run)!, street.clock.now()))
    process.onSignal({ ...signal, listed: true, atStart: true });
  await street.advance(120_000);
  assert.deepEqual([street.fixes(), street.outcomes], [[], ['HealedBeforeTold']]);
});

for (const [what, failedAgoMs, cards] of [
  ['before', 1_800_000, 0],
  ['after', 300_000, 1],
] as const)
  test(`an event of the hour says that a run failed, ${what} the last success, and the run is gone: ${cards} card(s)`, async () => {
    const street = aStreet();
    const at = (agoMs: number): string => new Date(street.clock.now() - agoMs).toISOString();
    const status = { lastSuccessfulTime: at(600_000) };
    street.server.seed('CronJob', 'shop', { metadata: { name: 'nightly' }, spec: {}, status });
    const object = { kind: 'Job', name: 'nightly-29400001', namespace: 'shop', uid: 'gone' };
    const lastSeenMs = street.clock.now() - failedAgoMs;
    const signal = detectEvent(anEvent({ object, reason: 'BackoffLimitExceeded', lastSeenMs }))!;
    street.start().onSignal({ ...signal, listed: true, atStart: true });
    await street.advance(120_000);
    assert.equal(street.fixes().length, cards);
  });

test('one restart of a pod that had lived for long costs a moderate number of requests', async () => {
  const { street, process } = watching();
  const ended = { exitCode: 1, reason: 'Error', startedAt: '2026-11-01T03:11:00Z', finishedAt: '2026-11-16T03:12:00Z' };
  const signal = podSignal(street);
  comeUp(street, 2);
  const up = { name: 'app', ready: true, restartCount: 2, state: { running: {} }, lastState: { terminated: ended } };
  street.server.change('Pod', 'shop', pod, { status: { containerStatuses: [up] } });
  process.onSignal(signal);
  await street.advance(15 * 60_000);
  assert.deepEqual(street.outcomes, ['HealedBeforeTold']);
  assert.ok(street.server.calls.length < 400, `${street.server.calls.length} requests`);
});

test('a reading that fails is a break: only what was seen to hold has held', async () => {
  const { street, process } = watching();
  process.onSignal(podSignal(street));
  await street.advance(32_000);
  comeUp(street, 0);
  await street.advance(5_000);
  street.server.hooks.before = () => {
    throw new Unreachable('down');
  };
  await street.advance(60_000);
  delete street.server.hooks.before;
  await street.advance(35_000);
  assert.deepEqual(street.cleared(), [], 'forty seconds are wanted, after the outage');
  await street.advance(60_000);
  assert.equal(street.cleared().length, 1);
});
