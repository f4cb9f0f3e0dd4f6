import assert from 'node:assert/strict';
import { pathOf } from '../../../src/kube/resources.ts';
import { aPod, container } from '../builders.ts';
import { type Facts, type Ground, named, rawWord, refusal, said, type Thing, told, watched, word } from '../ground.ts';

/** A node that nobody runs: a pod on it stays until somebody plays its kubelet. */
const ghost = 'ghost';

async function pod({ api, ns }: Ground, spec: object = {}) {
  const name = named('pod');
  const made = await api.create<Thing>({ kind: 'Pod', namespace: ns }, aPod(name, spec));
  const ref = { kind: 'Pod' as const, namespace: ns, name };
  const status = (phase: string) => api.patch({ ...ref, subresource: 'status' }, 'merge', { status: { phase } });
  return { name, made, ref, status, path: pathOf('Pod', ns, name), read: () => api.get<Thing>(ref) };
}

const end = ({ raw }: Ground, path: string, gracePeriodSeconds: number) =>
  raw('DELETE', path, { body: { gracePeriodSeconds } });

const refuses = (what: string, spec: object, words: RegExp): Facts => ({
  [`a pod ${what} is 422 Invalid`]: async ({ api, ns }) => {
    const error = await refusal(api.create({ kind: 'Pod', namespace: ns }, aPod('p', spec)));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, words);
  },
});

export const pods: Facts = {
  'a new pod is Pending, restarts always, has 30 s to stop and the default account': async (ground) => {
    const { made } = await pod(ground);
    assert.equal(made.status?.['phase'], 'Pending');
    const { restartPolicy, terminationGracePeriodSeconds, serviceAccountName, nodeName } = made.spec!;
    assert.deepEqual(
      [restartPolicy, terminationGracePeriodSeconds, serviceAccountName, nodeName],
      ['Always', 30, 'default', undefined],
    );
  },
  'a new pod leaves a node that is not ready after five minutes, unless it says otherwise': async (ground) => {
    const { made } = await pod(ground);
    const tolerations = made.spec!['tolerations'] as { key: string; tolerationSeconds: number }[];
    assert.deepEqual(
      tolerations.map(({ key, tolerationSeconds }) => [key, tolerationSeconds]),
      [
        ['node.kubernetes.io/not-ready', 300],
        ['node.kubernetes.io/unreachable', 300],
      ],
    );
  },
  'a pod has a generation': async (ground) => {
    assert.equal((await pod(ground)).made.metadata.generation, 1);
  },
  'what a new pod says of its status is not heard': async ({ api, ns }) => {
    const body = { ...aPod(named()), status: { phase: 'Running' } };
    assert.equal((await api.create<Thing>({ kind: 'Pod', namespace: ns }, body)).status?.['phase'], 'Pending');
  },
  'limits without requests are requests as well': async (ground) => {
    const limits = { cpu: '100m', memory: '64Mi' };
    const { made } = await pod(ground, { containers: [container({ resources: { limits } })] });
    const [only] = made.spec!['containers'] as { resources: object }[];
    assert.deepEqual(only?.resources, { limits, requests: limits });
    assert.equal(made.status?.['qosClass'], 'Guaranteed');
  },
  'a pod of an account that is not there is 403 Forbidden': async ({ api, ns }) => {
    const error = await refusal(
      api.create({ kind: 'Pod', namespace: ns }, aPod('p', { serviceAccountName: 'nobody' })),
    );
    assert.equal(word(error), '403 Forbidden');
    assert.match(
      error.message,
      /^pods "p" is forbidden: error looking up service account .*: serviceaccount "nobody" not found$/,
    );
  },
  ...refuses('without containers', { containers: [] }, /^Pod "p" is invalid: spec\.containers: Required value$/),
  ...refuses(
    'with a restart policy that does not exist',
    { restartPolicy: 'Perhaps' },
    /spec\.restartPolicy: Unsupported value: "Perhaps"/,
  ),
  ...refuses(
    'that asks for more than its limit',
    { containers: [container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })] },
    /must be less than or equal to cpu limit of 1/,
  ),
  'an amount that is none is 400 BadRequest': async ({ api, ns }) => {
    const body = aPod('p', { containers: [container({ resources: { requests: { cpu: 'much' } } })] });
    assert.equal(await said(api.create({ kind: 'Pod', namespace: ns }, body)), '400 BadRequest');
  },
  'the image of a pod may be changed, and counts as a new generation': async (ground) => {
    const { ref } = await pod(ground);
    const ops = [{ op: 'replace' as const, path: '/spec/containers/0/image', value: 'localhost/app:1.1' }];
    assert.equal((await ground.api.patch(ref, 'json', ops)).metadata.generation, 2);
  },
  'most of a pod may not be changed: 422 Invalid': async (ground) => {
    const { ref } = await pod(ground);
    const error = await refusal(ground.api.patch(ref, 'merge', { spec: { restartPolicy: 'Never' } }));
    assert.equal(word(error), '422 Invalid');
    assert.match(error.message, /^Pod ".*" is invalid: spec: Forbidden: pod updates may not change fields other than/);
    assert.equal(await said(ground.api.patch(ref, 'merge', { spec: { nodeName: ghost } })), '422 Invalid');
  },
  'a pod that is on no node is gone as soon as it is deleted': async (ground) => {
    const { ref, read } = await pod(ground);
    await ground.api.delete(ref);
    assert.equal(await read(), undefined);
  },
  'a pod on a node is marked, for 30 s from now, and stays until its kubelet ends it': async (ground) => {
    const { ref, read, path } = await pod(ground, { nodeName: ghost });
    await ground.api.delete(ref);
    const marked = (await read())!.metadata as Thing['metadata'] & { deletionGracePeriodSeconds?: number };
    assert.equal(marked.deletionGracePeriodSeconds, 30);
    const inMs = Date.parse(marked.deletionTimestamp!) - Date.now();
    assert.ok(inMs > 20_000 && inMs < 40_000, `${inMs} ms`);
    await end(ground, path, 0);
    assert.equal(await read(), undefined);
  },
  'deleting it again changes nothing, unless it is to end sooner': async (ground) => {
    const { ref, read, path } = await pod(ground, { nodeName: ghost });
    await ground.api.delete(ref);
    const first = (await read())!.metadata;
    await ground.api.delete(ref);
    assert.equal((await read())!.metadata.resourceVersion, first.resourceVersion);
    await end(ground, path, 60);
    assert.equal((await read())!.metadata.resourceVersion, first.resourceVersion);
    await end(ground, path, 5);
    const sooner = (await read())!.metadata;
    assert.equal(Date.parse(first.deletionTimestamp!) - Date.parse(sooner.deletionTimestamp!), 25_000);
    await end(ground, path, 0);
  },
  "how long it has to stop is the pod's own word": async (ground) => {
    const { ref, read, path } = await pod(ground, { nodeName: ghost, terminationGracePeriodSeconds: 7 });
    await ground.api.delete(ref);
    assert.equal(((await read())!.metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds, 7);
    await end(ground, path, 0);
  },
  'a pod that has ended is gone as soon as it is deleted': async (ground) => {
    const { ref, read, status } = await pod(ground, { nodeName: ghost });
    await status('Succeeded');
    await ground.api.delete(ref);
    assert.equal(await read(), undefined);
  },
  'a watch is told of the mark, then of the end': async (ground) => {
    const { ref, path, made, name } = await pod(ground, { nodeName: ghost });
    await ground.api.delete(ref);
    await end(ground, path, 0);
    const query = { resourceVersion: made.metadata.resourceVersion, fieldSelector: `metadata.name=${name}` };
    const lines = await watched(ground, 'Pod', ground.ns, query, ({ type }) => type === 'DELETED');
    assert.equal(told(lines[0]!), `MODIFIED ${name}`);
    assert.ok(lines[0]!.object.metadata.deletionTimestamp);
    assert.equal(told(lines.at(-1)!), `DELETED ${name}`);
  },
  'even when nobody has to stop it, a watch is told of the mark before the end': async (ground) => {
    const idle = await pod(ground);
    const ended = await pod(ground, { nodeName: ghost });
    await ended.status('Failed');
    for (const { ref, name } of [idle, ended]) {
      const { resourceVersion } = (await ground.api.get(ref))!.metadata;
      await ground.api.delete(ref);
      const query = { resourceVersion, fieldSelector: `metadata.name=${name}` };
      const lines = await watched(ground, 'Pod', ground.ns, query, ({ type }) => type === 'DELETED');
      assert.deepEqual(lines.map(told), [`MODIFIED ${name}`, `DELETED ${name}`]);
      assert.ok(lines[0]!.object.metadata.deletionTimestamp);
    }
  },
  'the answer to deleting a pod is the pod': async (ground) => {
    const { path, made } = await pod(ground);
    const { status, body } = await ground.raw('DELETE', path);
    assert.deepEqual([status, body.kind, body.metadata.uid], [200, 'Pod', made.metadata.uid]);
  },
  'a dry run of deleting a pod marks nothing': async (ground) => {
    const { ref, read, path, made } = await pod(ground, { nodeName: ghost });
    await ground.api.delete(ref, {}, { dryRun: true });
    assert.equal((await read())!.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.equal(rawWord(await end(ground, path, 0)), '200');
  },
  'status updates go on while a pod is being stopped': async (ground) => {
    const { ref, read, path, status } = await pod(ground, { nodeName: ghost });
    await ground.api.delete(ref);
    await status('Running');
    assert.equal((await read())?.status?.['phase'], 'Running');
    await end(ground, path, 0);
  },
};
