import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aToyStreet, type ToyStreet } from '../../support/toys.ts';

/* A shared cause is one incident; what it does to a workload is no second one. */

const cause = { kind: 'ResourceQuota', name: 'tight' };

async function quotaTold() {
  const street = aToyStreet();
  street.workload('tight', 'ResourceQuota');
  street.is('tight', ['QuotaExceeded'], { kind: 'ResourceQuota', affected: ['Deployment/api', 'Deployment/web'] });
  const process = street.start();
  process.onSignal(street.signal('QuotaExceeded', 'api', { cause }));
  await street.advance(12_000);
  assert.deepEqual(street.told(), ['QuotaExceeded tight 1']);
  return { street, process };
}

const keys = ({ fixes }: ToyStreet): string[] => fixes().map(({ spec }) => spec.incident.key);

for (const failureClass of ['RolloutStuck', 'Evicted', 'ProbeFailing'])
  test(`${failureClass} of a workload that an open quota blocks is a symptom`, async () => {
    const { street, process } = await quotaTold();
    street.is('api', [failureClass]);
    process.onSignal(street.signal(failureClass, 'api'));
    process.onSignal(street.signal(failureClass, 'api'));
    await street.advance(600_000);
    process.onSignal(street.signal(failureClass, 'api'));
    await street.advance(60_000);
    assert.deepEqual(keys(street), ['shop/ResourceQuota/tight']);
    assert.deepEqual(street.outcomes, ['Told', 'Symptom', 'Symptom', 'Symptom']);
    assert.equal(process.ledger.waiting(), 0);
  });

test('a crash loop is no symptom of a quota, nor is a stuck rollout of somebody that it does not block', async () => {
  const { street, process } = await quotaTold();
  street.is('api', ['CrashLoop']);
  street.is('other', ['RolloutStuck']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  process.onSignal(street.signal('RolloutStuck', 'other'));
  await street.advance(120_000);
  assert.deepEqual(keys(street).slice(1).sort(), ['shop/Deployment/api', 'shop/Deployment/other']);
});

test('a symptom that something else joins is an incident of its own', async () => {
  const { street, process } = await quotaTold();
  street.is('api', ['RolloutStuck']);
  process.onSignal(street.signal('RolloutStuck', 'api'));
  await street.advance(60_000);
  street.is('api', ['RolloutStuck', 'CrashLoop']);
  process.onSignal(street.signal('CrashLoop', 'api'));
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['QuotaExceeded tight 1', 'CrashLoop api 1']);
});

test('a symptom stays one, whatever else was seen that no reading confirms', async () => {
  const { street, process } = await quotaTold();
  street.is('api', ['ProbeFailing']);
  for (let n = 0; n < 5; n++) {
    process.onSignal(street.signal('CreateRejected', 'api', { reason: 'PodsMissing' })); // by the quota, as the reading knows
    process.onSignal(street.signal('ProbeFailing', 'api'));
    await street.advance(150_000);
  }
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['QuotaExceeded tight 1']);
  assert.deepEqual(new Set(street.outcomes.slice(1)), new Set(['Symptom']));
  assert.equal(process.ledger.waiting(), 0);
});

test('the cause is over and the symptom is not: told, after all of its patience', async () => {
  const { street, process } = await quotaTold();
  street.is('api', ['ProbeFailing']);
  process.onSignal(street.signal('ProbeFailing', 'api'));
  await street.advance(300_000);
  street.is('tight', [], { kind: 'ResourceQuota' });
  await street.advance(40_000);
  assert.equal(street.cleared().length, 1);
  await street.advance(90_000);
  assert.equal(street.fixes().length, 1);
  await street.advance(60_000);
  assert.deepEqual(street.told(), ['QuotaExceeded tight 1', 'ProbeFailing api 1']);
});

test('the cause is over and the symptom with it: silence', async () => {
  const { street, process } = await quotaTold();
  street.is('api', ['RolloutStuck']);
  process.onSignal(street.signal('RolloutStuck', 'api'));
  await street.advance(120_000);
  for (const [name, kind] of [
    ['tight', 'ResourceQuota'],
    ['api', 'Deployment'],
  ] as const)
    street.is(name, [], { kind });
  await street.advance(300_000);
  assert.equal(street.fixes().length, 1);
  assert.deepEqual(street.outcomes, ['Told', 'Symptom']);
});

/* Causes that have no namespace: their incidents live in tapfix's own. */

const node = { class: 'NodeDown', namespace: '', object: { kind: 'Node', name: 'worker-3', uid: 'n' }, reason: 'NodeNotReady', message: 'm' }; // prettier-ignore

function withNode(): ToyStreet {
  const street = aToyStreet();
  street.server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  street.server.seed('Node', undefined, { metadata: { name: 'worker-3' } });
  street.is('worker-3', ['NodeDown'], { kind: 'Node', affected: ['shop/Deployment/api', 'pay/Deployment/web'] });
  return street;
}
const ofNode = ({ server }: ToyStreet) => ({
  ...node,
  object: { ...node.object, uid: server.list('Node')[0]!.metadata.uid },
});

test('a node that is down is one incident, in our own namespace, without an action; what it does to its pods is a symptom', async () => {
  const street = withNode();
  street.helps('worker-3', { type: 'DeletePod', deletePod: {} });
  const process = street.start();
  for (const namespace of ['', 'default', 'tapfix']) process.onSignal({ ...ofNode(street), namespace });
  await street.advance(61_000);
  street.is('api', ['ProbeFailing']);
  process.onSignal(street.signal('ProbeFailing', 'api'));
  await street.advance(180_000);
  const [fix, ...others] = street.fixes();
  assert.deepEqual(others, []);
  assert.deepEqual([fix?.metadata.namespace, fix?.spec.incident.key], ['tapfix', 'tapfix/Node/worker-3']);
  assert.deepEqual(fix?.status?.sightings?.affected, ['shop/Deployment/api', 'pay/Deployment/web']);
  assert.equal(fix?.spec.action, undefined);
  assert.deepEqual(street.outcomes, ['Told', 'Told', 'Told', 'Symptom']);
  assert.deepEqual(
    process.ledger.of('tapfix/Node/worker-3').outcomes.map(({ outcome }) => outcome),
    ['Told'],
  );
});

test('a missing StorageClass of two namespaces is one incident', async () => {
  const street = aToyStreet();
  street.server.seed('Namespace', undefined, { metadata: { name: 'tapfix' } });
  street.is('fast', ['StorageFailed'], { kind: 'StorageClass', affected: ['shop/PersistentVolumeClaim/data-0'] });
  const process = street.start();
  for (const namespace of ['shop', 'pay']) {
    const object = street.workload('data-0', 'PersistentVolumeClaim', namespace);
    process.onSignal({
      ...street.signal('StorageFailed', 'x', { cause: { kind: 'StorageClass', name: 'fast' } }),
      namespace,
      object,
    });
  }
  await street.advance(200_000);
  assert.deepEqual(keys(street), ['tapfix/StorageClass/fast']);
  const [entry] = process.ledger.of('pay/PersistentVolumeClaim/data-0').outcomes;
  assert.deepEqual([entry?.outcome, entry?.incident], ['Told', 'tapfix/StorageClass/fast']);
});

test('a node whose pods’ workloads are all to be ignored is not told; nor is one that is itself', async () => {
  const ignored = { annotations: { 'tapfix.dev/ignore': 'true' } };
  const ways: ((street: ToyStreet) => void)[] = [
    ({ server }) => void server.change('Node', '', 'worker-3', { metadata: ignored }),
    ({ server, workload }) => {
      workload('api');
      server.change('Deployment', 'shop', 'api', { metadata: ignored });
      server.seed('Namespace', undefined, { metadata: { name: 'pay', ...ignored } });
    },
  ];
  for (const way of ways) {
    const street = withNode();
    way(street);
    street.start().onSignal(ofNode(street));
    await street.advance(62_000);
    assert.deepEqual([street.told(), street.outcomes], [[], ['IgnoredByAnnotation']]);
  }
});
