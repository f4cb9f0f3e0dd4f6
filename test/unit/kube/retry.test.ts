import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Api, ApiError, Unreachable } from '../../../src/kube/api.ts';
import type { Call } from '../../../src/kube/client-transport.ts';
import { isAnsweredByServer, pauseBeforeRepeat } from '../../../src/kube/retry.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { json, refusal, reset, type Step } from '../../support/scripted-server.ts';
import { aList, aPod, rig } from './support.ts';

const path = '/api/v1/namespaces/shop/pods/api-1';
const broken = new Unreachable('reset', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) });
const refused = new Unreachable('refused', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) });
const late = new Unreachable('late', { cause: Object.assign(new Error('late'), { name: 'TimeoutError' }) });
const error = (code: number, afterMs?: number): ApiError => new ApiError('no', code, 'Reason', afterMs);

const rules: { name: string; method?: Call['method']; path?: string; error: unknown; want: number | undefined }[] = [
  { name: 'a refused read is repeated when the server asks for it', error: error(429, 3_000), want: 3_000 },
  { name: 'a refused write too', method: 'PATCH', error: error(429, 3_000), want: 3_000 },
  { name: 'a 429 that names no time', method: 'POST', error: error(429), want: 1_000 },
  { name: 'a 503 that names one', method: 'DELETE', error: error(503, 2_000), want: 2_000 },
  { name: 'a write after a 503 that names none', method: 'DELETE', error: error(503), want: undefined },
  { name: 'a write after a 500', method: 'PATCH', error: error(500), want: undefined },
  { name: 'a write after a 500 that names a time', method: 'PATCH', error: error(500, 1_000), want: undefined },
  { name: 'a write after a reset', method: 'PATCH', error: broken, want: undefined },
  { name: 'a write that nobody took', method: 'POST', error: refused, want: undefined },
  { name: 'a read after a 500', error: error(500), want: 50 },
  { name: 'a read after a 503', error: error(503), want: 50 },
  { name: 'a read after a reset', error: broken, want: 50 },
  { name: 'a read that nobody took', error: refused, want: 50 },
  { name: 'a read that got no answer in time', error: late, want: undefined },
  { name: 'a read that is forbidden', error: error(403), want: undefined },
  { name: 'a read of what is not there', error: error(404), want: undefined },
  { name: 'what its guard refused', method: 'PATCH', error: new Error('not leading'), want: undefined },
  { name: 'an eviction', method: 'POST', path: `${path}/eviction`, error: error(429, 1_000), want: undefined },
  { name: 'an aggregated API', path: '/apis/metrics.k8s.io/v1beta1/pods', error: error(503, 1_000), want: undefined },
  { name: 'our own resources', path: '/apis/tapfix.dev/v1alpha1/notices', error: error(429, 1_000), want: 1_000 },
];

describe('when a request is repeated', () => {
  for (const { name, method = 'GET', path: at = path, error: failed, want } of rules)
    test(name, () => {
      const how = { failures: 1, random: () => 0 };
      assert.equal(pauseBeforeRepeat({ method, path: at }, failed, how), want);
    });

  test('a read is not repeated for ever when the server fails', () => {
    const pauses = [1, 2, 3, 4, 5].map((failures) =>
      pauseBeforeRepeat({ method: 'GET', path }, error(500), { failures, random: () => 0.5 }),
    );
    assert.deepEqual(pauses, [100, 300, 900, undefined, undefined]);
  });

  test('those who were refused together do not all come back together', () => {
    const pause = (random: number): number | undefined =>
      pauseBeforeRepeat({ method: 'GET', path }, error(429, 1_000), { failures: 9, random: () => random });
    assert.deepEqual([pause(0), pause(0.5), Math.round(pause(0.999)!)], [1_000, 1_050, 1_100]);
  });

  test('every kind that we use is answered by the server itself', () => {
    for (const one of ['/api/v1/pods', '/apis/apps/v1/deployments', '/apis/storage.k8s.io/v1/storageclasses'])
      assert.ok(isAnsweredByServer(one), one);
    for (const one of ['/apis/custom.metrics.k8s.io/v1beta2/x', '/apis/example.com/v1/x'])
      assert.ok(!isAnsweredByServer(one), one);
  });
});

/** Time that passes at once, as far as somebody sleeps. */
function skippingClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  let nowMs = 0;
  return {
    slept,
    now: () => nowMs,
    async sleep(ms) {
      slept.push(ms);
      nowMs += ms;
    },
  };
}

const busy = (seconds = 1): Step => refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': String(seconds) });
const pod = { kind: 'Pod', namespace: 'shop', name: 'api-1' } as const;
const ok = json(aPod('api-1'));

const calls: Record<string, (api: Api) => Promise<unknown>> = {
  get: (api) => api.get(pod),
  list: (api) => api.list('Pod', 'shop'),
  podLog: (api) => api.podLog(pod, { container: 'app', previous: false, tailLines: 1, limitBytes: 10 }),
  create: (api) => api.create({ kind: 'Pod', namespace: 'shop' }, {}),
  patch: (api) => api.patch(pod, 'merge', {}),
  delete: (api) => api.delete(pod),
  'createSub (a token)': (api) =>
    api.createSub({ kind: 'ServiceAccount', namespace: 'tapfix', name: 'writer', subresource: 'token' }, {}),
};

describe('over HTTP', () => {
  for (const [name, call] of Object.entries(calls))
    test(`${name} is repeated by itself after 429, as the server asked`, async (t) => {
      const clock = skippingClock();
      const { server, api } = await rig(t, { clock, random: () => 0 });
      server.script(busy(), busy(2), name === 'list' ? json(aList([])) : ok);
      await call(api);
      assert.deepEqual([server.seen.length, clock.slept], [3, [1_000, 2_000]]);
    });

  test('the server may ask until the time of the call is over; then its error is thrown as it is', async (t) => {
    const clock = skippingClock();
    const { server, api } = await rig(t, { clock, random: () => 0 });
    server.script(...Array<Step>(20).fill(busy(4)));
    await assert.rejects(api.get(pod), { name: 'ApiError', code: 429, message: 'slow down' });
    assert.deepEqual([server.seen.length, clock.slept], [4, [4_000, 4_000, 4_000]]);
  });

  test('a pause longer than the whole call is not begun', async (t) => {
    const clock = skippingClock();
    const { server, api } = await rig(t, { clock, timeoutMs: 2_000 });
    server.script(busy(60), ok);
    await assert.rejects(api.patch(pod, 'merge', {}), { code: 429 });
    assert.deepEqual([server.seen.length, clock.slept], [1, []]);
  });

  test('a read survives a reset and a 500; a write is sent once', async (t) => {
    const { server, api } = await rig(t, { clock: skippingClock() });
    server.script(reset(), refusal(500, 'InternalError', 'oh'), ok);
    assert.equal((await api.get(pod))?.metadata.name, 'api-1');
    for (const failure of [reset(), refusal(500, 'InternalError', 'oh'), refusal(503, 'ServiceUnavailable', 'oh')])
      for (const verb of ['create', 'patch', 'delete']) {
        const before = server.seen.length;
        server.script(failure);
        await assert.rejects(calls[verb]!(api));
        assert.equal(server.seen.length, before + 1, verb);
      }
  });

  test('an eviction is asked for once', async (t) => {
    const { server, api } = await rig(t, { clock: skippingClock() });
    server.script(busy(10), ok);
    await assert.rejects(api.createSub({ ...pod, subresource: 'eviction' }, {}), { code: 429, retryAfterMs: 10_000 });
    assert.equal(server.seen.length, 1);
  });

  test('opening a watch is left to its owner', async (t) => {
    const { server, api } = await rig(t, { clock: skippingClock() });
    server.script(busy());
    const open = api.watch('Pod', 'shop', {}, new AbortController().signal)[Symbol.asyncIterator]();
    await assert.rejects(open.next(), { code: 429, retryAfterMs: 1_000 });
    assert.equal(server.seen.length, 1);
  });

  test('the guard of a write is asked before each attempt', async (t) => {
    const clock = skippingClock();
    const { server, api } = await rig(t, { clock });
    server.script(busy(), busy(), busy(), ok);
    const lostMs = 1_500;
    const guarded = api.guardedBy(() => {
      if (clock.now() >= lostMs) throw new Error('not leading');
    });
    await assert.rejects(guarded.patch(pod, 'merge', {}), /^Error: not leading$/);
    assert.equal(server.seen.length, 2);
  });

  test('retries can be switched off', async (t) => {
    const { server, api } = await rig(t, { retry: false });
    server.script(busy(), ok);
    await assert.rejects(api.get(pod), { code: 429 });
    assert.equal(server.seen.length, 1);
  });

  test('whoever closes the client does not wait for a pause to end', async (t) => {
    const { server, api } = await rig(t, { timeoutMs: 600_000 });
    server.script(busy(300));
    const call = assert.rejects(api.get(pod), { code: 429 });
    while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await api.close();
    await call;
  });
});

describe('the limit of the client', () => {
  async function burst(options: object, t: Parameters<typeof rig>[0], many = 150): Promise<number[]> {
    const clock = skippingClock();
    const { server, api } = await rig(t, { clock, ...options });
    server.script(...Array<Step>(many).fill(ok));
    const other = api.withToken('minted');
    await Promise.all(Array.from({ length: many }, (_, n) => (n % 2 ? api : other).get(pod)));
    assert.equal(server.seen.length, many);
    return clock.slept;
  }

  test('a hundred at once, then fifty a second, over all identities', async (t) => {
    const slept = await burst({}, t);
    const waitedMs = slept.reduce((sum, ms) => sum + ms, 0);
    assert.ok(waitedMs >= 990 && waitedMs <= 1_010, `${waitedMs} ms`);
  });

  test('it can be switched off', async (t) => {
    assert.deepEqual(await burst({ limit: false }, t), []);
  });

  test('waiting for it is no part of the time of a call', async (t) => {
    const slept = await burst({ timeoutMs: 5_000 }, t, 400);
    assert.ok(slept.reduce((sum, ms) => sum + ms, 0) > 5_000);
  });

  test('watches count when they open', async (t) => {
    const clock = skippingClock();
    const { server, api } = await rig(t, { clock });
    server.script(...Array<Step>(101).fill(json({})));
    const end = new AbortController();
    for (let n = 0; n < 101; n++) {
      const watching = api.watch('Pod', 'shop', {}, end.signal)[Symbol.asyncIterator]();
      await watching.next().catch(() => undefined);
    }
    assert.equal(clock.slept.length, 1);
  });
});
