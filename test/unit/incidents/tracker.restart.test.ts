import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remediationName } from '../../../src/incidents/key.ts';
import { foundAtStart } from '../../../src/kube/remediation.ts';
import { aToyStreet, type ToyStreet } from '../../support/toys.ts';

/* What is there when we come, what was told before, and what happens while we are away. */

const listed = { listed: true, atStart: true };
const starts = ({ fixes }: ToyStreet): (string | undefined)[] =>
  fixes().map(({ metadata }) => metadata.annotations?.[foundAtStart]);
const started = '2026-11-16T03:12:00.000Z';

function sick(...names: string[]): ToyStreet {
  const street = aToyStreet();
  for (const name of names) street.is(name, ['CrashLoop']);
  return street;
}

test('what is still broken after the first list and its patience says which start found it; what breaks later does not', async () => {
  const street = sick('api', 'web');
  street.is('healed', ['CrashLoop']);
  const process = street.start();
  for (const name of ['api', 'web', 'healed']) process.onSignal(street.signal('CrashLoop', name, listed));
  await street.advance(10_000);
  street.is('healed', []);
  await street.advance(60_000);
  assert.deepEqual(starts(street), [started, started]);
  street.is('late', ['CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'late'));
  street.is('relisted', ['CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'relisted', { listed: true }));
  await street.advance(60_000);
  assert.deepEqual(starts(street), [started, started, undefined, undefined]);
  assert.equal(process.ledger.of('shop/Deployment/healed').outcomes[0]?.outcome, 'HealedBeforeTold');
});

test('a kill during patience loses nothing: the next start finds it', async () => {
  const street = sick('api');
  const first = street.start();
  first.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(20_000);
  first.stop();
  const second = street.start();
  second.onSignal(street.signal('CrashLoop', 'api', listed));
  await street.advance(40_000);
  assert.deepEqual(starts(street), ['2026-11-16T03:12:20.000Z']);
});

test('a restart with five open incidents repeats nothing, and sees them to their end', async () => {
  const five = ['a', 'b', 'c', 'd', 'e'];
  const street = sick(...five);
  const first = street.start();
  for (const name of five) first.onSignal(street.signal('CrashLoop', name));
  await street.advance(40_000);
  const before = street.told();
  assert.equal(before.length, 5);
  first.stop();
  const second = street.start();
  for (const name of five) second.onSignal(street.signal('CrashLoop', name, listed));
  await street.advance(300_000);
  assert.deepEqual(street.told(), before);
  assert.deepEqual(second.ledger.totals().outcomes, { Repeated: 5 });
  assert.deepEqual(
    street.fixes().map(({ status }) => status?.sightings?.count),
    [1, 1, 1, 1, 1],
  );
  for (const name of five) street.is(name, []);
  await street.advance(60_000);
  assert.equal(street.cleared().length, 5);
});

test('a Remediation that was deleted by hand: what is still broken is told again', async () => {
  const street = sick('api');
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(40_000);
  const [{ metadata }] = street.fixes() as [ReturnType<ToyStreet['fixes']>[number]];
  street.server.remove('Remediation', 'shop', metadata.name);
  process.onFix({ type: 'gone', namespace: 'shop', name: metadata.name, uid: metadata.uid });
  await street.advance(5_000);
  assert.equal(street.fixes().length, 1);
  assert.notEqual(street.fixes()[0]?.metadata.uid, metadata.uid);
});

test('every open incident is looked at again when asked to, whatever it waits for', async () => {
  const street = sick('api');
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(40_000);
  const before = street.readings.length;
  await street.clock.advance(100);
  assert.equal(street.readings.length, before);
  process.refresh();
  await street.clock.advance(0);
  assert.equal(street.readings.length, before + 1);
});

/* Once, and only when it is real. */

test('a blip of ten seconds: nothing', async () => {
  const street = sick('api');
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(10_000);
  street.is('api', []);
  await street.advance(300_000);
  assert.deepEqual([street.told(), street.outcomes], [[], ['HealedBeforeTold']]);
});

test('made again in the moment in which it was found to be gone: the signal of the new one is not forgotten', async () => {
  const street = sick('api');
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(20_000);
  street.server.remove('Deployment', 'shop', 'api');
  street.hooks.read = async () => {
    delete street.hooks.read;
    process.onSignal(street.signal('CrashLoop', 'api'));
    await street.clock.sleep(2_000);
  };
  await street.advance(60_000);
  assert.deepEqual([street.told(), street.outcomes], [['CrashLoop api 1'], ['Told', 'Told']]);
});

test('another process is faster in telling it: ours ends as a repetition', async () => {
  const street = sick('api');
  const [first, second] = [street.start(), street.start()];
  first.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(5_000);
  second.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['CrashLoop api 1']);
  assert.deepEqual(
    [first, second].map(({ ledger }) => ledger.totals().outcomes),
    [{ Told: 1 }, { Repeated: 1 }],
  );
});

test('a name that another incident’s Remediation has is not taken for our own', async () => {
  const street = sick('api');
  const incident = { key: 'shop/Deployment/other', class: 'CrashLoop', severity: 'critical', reason: 'r', message: 'm', firstSeen: started, object: { kind: 'Deployment', name: 'other', uid: 'o' } }; // prettier-ignore
  const name = remediationName('shop/Deployment/api', 1);
  street.server.seed('Remediation', 'shop', { metadata: { name }, spec: { incident, proposedBy: 'another' } });
  const process = street.start();
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(40_000);
  const own = street.fixes().filter(({ spec }) => spec.incident.key === 'shop/Deployment/api');
  assert.deepEqual(
    own.map(({ metadata }) => metadata.name),
    [remediationName('shop/Deployment/api', 2)],
  );
});

test('two workloads whose names differ only in what looks like a hash: two incidents', async () => {
  const street = sick('web-7d9f8b6c5d', 'web-6b8c9d7f54');
  const process = street.start();
  for (const name of ['web-7d9f8b6c5d', 'web-6b8c9d7f54']) {
    const { uid } = street.workload(name);
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
    const set = street.server.seed('ReplicaSet', 'shop', {
      metadata: { name: `${name}-5c9d7f8b64`, ownerReferences: [owner] },
    });
    process.onSignal(
      street.signal('CrashLoop', 'x', {
        object: { kind: 'ReplicaSet', name: set.metadata.name, uid: set.metadata.uid },
      }),
    );
    process.onSignal(
      street.signal('CrashLoop', 'x', { object: { kind: 'Pod', name: `${name}-5c9d7f8b64-x2x4z`, uid: 'gone' } }),
    );
  }
  await street.advance(60_000);
  assert.deepEqual(
    street
      .fixes()
      .map(({ spec }) => spec.incident.key)
      .sort(),
    ['shop/Deployment/web-6b8c9d7f54', 'shop/Deployment/web-7d9f8b6c5d'],
  );
  assert.deepEqual(
    street.fixes().map(({ status }) => status?.sightings?.count),
    [2, 2],
  );
});

test('a Deployment that flaps through ten rollouts: one incident', async () => {
  const street = sick('api');
  const process = street.start();
  const { uid } = street.workload('api');
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', uid, controller: true };
  for (let n = 0; n < 10; n++) {
    const name = `api-7d9f8b6c${n % 2 ? 5 : 6}${'456789bcdf'[n]}`;
    const set = street.server.seed('ReplicaSet', 'shop', { metadata: { name, ownerReferences: [owner] } });
    street.is('api', ['CrashLoop']);
    process.onSignal(street.signal('CrashLoop', 'x', { object: { kind: 'ReplicaSet', name, uid: set.metadata.uid } }));
    process.onSignal(street.signal('CrashLoop', 'x', { object: { kind: 'Pod', name: `${name}-x2x4z`, uid: `p${n}` } }));
    await street.advance(14_000);
    if (n % 2) street.is('api', []); // well for a moment, between two
    await street.advance(6_000);
    if (n % 3 === 0) street.server.remove('ReplicaSet', 'shop', name);
  }
  assert.deepEqual(street.told(), ['CrashLoop api 1']);
  assert.equal(street.fixes()[0]?.spec.incident.key, 'shop/Deployment/api');
});
