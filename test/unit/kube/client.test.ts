import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Api, ApiError, isNotFound, Unreachable, type WatchLine } from '../../../src/kube/api.ts';
import { createApi } from '../../../src/kube/client.ts';
import { messageOf } from '../../../src/lib/errors.ts';
import {
  type Ending,
  json,
  kubeConfigFor,
  lines,
  page,
  refusal,
  reset,
  scriptedServer,
  type Seen,
  silence,
  type Step,
  stream,
} from '../../support/scripted-server.ts';
import { serverCert, serverKey } from './certificates.ts';
import { aList, aPod, eventually, rig } from './support.ts';

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

test('two hundred calls one after another share a connection or two', async (t) => {
  const { server, api } = await rig(t);
  for (let i = 0; i < 200; i++) {
    server.script(json({}));
    await api.get({ kind: 'Namespace', name: 'shop' });
  }
  assert.ok(server.connections() <= 2, `${server.connections()} connections`);
});

test('two hundred calls at once share a few', async (t) => {
  const { server, api } = await rig(t);
  server.script(...Array.from({ length: 200 }, () => json({})));
  await Promise.all(Array.from({ length: 200 }, () => api.get({ kind: 'Namespace', name: 'shop' })));
  assert.ok(server.connections() <= 32, `${server.connections()} connections`);
});

test('a hundred open watches do not keep a call waiting', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  server.script(...Array.from({ length: 100 }, () => lines([{ type: 'BOOKMARK', object: {} }], 'stay')));
  const watches = Array.from({ length: 100 }, () =>
    api.watch('Pod', undefined, {}, stop.signal)[Symbol.asyncIterator](),
  );
  await Promise.all(watches.map((watch) => watch.next()));
  server.script(json({ major: '1' }));
  assert.deepEqual(await api.get({ kind: 'Namespace', name: 'shop' }), { major: '1' });
  stop.abort();
  assert.deepEqual(
    new Set((await Promise.all(watches.map((watch) => watch.next()))).map(({ done }) => done)),
    new Set([true]),
  );
  await eventually(() => server.openConnections() <= 1);
});

test('an address with a path, and a proxy, are honoured', async (t) => {
  const server = await scriptedServer();
  const kubeConfig = kubeConfigFor('http://cluster.example.com/k8s/c-1/');
  const cluster = kubeConfig.getCurrentCluster()!;
  kubeConfig.getCurrentCluster = () => ({ ...cluster, proxyUrl: server.url });
  const api = createApi({ kubeConfig });
  t.after(() => Promise.all([api.close(), server.close()]));
  server.script(json({}));
  await api.get({ kind: 'Namespace', name: 'shop' });
  assert.equal(server.seen[0]?.path, '/k8s/c-1/api/v1/namespaces/shop');
  assert.equal(server.seen[0]?.headers.host, 'cluster.example.com');
});

const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow down' };

const answers: { name: string; step: Step; want: Partial<ApiError>; says: RegExp }[] = [
  {
    name: "a refusal keeps the API server's own words",
    step: refusal(403, 'Forbidden', 'pods is forbidden: User "ada" cannot list'),
    want: { code: 403, reason: 'Forbidden', retryAfterMs: undefined },
    says: /^pods is forbidden: User "ada" cannot list$/,
  },
  {
    name: 'Retry-After is understood',
    step: refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '3' }),
    want: { code: 429, retryAfterMs: 3000 },
    says: /slow down/,
  },
  {
    name: 'so is the same wish in the details',
    step: json({ ...status, details: { retryAfterSeconds: 2 } }, 429),
    want: { code: 429, retryAfterMs: 2000 },
    says: /slow down/,
  },
  {
    name: 'an error that is not JSON is quoted',
    step: page('Unauthorized', 401),
    want: { code: 401, reason: 'Unauthorized' },
    says: /^HTTP 401 Unauthorized: Unauthorized$/,
  },
  {
    name: 'an error without a body is named',
    step: page('', 503),
    want: { code: 503, reason: 'ServiceUnavailable' },
    says: /^HTTP 503 Service Unavailable$/,
  },
  {
    name: 'a huge error page is cut',
    step: page('<p>\n'.repeat(1_000_000), 502),
    want: { code: 502 },
    says: /^HTTP 502 Bad Gateway: .{300}\.\.\.$/,
  },
  {
    name: 'a redirect is no answer',
    step: (response) => response.writeHead(302, { location: 'http://login.example.com' }).end(),
    want: { code: 302, reason: 'Found' },
    says: /HTTP 302/,
  },
  {
    name: 'a page in place of an answer is quoted, cut',
    step: page(`<html>${'x'.repeat(5000)}`),
    want: { code: 502, reason: 'BadAnswer' },
    says: /not JSON: <html>x{194}\.\.\.$/,
  },
  {
    name: 'half an answer is no answer',
    step: page('{"metadata":{"na'),
    want: { reason: 'BadAnswer' },
    says: /not JSON/,
  },
  { name: 'an empty answer is no answer', step: page(''), want: { reason: 'BadAnswer' }, says: /an empty body/ },
  { name: 'null is no answer', step: json(null), want: { reason: 'BadAnswer' }, says: /not an object: null/ },
];

for (const { name, step, want, says } of answers) {
  test(name, async (t) => {
    const { server, api } = await rig(t, { retry: false });
    server.script(step);
    const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual(Object.fromEntries(Object.keys(want).map((key) => [key, error[key as keyof ApiError]])), want);
    assert.match(error.message, says);
    assert.doesNotMatch(error.message, /\n/);
  });
}

const faults: { name: string; step: Step; says: RegExp; timeoutMs?: number }[] = [
  { name: 'a reset connection', step: reset(), says: /ECONNRESET|other side closed/ },
  { name: 'a server that never answers', step: silence(), says: /no answer within 0.1 s/, timeoutMs: 100 },
  {
    name: 'an answer that never ends',
    step: stream(['{"a":'], 'stay'),
    says: /no answer within 0.1 s/,
    timeoutMs: 100,
  },
  { name: 'an answer that breaks off', step: stream(['{"a":'], 'break'), says: /other side closed|terminated/ },
];

for (const { name, step, says, timeoutMs } of faults) {
  test(`${name} is Unreachable, in one sentence with the address and the cause`, async (t) => {
    const { server, api } = await rig(t, { retry: false, ...(timeoutMs !== undefined && { timeoutMs }) });
    server.script(step);
    const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
    assert.ok(error instanceof Unreachable, String(error));
    assert.ok(error.message.startsWith(`cannot reach the API server ${server.url}: `), error.message);
    assert.match(error.message, says);
    assert.ok(error.cause instanceof Error);
  });
}

test('nobody listening is Unreachable', async (t) => {
  const { server, api } = await rig(t);
  await server.close();
  const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
  assert.ok(error instanceof Unreachable);
  assert.equal(error.message, messageOf(error));
  assert.match(error.message, /^cannot reach the API server http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED/);
});

test('credentials that cannot be had are Unreachable and say why', async () => {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1');
  kubeConfig.applyToHTTPSOptions = async () => Promise.reject(new Error('login\nexpired'));
  const api = createApi({ kubeConfig });
  await assert.rejects(api.get({ kind: 'Namespace', name: 'shop' }), {
    name: 'Unreachable',
    message: 'no credentials for the API server https://127.0.0.1:1: login expired',
  });
});

test('credentials that never come end with the call', async () => {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1');
  kubeConfig.applyToHTTPSOptions = () => new Promise(() => {});
  const alive = setInterval(() => {}, 1000); // nothing else keeps this process up meanwhile
  await assert.rejects(
    createApi({ kubeConfig, timeoutMs: 20 }).get({ kind: 'Namespace', name: 'shop' }),
    /no answer within/,
  );
  clearInterval(alive);
});

describe('logs', () => {
  const pod = { namespace: 'shop', name: 'api-1' };
  const options = { container: 'app', previous: true, tailLines: 20, limitBytes: 65_536 };

  test('a log is asked for with its bounds and comes as it is, though it is no JSON', async (t) => {
    const { server, api } = await rig(t);
    server.script(page('starting\n{"half": json\n'));
    assert.equal(await api.podLog(pod, options), 'starting\n{"half": json\n');
    const { method, path, query, headers } = server.seen[0]!;
    assert.deepEqual([method, path], ['GET', '/api/v1/namespaces/shop/pods/api-1/log']);
    assert.deepEqual(query, { container: 'app', previous: 'true', tailLines: '20', limitBytes: '65536' });
    assert.equal(headers.accept, 'application/json, */*');
  });

  for (const [code, reason] of [
    [400, 'BadRequest'],
    [404, 'NotFound'],
  ] as const)
    test(`${code}: there is no such log`, async (t) => {
      const { server, api } = await rig(t);
      server.script(refusal(code, reason, 'previous terminated container "app" in pod "api-1" not found'));
      assert.equal(await api.podLog(pod, options), undefined);
    });

  for (const [code, reason] of [
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ] as const)
    test(`${code}: that it cannot be read is told`, async (t) => {
      const { server, api } = await rig(t, { retry: false });
      server.script(refusal(code, reason, 'no'));
      await assert.rejects(api.podLog(pod, options), { name: 'ApiError', code });
    });

  test('a name that climbs up is refused before anything is sent', async (t) => {
    const { server, api } = await rig(t);
    await assert.rejects(api.podLog({ ...pod, name: '..' }, options), { name: 'ApiError', code: 400 });
    assert.equal(server.seen.length, 0);
  });
});

const added = (name: string): object => ({ type: 'ADDED', object: aPod(name) });
const asLine = (object: object): string => `${JSON.stringify(object)}\n`;

/** The names that came, and what ended it. */
async function collect(api: Api, signal = new AbortController().signal): Promise<{ names: string[]; error?: Error }> {
  const names: string[] = [];
  try {
    for await (const line of api.watch('Pod', 'shop', { resourceVersion: '7' }, signal)) names.push(nameOf(line));
    return { names };
  } catch (error) {
    return { names, error: error as Error };
  }
}

const nameOf = ({ object }: WatchLine): string => object.metadata.name;

/** Each byte in a chunk of its own. */
const drops = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));

const cases: { name: string; step: Step; names: string[]; error?: { name: string; message: RegExp } }[] = [
  { name: 'lines come until the server ends it', step: lines([added('a'), added('b')]), names: ['a', 'b'] },
  {
    name: 'lines and characters split between chunks are whole',
    step: stream(drops(asLine(added('ä€😀')))),
    names: ['ä€😀'],
  },
  {
    name: 'many lines in one chunk are many',
    step: stream([asLine(added('a')) + asLine(added('b'))]),
    names: ['a', 'b'],
  },
  { name: 'empty lines are nothing', step: stream(['\n\r\n', asLine(added('a'))]), names: ['a'] },
  {
    name: 'a truncated last line is not a line',
    step: stream([asLine(added('a')), asLine(added('b')).slice(0, -9)]),
    names: ['a'],
    error: { name: 'Unreachable', message: /ended in the middle of a line/ },
  },
  {
    name: 'nor is one cut off with the connection',
    step: stream([asLine(added('a')), asLine(added('b')).slice(0, -9)], 'break' satisfies Ending),
    names: ['a'],
    error: { name: 'Unreachable', message: /cannot reach the API server/ },
  },
  {
    name: 'garbage is an error',
    step: stream([asLine(added('a')), '<html>\n']),
    names: ['a'],
    error: { name: 'ApiError', message: /not JSON: <html>/ },
  },
  {
    name: 'so is JSON that is no line of a watch',
    step: stream(['{"type":"PARTY","object":{}}\n']),
    names: [],
    error: { name: 'ApiError', message: /not a line of a watch/ },
  },
  {
    name: 'so is a line without an end',
    step: stream(Array.from({ length: 13 }, () => 'x'.repeat(1024 * 1024))),
    names: [],
    error: { name: 'Unreachable', message: /ended in the middle of a line/ },
  },
  {
    name: 'so is a line that is longer than any object, and about none',
    step: stream([...Array.from({ length: 13 }, () => 'x'.repeat(1024 * 1024)), '\n']),
    names: [],
    error: { name: 'ApiError', message: /a line of a watch \(x+\.\.\.\) is larger than 12 MB/ },
  },
  {
    name: 'a refusal is one',
    step: refusal(410, 'Expired', 'too old resource version'),
    names: [],
    error: { name: 'ApiError', message: /too old resource version/ },
  },
  {
    name: 'a page that is an error is one',
    step: page('<p>', 500),
    names: [],
    error: { name: 'ApiError', message: /HTTP 500/ },
  },
  { name: 'a reset is no end', step: reset(), names: [], error: { name: 'Unreachable', message: /cannot reach/ } },
];

for (const { name, step, names, error } of cases) {
  test(name, async (t) => {
    const { server, api } = await rig(t);
    server.script(step);
    const got = await collect(api);
    assert.deepEqual(got.names, names);
    assert.equal(got.error?.name, error?.name);
    if (error) assert.match(got.error?.message ?? '', error.message);
    assert.deepEqual(server.seen[0]?.query, { resourceVersion: '7', watch: 'true' });
  });
}

test('the signal ends it in order, and frees the connection', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  server.script(lines([added('a')], 'stay'));
  const collecting = collect(api, stop.signal);
  await eventually(() => server.seen.length === 1);
  stop.abort();
  const { error } = await collecting;
  assert.equal(error, undefined);
  await eventually(() => server.openConnections() === 0);
});

test('a signal that comes while connecting is in time', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  const collecting = collect(api, stop.signal);
  stop.abort();
  assert.deepEqual(await collecting, { names: [] });
  assert.equal(server.seen.length, 0);
});

test('whoever stops reading frees the connection', async (t) => {
  const { server, api } = await rig(t);
  server.script(lines([added('a'), added('b')], 'stay'));
  for await (const line of api.watch('Pod', 'shop', {}, new AbortController().signal)) {
    assert.equal(nameOf(line), 'a');
    break;
  }
  await eventually(() => server.openConnections() === 0);
});

test('an answer that is no list is not taken for an empty one', async (t) => {
  const { server, api } = await rig(t);
  server.script(json({ kind: 'Status', status: 'Success' }));
  await assert.rejects(api.list('Pod', 'shop'), { name: 'ApiError', reason: 'BadAnswer', message: /not a list/ });
});

test('a watch that is never answered is given up', async (t) => {
  const { server, api } = await rig(t, { timeoutMs: 50 });
  server.script(silence());
  const read = async () => {
    for await (const line of api.watch('Pod', 'shop', {}, new AbortController().signal)) assert.fail(line.type);
  };
  await assert.rejects(read(), { name: 'Unreachable' });
});

test('a server that would speak HTTP/2 is spoken to in HTTP/1.1, whose dead connections are noticed', async (t) => {
  const tls = { cert: serverCert, key: serverKey, ALPNProtocols: ['h2', 'http/1.1'] };
  const server = await scriptedServer({ tls });
  const cluster = { name: 'test', server: server.url, skipTLSVerify: true };
  const kubeConfig = {
    getCurrentCluster: () => cluster,
    applyToHTTPSOptions: async (options: { rejectUnauthorized?: boolean }) => void (options.rejectUnauthorized = false),
  };
  const api = createApi({ kubeConfig, timeoutMs: 2_000 });
  t.after(() => Promise.all([api.close(), server.close()]));
  server.script(json({}));
  assert.deepEqual(await api.get({ kind: 'Namespace', name: 'shop' }), {});
});
