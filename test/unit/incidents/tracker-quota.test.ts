import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import {
  aStreet,
  block,
  blockedByQuota,
  failedCreate,
  type Process,
  type Street,
  unblock,
} from '../../support/street.ts';

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
  assert.equal(fix?.spec.diagnosis, 'pods 1, already used 0, a pod asks 1');
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
