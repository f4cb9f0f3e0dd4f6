import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type KubeObject, type Reader } from '../../../src/kube/api.ts';
import { objectPath } from '../../../src/kube/client.ts';
import { createOwnerResolver, ownerByName, ownersByName, type Root } from '../../../src/kube/owners.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { readerOf, type Thing } from '../../support/shapes.ts';

const object = (uid: string, owner?: { kind: string; name: string; uid: string }): KubeObject => ({
  metadata: {
    name: uid,
    uid,
    resourceVersion: '1',
    creationTimestamp: '',
    ...(owner ? { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...owner }] } : {}),
  },
});

function readerOver(objects: Record<string, KubeObject>) {
  const asked: string[] = [];
  const reader: Pick<Reader, 'get'> = {
    get: async (ref) => {
      objectPath(ref); // as the client does
      const { kind, name } = ref;
      asked.push(`${kind}/${name}`);
      if (name === 'secretive') throw new ApiError('forbidden', 403, 'Forbidden');
      return objects[`${kind}/${name}`] as never;
    },
  };
  return { reader: reader as Reader, asked };
}

const cluster = {
  'Pod/a-5d9f8b6c5d-x2x4z': object('p1', { kind: 'ReplicaSet', name: 'a-5d9f8b6c5d', uid: 'r1' }),
  'ReplicaSet/a-5d9f8b6c5d': object('r1', { kind: 'Deployment', name: 'a', uid: 'd1' }),
  'Deployment/a': object('d1'),
  'Pod/b-x': object('p2', { kind: 'ReplicaSet', name: 'b-5d9f8b6c5d', uid: 'r2' }),
  'ReplicaSet/b-5d9f8b6c5d': object('r2', { kind: 'Rollout', name: 'b', uid: 'x1' }),
  'Pod/lonely': object('p3'),
  'Pod/odd': object('p6', { kind: 'ReplicaSet', name: '..', uid: 'r6' }),
};
const cases = [
  {
    name: 'a live pod leads to its Deployment',
    of: { kind: 'Pod', name: 'a-5d9f8b6c5d-x2x4z', uid: 'p1' },
    want: 'Deployment/a/d1',
  },
  {
    name: 'a deleted pod, by its name',
    of: { kind: 'Pod', name: 'a-5d9f8b6c5d-zzzzz', uid: 'p9' },
    want: 'Deployment/a/d1',
  },
  {
    name: 'a custom owner, as far as the reference says',
    of: { kind: 'Pod', name: 'b-x', uid: 'p2' },
    want: 'Rollout/b/x1',
  },
  { name: 'a pod of its own', of: { kind: 'Pod', name: 'lonely', uid: 'p3' }, want: 'Pod/lonely/p3' },
  {
    name: 'a pod of the same name that is another one by now',
    of: { kind: 'Pod', name: 'lonely', uid: 'p0' },
    want: 'nobody',
  },
  {
    name: 'an owner that may not be read',
    of: { kind: 'Pod', name: 'secretive', uid: 'p5' },
    want: 'Pod/secretive/p5',
  },
  { name: 'what nothing can be called', of: { kind: 'Pod', name: 'a/b', uid: '' }, want: 'nobody' },
  { name: 'an owner that nothing can be called', of: { kind: 'Pod', name: 'odd', uid: 'p6' }, want: 'nobody' },
];
for (const { name, of, want } of cases)
  test(`owner: ${name}`, async () => {
    const root = await createOwnerResolver(readerOver(cluster).reader, fakeClock()).rootOf('shop', of);
    assert.equal(root ? `${root.kind}/${root.name}/${root.uid}` : 'nobody', want);
  });

test('a name that was cut, where no workload may be listed: nobody, and not asked for ever', async () => {
  const list = async () => {
    throw new ApiError('forbidden', 403, 'Forbidden');
  };
  const reader = { ...readerOver(cluster).reader, list };
  const of = { kind: 'Pod', name: `${'a'.repeat(58)}x2x4z`, uid: 'p9' };
  assert.equal(await createOwnerResolver(reader, fakeClock()).rootOf('shop', of), undefined);
});

test('the second question about a pod costs no request, and after a while one: whether its workload is still the same', async () => {
  const { reader, asked } = readerOver(cluster);
  const clock = fakeClock();
  const owners = createOwnerResolver(reader, clock);
  const pod = { kind: 'Pod', name: 'a-5d9f8b6c5d-x2x4z', uid: 'p1' };
  await owners.rootOf('shop', pod);
  const before = asked.length;
  await owners.rootOf('shop', pod);
  assert.deepEqual(asked.slice(before), []);
  await clock.advance(30_000);
  await owners.rootOf('shop', pod);
  assert.deepEqual(asked.slice(before), ['Deployment/a']);
});

test('a pod that was left alone while its owner was re-created: what is remembered of it is not believed for ever', async () => {
  const owned = (uid: string) => ({ ...object('p6', { kind: 'StatefulSet', name: 'db', uid }) });
  const objects: Record<string, KubeObject> = { 'Pod/db-0': owned('s1'), 'StatefulSet/db': object('s1') };
  const clock = fakeClock();
  const owners = createOwnerResolver(readerOver(objects).reader, clock);
  const pod = { kind: 'Pod', name: 'db-0', uid: 'p6' };
  assert.equal((await owners.rootOf('shop', pod))?.uid, 's1');
  Object.assign(objects, { 'Pod/db-0': owned('s2'), 'StatefulSet/db': object('s2') });
  await clock.advance(30_000);
  assert.equal((await owners.rootOf('shop', pod))?.uid, 's2');
});

/* One failure, seen in six ways, has one key. */

const thing = (kind: string, name: string, uid: string, owner?: Thing, spec?: object): Thing => ({
  kind,
  metadata: {
    name,
    namespace: 'shop',
    uid,
    resourceVersion: '1',
    creationTimestamp: '',
    ...(owner && {
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: owner.kind,
          name: owner.metadata.name,
          uid: owner.metadata.uid,
          controller: true,
        },
      ],
    }),
  },
  ...(spec && { spec }),
});
const deployment = thing('Deployment', 'checkout', 'd');
const set = thing('ReplicaSet', 'checkout-7d9f8b6c5d', 'r1', deployment);
const pod = thing('Pod', 'checkout-7d9f8b6c5d-x2x4z', 'p1', set);
const newSet = thing('ReplicaSet', 'checkout-6b8c9d7f54', 'r2', deployment);
const newPod = thing('Pod', 'checkout-6b8c9d7f54-b5b6b', 'p2', newSet);
const rootOf = ({ kind, metadata }: Thing): Root => ({ kind, name: metadata.name, uid: metadata.uid });

interface View {
  live: Thing[];
  of: Root;
  /** What was there when it was asked for before. */
  before?: Thing[];
}
const views: Record<string, View> = {
  'the pod is there': { live: [deployment, set, pod], of: rootOf(pod) },
  'the pod is gone': { live: [deployment, set], of: rootOf(pod) },
  'its ReplicaSet is gone': { live: [deployment, pod], of: rootOf(pod) },
  'both are gone': { live: [deployment], of: rootOf(pod) },
  'both are gone since it was last asked': { live: [deployment], of: rootOf(pod), before: [deployment, set, pod] },
  'an event without a uid': { live: [deployment, set, pod], of: { ...rootOf(pod), uid: '' } },
  'an event without a uid, of a pod that is gone': { live: [deployment], of: { ...rootOf(pod), uid: '' } },
  'an event about the ReplicaSet': { live: [deployment], of: rootOf(set) },
  'a new rollout': { live: [deployment, newSet, newPod], of: rootOf(newPod), before: [deployment, set, pod] },
  'the Deployment is gone since it was last asked': { live: [], of: rootOf(pod), before: [deployment, set, pod] },
};
for (const [name, { live, of, before }] of Object.entries(views))
  test(`the same key when ${name}`, async () => {
    const clock = fakeClock();
    let there = before ?? live;
    const owners = createOwnerResolver(
      readerOf(() => there),
      clock,
      { max: 100 },
    );
    if (before) await owners.rootOf('shop', of.uid === 'p2' ? rootOf(pod) : of);
    there = live;
    await clock.advance(31_000);
    assert.deepEqual(await owners.rootOf('shop', of), rootOf(deployment));
  });

/* A name is only a hint. */

const daemon = thing('DaemonSet', 'agent', 's');
const job = thing('Job', 'agent', 'j');
const indexed = thing('Job', 'train', 'i', undefined, { completionMode: 'Indexed' });
const cron = thing('CronJob', 'backup', 'c');
const statefulSet = thing('StatefulSet', 'db', 't');
const lookAlike = thing('DaemonSet', 'checkout-7d9f8b6c5d', 'l');
const long = 'a-name-of-fifty-eight-characters-which-is-cut-by-kubernetes';
const green = thing('Deployment', `${long}-green`, 'g');
const blue = thing('Deployment', `${long}-blue`, 'b');
const hints: [name: string, of: string, live: Thing[], want: string | undefined][] = [
  ['a DaemonSet’s pod', 'Pod/agent-x2x4z', [daemon], 'DaemonSet/agent'],
  ['a Job’s pod', 'Pod/agent-x2x4z', [job], 'Job/agent'],
  ['a pod of one of two', 'Pod/agent-x2x4z', [daemon, job], undefined],
  ['a pod of an Indexed Job', 'Pod/train-3-x2x4z', [indexed], 'Job/train'],
  ['a Job that is not Indexed has no index', 'Pod/agent-3-x2x4z', [job], undefined],
  ['a pod of a CronJob’s Job', 'Pod/backup-29913000-x2x4z', [cron], 'CronJob/backup'],
  ['a StatefulSet’s pod', 'Pod/db-0', [statefulSet], 'StatefulSet/db'],
  [
    'a Deployment’s pod, or a DaemonSet’s of such a name',
    'Pod/checkout-7d9f8b6c5d-x2x4z',
    [deployment, lookAlike],
    undefined,
  ],
  ['what a name leads to must be there', 'Pod/checkout-7d9f8b6c5d-x2x4z', [], undefined],
  ['a name that was cut', `Pod/${long.slice(0, 58)}x2x4z`, [green], `Deployment/${long}-green`],
  ['a name that was cut, of one of two', `Pod/${long.slice(0, 58)}x2x4z`, [green, blue], undefined],
  ['nobody’s, and gone', 'Pod/lonely', [deployment], undefined],
];
for (const [name, of, live, want] of hints)
  test(`by its name alone: ${name}`, async () => {
    const [kind = '', called = ''] = of.split('/');
    const owners = createOwnerResolver(
      readerOf(() => live),
      fakeClock(),
      { max: 100 },
    );
    const root = await owners.rootOf('shop', { kind, name: called, uid: 'gone' });
    assert.equal(root && `${root.kind}/${root.name}`, want);
  });

test('a lone pod that was known is not taken for a Deployment’s once it is gone', async () => {
  const lone = thing('Pod', 'checkout-7d9f8b6c5d-x2x4z', 'lone');
  let live = [lone, deployment];
  const clock = fakeClock();
  const owners = createOwnerResolver(
    readerOf(() => live),
    clock,
    { max: 100 },
  );
  assert.deepEqual(await owners.rootOf('shop', rootOf(lone)), rootOf(lone));
  live = [deployment];
  await clock.advance(31_000);
  assert.deepEqual(await owners.rootOf('shop', rootOf(lone)), rootOf(lone));
});

test('many pods of one workload that go at once do not ask for it each', async () => {
  let asked = 0;
  const reader = readerOf(() => [deployment]);
  const counting = { ...reader, get: ((ref) => (asked++, reader.get(ref))) as typeof reader.get };
  const owners = createOwnerResolver(counting, fakeClock(), { max: 100 });
  for (const suffix of ['x2x4z', 'b5b6b', 'c7c8c', 'd9d2d'])
    assert.equal(
      (await owners.rootOf('shop', { kind: 'Pod', name: `checkout-7d9f8b6c5d-${suffix}`, uid: suffix }))?.uid,
      'd',
    );
  assert.ok(asked <= 4 + 6, `${asked} requests`);
});

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const all = (base: string) => [`ReplicaSet/${base}`, `DaemonSet/${base}`, `Job/${base}`];

/** Everybody who could have named it so; then whom it names where there is no cluster to ask. */
const names: [kind: string, name: string, owners: string[], alone?: string][] = [
  ['Pod', 'checkout-7d9f8b6c5d-x2x4z', all('checkout-7d9f8b6c5d'), 'Deployment/checkout'],
  ['ReplicaSet', 'checkout-7d9f8b6c5d', ['Deployment/checkout'], 'Deployment/checkout'],
  ['ReplicaSet', 'checkout-4d9f8b6c5d', []], // no number begins with 0
  ['ReplicaSet', 'checkout-9d9f8b6c5d', []], // more than 32 bits
  ['ReplicaSet', 'checkout-7d9f8', []],
  ['Pod', 'payments-worker', []],
  ['ReplicaSet', 'payments-server', []],
  ['Pod', 'fluentd-x2x4z', all('fluentd')],
  ['Pod', 'fluentd-x2x4', []],
  ['Pod', 'fluentd-x2x4a', []],
  ['Pod', 'web-0', ['StatefulSet/web'], 'StatefulSet/web'],
  ['Pod', 'web-07', []],
  ['Pod', 'web-24567', [...all('web'), 'StatefulSet/web'], 'StatefulSet/web'],
  ['Pod', 'train-12-x2x4z', [...all('train-12'), 'Job/train indexed']],
  ['Pod', 'train-012-x2x4z', all('train-012')],
  ['Job', 'backup-29913000', ['CronJob/backup'], 'CronJob/backup'],
  ['Pod', 'backup-29913000-x2x4z', all('backup-29913000'), 'CronJob/backup'],
  ['Job', 'backup-29915000', []], // due more than a day from now
  ['Job', 'backup-10000000', []], // in 1989
  ['Job', 'backup-20261116', []], // a date, which would be a minute of 2008
  ['Deployment', 'checkout-7d9f8b6c5d', []],
  ['__proto__', 'checkout-7d9f8b6c5d', []],
];
for (const [kind, name, owners, alone] of names)
  test(`${kind} ${name} could be of ${owners.join(', ') || 'nobody'}`, () => {
    const said = ownersByName(kind, name, nowMs).map((it) => `${it.kind}/${it.name}${it.indexed ? ' indexed' : ''}`);
    assert.deepEqual(said, owners);
    const named = ownerByName(kind, name, nowMs);
    assert.equal(named && `${named.kind}/${named.name}`, alone);
  });
