import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOwnerResolver, type Root } from '../../../src/kube/owners.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { readerOf, type Thing } from '../../support/shapes.ts';

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
      100,
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
      100,
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
    100,
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
  const owners = createOwnerResolver(counting, fakeClock(), 100);
  for (const suffix of ['x2x4z', 'b5b6b', 'c7c8c', 'd9d2d'])
    assert.equal(
      (await owners.rootOf('shop', { kind: 'Pod', name: `checkout-7d9f8b6c5d-${suffix}`, uid: suffix }))?.uid,
      'd',
    );
  assert.ok(asked <= 4 + 6, `${asked} requests`);
});
