import assert from 'node:assert/strict';
import type { Api, OwnerReference } from '../../../src/kube/api.ts';
import { aPod, aRevision, aWorkload, podSpec } from '../builders.ts';
import { eventually, type Facts, type Ground, named, pause, said } from '../ground.ts';

const kind = 'ControllerRevision' as const;
const nobody = '00000000-0000-4000-8000-000000000000';

async function owner({ api, ns }: Ground): Promise<OwnerReference> {
  const { metadata } = await api.create({ kind, namespace: ns }, aRevision(named('owner')));
  return { apiVersion: 'apps/v1', kind, name: metadata.name, uid: metadata.uid };
}

async function owned({ api, ns }: Ground, ...ownerReferences: object[]) {
  const name = named('owned');
  await api.create({ kind, namespace: ns }, aRevision(name, { ownerReferences }));
  return { kind, namespace: ns, name };
}

type Ref = Awaited<ReturnType<typeof owned>>;
const goes = (api: Api, ref: Ref) =>
  eventually(`${ref.name} to be gone`, async () => (await api.get(ref)) === undefined);
/** Long enough for a collector to have come by. */
const stays = async (api: Api, ref: Ref) => {
  await pause(1_500);
  assert.ok(await api.get(ref), `${ref.name} is gone`);
};
const refOf = (ns: string, { name }: OwnerReference) => ({ kind, namespace: ns, name });

export const owners: Facts = {
  'what an object owns goes with it': async (ground) => {
    const one = await owner(ground);
    const ref = await owned(ground, one);
    await ground.api.delete(refOf(ground.ns, one));
    await goes(ground.api, ref);
  },
  'and what that owns goes too': async (ground) => {
    const top = await owner(ground);
    const middle = await owned(ground, top);
    const { uid } = (await ground.api.get(middle))!.metadata;
    const bottom = await owned(ground, { ...top, name: middle.name, uid });
    await ground.api.delete(refOf(ground.ns, top));
    await goes(ground.api, bottom);
  },
  'what has another owner stays, and forgets the one that is gone': async (ground) => {
    const [one, other] = [await owner(ground), await owner(ground)];
    const ref = await owned(ground, one, other);
    await ground.api.delete(refOf(ground.ns, one));
    await eventually('one owner', async () => (await ground.api.get(ref))?.metadata.ownerReferences?.length === 1);
    assert.equal((await ground.api.get(ref))?.metadata.ownerReferences?.[0]?.uid, other.uid);
  },
  'what names an owner that never was goes as well': async (ground) => {
    await goes(ground.api, await owned(ground, { apiVersion: 'apps/v1', kind, name: 'nobody', uid: nobody }));
  },
  'what is given such an owner later goes too': async (ground) => {
    const ref = await owned(ground);
    const ownerReferences = [{ apiVersion: 'apps/v1', kind, name: 'nobody', uid: nobody }];
    await ground.api.patch(ref, 'merge', { metadata: { ownerReferences } });
    await goes(ground.api, ref);
  },
  'what names the uid of another object of that name goes as well': async (ground) => {
    const one = await owner(ground);
    await goes(ground.api, await owned(ground, { ...one, uid: nobody }));
  },
  "an owner of a kind that the server does not know is nobody's business": async (ground) => {
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web', uid: nobody };
    await stays(ground.api, await owned(ground, rollout));
  },
  'with the policy Orphan what it owned stays, and has no owner any more': async (ground) => {
    const one = await owner(ground);
    const ref = await owned(ground, one);
    const path = `/apis/apps/v1/namespaces/${ground.ns}/controllerrevisions/${one.name}`;
    await ground.raw('DELETE', path, { body: { propagationPolicy: 'Orphan' } });
    await goes(ground.api, refOf(ground.ns, one));
    await eventually('no owner', async () => (await ground.api.get(ref))?.metadata.ownerReferences === undefined);
    await stays(ground.api, ref);
  },
  'a Job that is deleted without a policy leaves its pods': async (ground) => {
    const { api, raw, ns } = ground;
    const name = named('job');
    const spec = { suspend: true, template: { spec: podSpec({ restartPolicy: 'Never' }) } };
    const job = await api.create({ kind: 'Job', namespace: ns }, { metadata: { name }, spec });
    const ref = await owned(ground, { apiVersion: 'batch/v1', kind: 'Job', name, uid: job.metadata.uid });
    await raw('DELETE', `/apis/batch/v1/namespaces/${ns}/jobs/${name}`);
    await eventually(
      'the Job to be gone',
      async () => (await api.get({ kind: 'Job', namespace: ns, name })) === undefined,
    );
    await stays(api, ref);
  },
  'a pod on a node that goes with its owner is given its time': async (ground) => {
    const { api, raw, ns } = ground;
    const name = named('set');
    const set = await api.create({ kind: 'ReplicaSet', namespace: ns }, aWorkload('ReplicaSet', name, { replicas: 1 }));
    // A pod of its own choosing; where a controller made another, that one is on no node.
    const pod = aPod(`${name}-own`, { nodeName: 'ghost' }, { other: name }) as { metadata: object };
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: set.metadata.uid }];
    await api.create({ kind: 'Pod', namespace: ns }, { ...pod, metadata: { ...pod.metadata, ownerReferences } });
    await api.delete({ kind: 'ReplicaSet', namespace: ns, name });
    await eventually(
      'the mark',
      async () => (await api.get({ kind: 'Pod', namespace: ns, name: `${name}-own` }))?.metadata.deletionTimestamp,
    );
    await raw('DELETE', `/api/v1/namespaces/${ns}/pods/${name}-own`, { body: { gracePeriodSeconds: 0 } });
  },
  'an owner that is not fully named is 422 Invalid': async (ground) => {
    assert.equal(await said(owned(ground, { apiVersion: 'apps/v1', kind })), '422 Invalid');
  },
  'two owners that both control are 422 Invalid': async (ground) => {
    const [one, other] = [await owner(ground), await owner(ground)];
    const work = owned(ground, { ...one, controller: true }, { ...other, controller: true });
    assert.equal(await said(work), '422 Invalid');
  },
};
