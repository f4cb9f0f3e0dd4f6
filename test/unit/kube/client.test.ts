import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Api, isNotFound } from '../../../src/kube/api.ts';
import { json, page, refusal, type Seen } from '../../support/scripted-server.ts';
import { aList, aPod, rig } from './support.ts';

const pod = { kind: 'Pod', namespace: 'shop', name: 'api-1' } as const;
const ops = [{ op: 'test', path: '/metadata/uid', value: 'u' }];

type Sent = Partial<Pick<Seen, 'method' | 'path' | 'query' | 'body'>> & { contentType?: string };

const requests: { name: string; call: (api: Api) => Promise<unknown>; want: Sent }[] = [
  {
    name: 'get reads one object',
    call: (api) => api.get(pod),
    want: { method: 'GET', path: '/api/v1/namespaces/shop/pods/api-1', query: {} },
  },
  {
    name: 'get of a cluster-scoped object has no namespace in its path',
    call: (api) => api.get({ kind: 'Namespace', name: 'shop' }),
    want: { method: 'GET', path: '/api/v1/namespaces/shop' },
  },
  {
    name: 'create posts to the collection, under our field manager',
    call: (api) => api.create({ kind: 'Remediation', namespace: 'shop' }, { spec: {} }),
    want: {
      method: 'POST',
      path: '/apis/tapfix.dev/v1alpha1/namespaces/shop/remediations',
      query: { fieldManager: 'tapfix' },
      body: { spec: {} },
      contentType: 'application/json',
    },
  },
  {
    name: 'createSub posts to a subresource, and can rehearse',
    call: (api) => api.createSub({ ...pod, subresource: 'eviction' }, { kind: 'Eviction' }, { dryRun: true }),
    want: {
      method: 'POST',
      path: '/api/v1/namespaces/shop/pods/api-1/eviction',
      query: { fieldManager: 'tapfix', dryRun: 'All' },
    },
  },
  {
    name: 'a JSON patch says that it is one',
    call: (api) => api.patch(pod, 'json', ops),
    want: {
      method: 'PATCH',
      contentType: 'application/json-patch+json',
      query: { fieldManager: 'tapfix' },
      body: ops,
    },
  },
  {
    name: 'a merge patch says that it is one, and can rehearse',
    call: (api) => api.patch({ ...pod, subresource: 'status' }, 'merge', { status: {} }, { dryRun: true }),
    want: {
      path: '/api/v1/namespaces/shop/pods/api-1/status',
      contentType: 'application/merge-patch+json',
      query: { fieldManager: 'tapfix', dryRun: 'All' },
    },
  },
  {
    name: 'delete carries its preconditions',
    call: (api) => api.delete(pod, { uid: 'u', resourceVersion: '7' }),
    want: {
      method: 'DELETE',
      query: {},
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy: 'Background',
        preconditions: { uid: 'u', resourceVersion: '7' },
      },
    },
  },
  {
    name: 'delete carries how long the pod may take',
    call: (api) => api.delete(pod, undefined, { gracePeriodSeconds: 0 }),
    want: {
      query: {},
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', gracePeriodSeconds: 0 },
    },
  },
  {
    name: 'a rehearsed delete says so in its body, where the API server looks',
    call: (api) => api.delete(pod, undefined, { dryRun: true }),
    want: {
      query: { dryRun: 'All' },
      body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', dryRun: ['All'] },
    },
  },
];

for (const { name, call, want } of requests) {
  test(name, async (t) => {
    const { server, api } = await rig(t);
    server.script(json(aPod('api-1')));
    await call(api);
    const { headers, ...seen } = server.seen[0]!;
    const sent: Record<string, unknown> = { ...seen, contentType: headers['content-type'] };
    assert.deepEqual(Object.fromEntries(Object.keys(want).map((key) => [key, sent[key]])), want);
    assert.match(headers['user-agent'] ?? '', /^tapfix\/\d+\.\d+\.\d+/);
  });
}

const dangerous = [
  { name: 'an empty name', ref: { ...pod, name: '' } },
  { name: 'a name that climbs up', ref: { ...pod, name: '..' } },
  { name: 'a name with a slash', ref: { ...pod, name: 'a/b' } },
  { name: 'a namespace that climbs up', ref: { ...pod, namespace: '..' } },
  { name: 'a missing namespace', ref: { kind: 'Pod', name: 'api-1' } as const },
];

for (const { name, ref } of dangerous) {
  test(`${name} is refused before anything is sent`, async (t) => {
    const { server, api } = await rig(t);
    for (const call of [api.get(ref), api.delete(ref), api.patch(ref, 'merge', {}), api.createSub(ref, {})]) {
      await assert.rejects(call, { name: 'ApiError', code: 400 });
    }
    assert.equal(server.seen.length, 0);
  });
}

test('get of what is not there is undefined; delete of it is an error', async (t) => {
  const { server, api } = await rig(t);
  server.script(refusal(404, 'NotFound', 'pods "api-1" not found'), refusal(404, 'NotFound', 'pods "api-1" not found'));
  assert.equal(await api.get(pod), undefined);
  await assert.rejects(api.delete(pod), { name: 'ApiError', code: 404, reason: 'NotFound' });
});

test('a 404 that is not the API server speaking of an object is no proof that the object is gone', async (t) => {
  const { server, api } = await rig(t);
  server.script(page('<html>404 page not found</html>', 404), page('404 page not found', 404));
  await assert.rejects(api.get(pod), { name: 'ApiError', code: 404, reason: 'NoSuchPath' });
  await assert.rejects(api.get(pod), (error) => !isNotFound(error));
});

test('a cluster without our resource definitions is said in words that help', async (t) => {
  const { server, api } = await rig(t);
  server.script(page('404 page not found', 404));
  await assert.rejects(api.list('Remediation'), /does not know tapfix's resources: kubectl apply --server-side/);
});

test('dates stay strings, in a list as in a single object', async (t) => {
  const { server, api } = await rig(t);
  server.script(json(aPod('api-1')), json(aList([aPod('api-1')])));
  const one = await api.get(pod);
  const [listed] = await api.list('Pod');
  assert.equal(one?.metadata.creationTimestamp, '2026-11-16T03:12:00Z');
  assert.equal(listed?.metadata.creationTimestamp, '2026-11-16T03:12:00Z');
});

test('a list is read page by page, with its selector on each page', async (t) => {
  const { server, api } = await rig(t);
  server.script(json(aList([aPod('a')], '10', 'more')), json(aList([aPod('b')])));
  const found = await api.list('Pod', 'shop', { labelSelector: 'app=api' });
  assert.deepEqual(
    server.seen.map(({ query }) => query),
    [
      { labelSelector: 'app=api', limit: '250' },
      { labelSelector: 'app=api', limit: '250', continue: 'more' },
    ],
  );
  assert.deepEqual(
    found.map(({ kind, apiVersion, metadata }) => [kind, apiVersion, metadata.name]),
    [
      ['Pod', 'v1', 'a'],
      ['Pod', 'v1', 'b'],
    ],
  );
});

test('a list that grew too old on the way is started over, once', async (t) => {
  const { server, api } = await rig(t);
  const expired = refusal(410, 'Expired', 'The provided continue parameter is too old');
  server.script(json(aList([aPod('a')], '10', 'more')), expired, json(aList([aPod('b')])));
  assert.deepEqual(
    (await api.list('Pod')).map(({ metadata }) => metadata.name),
    ['b'],
  );
  server.script(expired, expired);
  await assert.rejects(api.list('Pod'), { code: 410 });
});
