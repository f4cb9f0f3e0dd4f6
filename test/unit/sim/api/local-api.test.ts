import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { type Api, ApiError, noSuchPath } from '../../../../src/kube/api.ts';
import { createApi } from '../../../../src/kube/client.ts';
import { createApiServer } from '../../../../src/sim/api/api-server.ts';
import { listen } from '../../../../src/sim/api/http.ts';
import { localApi } from '../../../../src/sim/api/local-api.ts';
import { aPod, aRevision, aWorkload } from '../../../contract/builders.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { rig } from './rig.ts';

const failing: Record<string, (api: Api) => Promise<unknown>> = {
  'not there': (api) => api.delete({ kind: 'Pod', namespace: 'shop', name: 'x' }),
  'already there': (api) => api.create({ kind: 'Namespace' }, { metadata: { name: 'shop' } }),
  invalid: (api) => api.create({ kind: 'Pod', namespace: 'shop' }, { metadata: { name: 'A' } }),
  'no such namespace': (api) => api.create({ kind: 'Pod', namespace: 'none' }, aPod('p')),
  'beyond the quota': (api) => api.create({ kind: 'Pod', namespace: 'shop' }, aPod('p')),
  'a selector nobody understands': (api) => api.list('Pod', 'shop', { labelSelector: 'a b' }),
  'a continue nobody gave': (api) => api.page('Pod', 'shop', { continue: 'x' }),
  'a token nobody gave': (api) => api.withToken('x').list('Pod', 'shop'),
  'a name that is none': (api) => api.get({ kind: 'Pod', namespace: 'shop', name: '..' }),
  'a watch of nonsense': async (api) => {
    for await (const _ of api.watch('Pod', 'shop', { fieldSelector: 'x=y' }, new AbortController().signal)) break;
  },
};

const told = async (work: Promise<unknown>): Promise<object> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ApiError, String(error));
  const { message, code, reason, retryAfterMs } = error;
  return { message, code, reason, retryAfterMs };
};

test('in this process the errors are the very ones that come over HTTP', async (t) => {
  const { server, api: local } = await rig();
  await local.create(
    { kind: 'ResourceQuota', namespace: 'shop' },
    { metadata: { name: 'q' }, spec: { hard: { pods: '0' } } },
  );
  const { url, close } = await listen(server);
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'sim', server: url, skipTLSVerify: true }, { name: 'sim' });
  const remote = createApi({ kubeConfig });
  t.after(async () => {
    await remote.close();
    await close();
  });
  for (const [what, work] of Object.entries(failing))
    assert.deepEqual(await told(work(local)), await told(work(remote)), what);
});

test("what a reader does to an answer is nobody else's business", async () => {
  const { api } = await rig();
  const ref = { kind: 'Deployment' as const, namespace: 'shop', name: 'web' };
  const body = aWorkload('Deployment', 'web') as { spec: { replicas: number } };
  const made = await api.create<typeof body & { metadata: never }>({ kind: 'Deployment', namespace: 'shop' }, body);
  body.spec.replicas = 7;
  made.spec.replicas = 8;
  const [listed] = await api.list<typeof made>('Deployment', 'shop');
  listed!.spec.replicas = 9;
  assert.equal((await api.get<typeof made>(ref))?.spec.replicas, 0);
});

test("a line of a watch is its reader's own as well", async () => {
  const { api } = await rig();
  await api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a', { labels: { a: 'b' } }));
  const stop = new AbortController();
  for await (const { object } of api.watch('ControllerRevision', 'shop', {}, stop.signal)) {
    object.metadata.labels!['a'] = 'changed';
    break;
  }
  const found = await api.get({ kind: 'ControllerRevision', namespace: 'shop', name: 'a' });
  assert.equal(found?.metadata.labels?.['a'], 'b');
});

test("without its definitions the server does not know tapfix's resources, and the client says how to bring them", async () => {
  const api = localApi(createApiServer({ clock: fakeClock() }));
  await assert.rejects(api.list('Remediation'), {
    code: 404,
    reason: noSuchPath,
    message: /kubectl apply --server-side/,
  });
});

test('who asks is who the server was told: by default, by table, by token', async () => {
  const identity = { username: 'ada', groups: ['sre'] };
  const tokens = { secret: { username: 'robot', groups: [] } };
  const { api } = await rig({ identity, tokens });
  const who = async (as: Api): Promise<string> => {
    const review = await as.create<{ metadata: never; status: { userInfo: { username: string } } }>(
      { kind: 'SelfSubjectReview' },
      {},
    );
    return review.status.userInfo.username;
  };
  assert.equal(await who(api), 'ada');
  assert.equal(await who(api.withToken('secret')), 'robot');
});
