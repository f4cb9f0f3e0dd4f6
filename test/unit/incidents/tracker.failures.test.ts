import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import type { Call } from '../../support/fake-api.ts';
import {
  aStreet,
  blockedByQuota,
  crashLoop,
  failedCreate,
  podSignal,
  type Street,
  unblock,
} from '../../support/street.ts';
import { aToyStreet } from '../../support/toys.ts';

const name = remediationName('shop/ResourceQuota/tight', 1);

function blocked(names = ['api', 'web']): Street {
  const street = aStreet();
  blockedByQuota(street, names);
  return street;
}

const isCreate = ({ kind, verb }: Call): boolean => kind === 'Remediation' && verb === 'create';
const isSightings = ({ kind, verb, body }: Call): boolean =>
  kind === 'Remediation' && verb === 'patch' && JSON.stringify(body).includes('"sightings"');
const isClearing = ({ kind, verb, body }: Call): boolean =>
  kind === 'Remediation' && verb === 'patch' && JSON.stringify(body).includes('IncidentCleared');
const isOwnerLookup = ({ kind, verb }: Call): boolean => kind === 'ReplicaSet' && verb === 'get';

const sightingsWritten = ({ server }: Street): number => server.calls.filter(isSightings).length;

/** Fails these calls for a while, each with its turn of trouble. */
function trouble({ server, clock }: Street, which: (call: Call) => boolean, when: 'before' | 'after', forMs: number) {
  const untilMs = clock.now() + forMs;
  const errors = [
    new Unreachable('connection reset'),
    new ApiError('etcd leader changed', 500, 'InternalError'),
    new ApiError('slow down', 429, 'TooManyRequests'),
  ];
  let n = 0;
  server.hooks[when] = (call) => {
    if (which(call) && clock.now() < untilMs) throw errors[n++ % errors.length]!;
  };
}

test('a name that is already taken is adopted: no twin', async () => {
  const street = blocked();
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(9_000);
  const incident = { key: 'shop/ResourceQuota/tight', class: 'QuotaExceeded', severity: 'critical', reason: 'r', message: 'm', firstSeen: '2026-11-16T03:00:00Z', object: { kind: 'ResourceQuota', name: 'tight', uid: '' } }; // prettier-ignore
  // The other replica was faster, and our watch has not told us yet.
  street.server.seed('Remediation', 'shop', { metadata: { name }, spec: { incident, proposedBy: 'another' } });
  await street.clock.advance(5_000);
  assert.deepEqual(
    street.fixes().map(({ metadata }) => metadata.name),
    [name],
  );
  assert.equal(street.fixes()[0]!.status?.sightings?.count, 1);
});

for (const when of ['before', 'after'] as const) {
  test(`creation lost ${when} it arrived: told once, and seen to its end`, async () => {
    const street = blocked();
    trouble(street, isCreate, when, 30_000);
    street.start().onSignal(failedCreate(street, 'api'));
    await street.advance(60_000);
    assert.deepEqual(
      street.fixes().map(({ metadata }) => metadata.name),
      [name],
    );
    assert.equal(street.fixes()[0]!.status?.sightings?.count, 1);
    for (const workload of ['api', 'web']) unblock(street, workload);
    await street.advance(45_000);
    assert.deepEqual(street.cleared(), [name]);
  });

  test(`creation lost ${when} it arrived, and then killed: the next process makes no twin`, async () => {
    const street = blocked();
    trouble(street, isCreate, when, 30_000);
    const first = street.start();
    first.onSignal(failedCreate(street, 'api'));
    await street.advance(11_000);
    first.stop();
    street.start().onSignal(failedCreate(street, 'api'));
    await street.advance(60_000);
    assert.deepEqual(
      street.fixes().map(({ metadata }) => metadata.name),
      [name],
    );
  });

  test(`sightings lost ${when} they arrived are written later, and nothing is told twice`, async () => {
    const street = blocked();
    trouble(street, isSightings, when, 40_000);
    const process = street.start();
    for (const workload of ['api', 'web', 'api']) process.onSignal(failedCreate(street, workload));
    await street.advance(90_000);
    assert.equal(street.fixes().length, 1);
    const { count, affected } = street.fixes()[0]!.status!.sightings!;
    assert.deepEqual([count, affected], [3, ['Deployment/api', 'Deployment/web']]);
    assert.deepEqual(street.outcomes, ['Told', 'Told', 'Told']);
  });

  test(`the end of the episode, lost ${when} it arrived, is written once it can be`, async () => {
    const street = blocked(['api']);
    street.start().onSignal(failedCreate(street, 'api'));
    await street.advance(12_000);
    unblock(street, 'api');
    trouble(street, isClearing, when, 60_000);
    await street.advance(150_000);
    assert.deepEqual(street.cleared(), [name]);
    assert.equal(street.fixes()[0]!.status?.conditions?.length, 1);
  });
}

test('an owner that cannot be read for a while loses no signal', async () => {
  const street = aStreet();
  crashLoop(street);
  trouble(street, isOwnerLookup, 'before', 20_000);
  const process = street.start();
  for (let n = 0; n < 3; n++) process.onSignal(podSignal(street));
  await street.advance(15_000);
  assert.deepEqual(street.outcomes, []);
  await street.advance(120_000); // the longest back-off, then patience
  assert.deepEqual(
    street.fixes().map(({ spec }) => spec.incident.key),
    ['shop/Deployment/checkout'],
  );
  assert.equal(street.fixes()[0]!.status?.sightings?.count, 3);
  assert.deepEqual(street.outcomes, ['Told', 'Told', 'Told']);
});

test('the end of the episode keeps what the controller wrote meanwhile', async () => {
  const street = blocked(['api']);
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  unblock(street, 'api');
  let once = true;
  street.server.hooks.before = (call) => {
    if (!once || !isClearing(call)) return;
    once = false;
    street.phase(name, 'Proposed');
  };
  await street.advance(45_000);
  const types = street.fixes()[0]!.status?.conditions?.map(({ type }) => type);
  assert.deepEqual(types, ['Proposed', 'IncidentCleared']);
});

/* Sightings: at first, when who is affected changes, else at most once a minute; at once while a fix is watched. */

test('many signals of the same are one write a minute', async () => {
  const street = blocked();
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(11_000);
  assert.equal(sightingsWritten(street), 1);
  for (let n = 0; n < 58; n++) {
    process.onSignal(failedCreate(street, 'api'));
    await street.advance(1_000);
  }
  assert.equal(sightingsWritten(street), 1);
  await street.advance(60_000);
  assert.equal(sightingsWritten(street), 2);
  assert.equal(street.fixes()[0]!.status?.sightings?.count, 59);
  await street.advance(300_000);
  assert.equal(sightingsWritten(street), 2, 'nothing new is not written');
});

test('signals without end cost no more readings than their incident needs', async () => {
  const street = aStreet();
  crashLoop(street);
  const process = street.start();
  process.onSignal(podSignal(street));
  await street.advance(40_000);
  const before = street.server.calls.length;
  for (let n = 0; n < 200; n++) {
    process.onSignal(podSignal(street));
    await street.clock.advance(300);
  }
  const asked = street.server.calls.slice(before).filter(({ kind, verb }) => kind === 'Deployment' && verb === 'get');
  assert.ok(asked.length <= 40, `${asked.length} readings in a minute`);
});

test('the more there is broken, the less often each of it is read: the API server has enough to do', async () => {
  const street = aToyStreet();
  const process = street.start();
  const names = Array.from({ length: 120 }, (_, n) => `web-${n}`);
  for (const one of names) {
    street.is(one, ['CrashLoop']);
    process.onSignal(street.signal('CrashLoop', one));
  }
  await street.advance(60_000);
  assert.equal(street.fixes().length, 120);
  street.readings.length = 0;
  for (let second = 0; second < 60; second++) {
    for (const one of names) process.onSignal(street.signal('CrashLoop', one)); // and it never ends
    await street.advance(1_000);
  }
  assert.ok(street.readings.length <= 720, `${street.readings.length} readings in a minute`);
  assert.deepEqual(new Set(street.readings), new Set(names));
  for (const one of names) street.is(one, []);
  await street.advance(60_000);
  assert.equal(street.cleared().length, 120);
});

test('one more workload behind the same cause is written at once', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api', 'web']);
  unblock(street, 'web');
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.deepEqual(street.fixes()[0]!.status?.sightings?.affected, ['Deployment/api']);
  const status = { replicas: 0, conditions: street.server.get('ReplicaSet', 'shop', 'api-7d9f8b6c5d')!['status'] };
  street.server.change('ReplicaSet', 'shop', 'web-7d9f8b6c5d', { status: status.conditions as object });
  process.onSignal(failedCreate(street, 'web'));
  await street.advance(2_000);
  assert.deepEqual(street.fixes()[0]!.status?.sightings?.affected, ['Deployment/api', 'Deployment/web']);
});

test('while a fix is being watched every change is written at once', async () => {
  const street = blocked(['api']);
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  street.phase(name, 'Applied');
  await street.advance(1_000);
  for (let count = 2; count <= 5; count++) {
    process.onSignal(failedCreate(street, 'api'));
    await street.advance(2_000);
    assert.equal(street.fixes()[0]!.status?.sightings?.count, count);
  }
});

test('a namespace that may not be read is no reason to keep silent', async () => {
  const street = blocked(['api']);
  street.server.hooks.before = (call) => {
    if (call.kind === 'Namespace') throw new ApiError('namespaces is forbidden', 403, 'Forbidden');
  };
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.equal(street.fixes().length, 1);
});
