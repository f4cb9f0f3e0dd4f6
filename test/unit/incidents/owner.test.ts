import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, type KubeObject, type Reader } from '../../../src/kube/api.ts';
import { objectPath } from '../../../src/kube/client.ts';
import { createOwnerResolver } from '../../../src/kube/owners.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const object = (uid: string, owner?: { kind: string; name: string; uid: string }): KubeObject => ({
  metadata: {
    name: uid,
    uid,
    resourceVersion: '1',
    creationTimestamp: '',
    ...(owner ? { ownerReferences: [{ apiVersion: 'apps/v1', controller: true, ...owner }] } : {}),
  },
});

function readerOf(objects: Record<string, KubeObject>) {
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
    const root = await createOwnerResolver(readerOf(cluster).reader, fakeClock()).rootOf('shop', of);
    assert.equal(root ? `${root.kind}/${root.name}/${root.uid}` : 'nobody', want);
  });

test('a name that was cut, where no workload may be listed: nobody, and not asked for ever', async () => {
  const list = async () => {
    throw new ApiError('forbidden', 403, 'Forbidden');
  };
  const reader = { ...readerOf(cluster).reader, list };
  const of = { kind: 'Pod', name: `${'a'.repeat(58)}x2x4z`, uid: 'p9' };
  assert.equal(await createOwnerResolver(reader, fakeClock()).rootOf('shop', of), undefined);
});

test('the second question about a pod costs no request, and after a while one: whether its workload is still the same', async () => {
  const { reader, asked } = readerOf(cluster);
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
  const owners = createOwnerResolver(readerOf(objects).reader, clock);
  const pod = { kind: 'Pod', name: 'db-0', uid: 'p6' };
  assert.equal((await owners.rootOf('shop', pod))?.uid, 's1');
  Object.assign(objects, { 'Pod/db-0': owned('s2'), 'StatefulSet/db': object('s2') });
  await clock.advance(30_000);
  assert.equal((await owners.rootOf('shop', pod))?.uid, 's2');
});
