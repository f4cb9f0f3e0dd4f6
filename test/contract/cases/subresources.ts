import assert from 'node:assert/strict';
import { pathOf } from '../../../src/kube/resources.ts';
import { aPod, aWorkload } from '../builders.ts';
import { type Facts, type Ground, merge, named, rawWord, type Thing } from '../ground.ts';

async function replicaSet({ api, ns }: Ground, spec: object = {}) {
  const name = named();
  const made = await api.create<Thing>({ kind: 'ReplicaSet', namespace: ns }, aWorkload('ReplicaSet', name, spec));
  const ref = { kind: 'ReplicaSet' as const, namespace: ns, name };
  return {
    name,
    made,
    ref,
    sub: (subresource: string) => ({ ...ref, subresource }),
    path: pathOf('ReplicaSet', ns, name),
  };
}

async function boundPod({ api, raw, ns }: Ground, node = 'ghost') {
  const name = named('pod');
  await api.create({ kind: 'Pod', namespace: ns }, aPod(name));
  const path = pathOf('Pod', ns, name);
  const bind = (body: object) => raw('POST', `${path}/binding`, { body });
  const answer = await bind({ metadata: { name }, target: { kind: 'Node', name: node } });
  const read = () => api.get<Thing>({ kind: 'Pod', namespace: ns, name });
  const end = () => raw('DELETE', path, { body: { gracePeriodSeconds: 0 } });
  return { name, path, bind, answer, read, end };
}

/** A condition that the ReplicaSet's own controller leaves alone while none are wanted. */
const failure = {
  type: 'ReplicaFailure',
  status: 'True',
  lastTransitionTime: '2026-11-16T10:00:00Z',
  reason: 'FailedCreate',
  message: 'exceeded quota',
};

export const subresources: Facts = {
  'what is written to the object leaves its status': async (ground) => {
    const { ref, sub } = await replicaSet(ground);
    await ground.api.patch(sub('status'), 'merge', { status: { fullyLabeledReplicas: 0, replicas: 3 } });
    const body = { metadata: { annotations: { a: 'b' } }, status: { replicas: 9 } };
    const patched = await ground.api.patch<Thing>(ref, 'merge', body);
    assert.notEqual(patched.status?.['replicas'], 9);
    assert.deepEqual(patched.metadata.annotations, { a: 'b' });
  },
  'a new object begins without the status that it was given': async ({ api, ns }) => {
    const body = { ...aWorkload('ReplicaSet', named()), status: { replicas: 9 } };
    assert.equal((await api.create<Thing>({ kind: 'ReplicaSet', namespace: ns }, body)).status?.['replicas'], 0);
  },
  'what is written to the status leaves the spec, and its generation': async (ground) => {
    const { sub, made } = await replicaSet(ground);
    const body = { spec: { minReadySeconds: 9 }, status: { conditions: [failure] } };
    const patched = await ground.api.patch<Thing>(sub('status'), 'merge', body);
    assert.deepEqual(patched.spec, made.spec);
    assert.equal(patched.metadata.generation, 1);
    assert.deepEqual(patched.status?.['conditions'], [failure]);
  },
  'a status that comes with an annotation writes it, and is no new generation even of a Deployment': async ({
    api,
    ns,
  }) => {
    const name = named('d');
    await api.create({ kind: 'Deployment', namespace: ns }, aWorkload('Deployment', name, { paused: true }));
    const ref = { kind: 'Deployment' as const, namespace: ns, name, subresource: 'status' };
    const patched = await api.patch<Thing>(ref, 'merge', { metadata: { annotations: { a: 'b' }, labels: { a: 'b' } } });
    assert.equal(patched.metadata.annotations?.['a'], 'b');
    assert.equal(patched.metadata.labels, undefined);
    assert.equal(patched.metadata.generation, 1);
  },
  'a status is written under a precondition as well': async (ground) => {
    const { sub } = await replicaSet(ground);
    const body = { metadata: { resourceVersion: '1' }, status: { conditions: [failure] } };
    const answer = await ground.raw('PATCH', pathOf('ReplicaSet', ground.ns, sub('status').name, 'status'), {
      body,
      contentType: merge,
    });
    assert.equal(rawWord(answer), '409 Conflict');
  },
  'a status can be read by itself, and is the whole object': async (ground) => {
    const { path, name } = await replicaSet(ground);
    const { status, body } = await ground.raw('GET', `${path}/status`);
    assert.deepEqual([status, body.kind, body.metadata.name], [200, 'ReplicaSet', name]);
  },
  'a status can be replaced by PUT': async (ground) => {
    const { path } = await replicaSet(ground);
    const { body: read } = await ground.raw('GET', path);
    const { resourceVersion: _any, ...metadata } = read.metadata;
    const put = { ...read, metadata, status: { replicas: 0, conditions: [failure] } };
    const { status, body } = await ground.raw('PUT', `${path}/status`, { body: put });
    assert.equal(status, 200);
    assert.deepEqual(body.status?.['conditions'], [failure]);
  },
  'a subresource that a kind does not have is a 404 without a name': async ({ raw, ns }) => {
    for (const path of [`/api/v1/namespaces/${ns}/configmaps/x/status`, `/api/v1/namespaces/${ns}/pods/x/scale`]) {
      const answer = await raw('GET', path);
      assert.equal(rawWord(answer), '404 NotFound');
      assert.equal(answer.body.message, 'the server could not find the requested resource');
    }
  },
  'scale reads and writes replicas alone': async (ground) => {
    const { path, made } = await replicaSet(ground);
    const read = (await ground.raw('GET', `${path}/scale`)).body;
    assert.deepEqual([read.kind, read.apiVersion], ['Scale', 'autoscaling/v1']);
    assert.equal((read.status as { selector?: string }).selector, `app=${made.metadata.name}`);
    const dry = await ground.raw('PATCH', `${path}/scale?dryRun=All`, {
      body: { spec: { replicas: 3 } },
      contentType: merge,
    });
    assert.deepEqual(dry.body.spec, { replicas: 3 });
    assert.equal((await ground.raw('GET', path)).body.spec?.['replicas'], 0);
  },
  'scale is a new generation of the object': async (ground) => {
    const { ref } = await replicaSet(ground);
    const name = named('d');
    await ground.api.create(
      { kind: 'Deployment', namespace: ground.ns },
      aWorkload('Deployment', name, { paused: true }),
    );
    const path = pathOf('Deployment', ground.ns, name);
    const before = (await ground.raw('GET', path)).body.metadata.generation!;
    await ground.raw('PUT', `${path}/scale`, {
      body: { metadata: { name, namespace: ref.namespace }, spec: { replicas: 1 } },
    });
    const after = (await ground.raw('GET', path)).body;
    assert.equal(after.spec?.['replicas'], 1);
    assert.ok(after.metadata.generation! > before);
    await ground.raw('DELETE', path);
  },
  'scale to less than none is 422 Invalid': async (ground) => {
    const { path } = await replicaSet(ground);
    const answer = await ground.raw('PATCH', `${path}/scale`, { body: { spec: { replicas: -1 } }, contentType: merge });
    assert.equal(rawWord(answer), '422 Invalid');
    assert.match(answer.body.message ?? '', /^Scale\.autoscaling ".*" is invalid: spec\.replicas: Invalid value: -1/);
  },
  'a binding puts a pod on a node': async (ground) => {
    const { answer, read, end } = await boundPod(ground);
    assert.equal(answer.status, 201);
    const pod = await read();
    assert.equal(pod?.spec?.['nodeName'], 'ghost');
    const conditions = pod?.status?.['conditions'] as { type: string; status: string }[];
    assert.ok(conditions.some(({ type, status }) => type === 'PodScheduled' && status === 'True'));
    await end();
  },
  'a second binding is 409 Conflict': async (ground) => {
    const { name, bind, end } = await boundPod(ground);
    const answer = await bind({ metadata: { name }, target: { kind: 'Node', name: 'other' } });
    assert.equal(rawWord(answer), '409 Conflict');
    assert.equal(
      answer.body.message,
      `Operation cannot be fulfilled on pods/binding "${name}": pod ${name} is already assigned to node "ghost"`,
    );
    await end();
  },
  'a binding of a pod that is not there is 404 NotFound': async ({ raw, ns }) => {
    const body = { metadata: { name: 'nobody' }, target: { kind: 'Node', name: 'ghost' } };
    assert.equal(rawWord(await raw('POST', `${pathOf('Pod', ns, 'nobody')}/binding`, { body })), '404 NotFound');
  },
  'commands can only be posted: 405': async ({ raw, ns }) => {
    for (const subresource of ['binding', 'eviction'])
      assert.equal(rawWord(await raw('GET', pathOf('Pod', ns, 'x', subresource))), '405 MethodNotAllowed');
  },
};
