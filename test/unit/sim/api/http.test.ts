import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { KubeObject } from '../../../../src/kube/api.ts';
import { createApi } from '../../../../src/kube/client.ts';
import { createWatch } from '../../../../src/kube/watch.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { createApiServer } from '../../../../src/sim/api/api-server.ts';
import { listen, type Listening } from '../../../../src/sim/api/http.ts';
import { aRevision } from '../../../contract/builders.ts';
import { eventually } from '../../kube/support.ts';

const kind = 'ControllerRevision' as const;

async function rig(t: TestContext) {
  const server = createApiServer({ clock: systemClock });
  const port: { now: Listening } = { now: await listen(server) };
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser({ name: 'sim', server: port.now.url, skipTLSVerify: true }, { name: 'sim' });
  const api = createApi({ kubeConfig, timeoutMs: 3_000 });
  t.after(async () => {
    await api.close();
    await port.now.close().catch(() => {});
  });
  const number = Number(new URL(port.now.url).port);
  return { server, api, port, back: async () => void (port.now = await listen(server, { port: number })), number };
}

test('a server that goes away ends every connection, and comes back on the same port with all it had', async (t) => {
  const { api, port, back } = await rig(t);
  await api.create({ kind, namespace: 'default' }, aRevision('before'));
  const seen = new Set<string>();
  const lists: number[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  const watch = createWatch<KubeObject>({
    api,
    clock: systemClock,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    kind,
    namespace: 'default',
    random: () => 0,
    view: (object) => object,
    onList(views) {
      lists.push(views.length);
      for (const { metadata } of views) seen.add(metadata.name);
    },
    onChange: (change) => void (change.type === 'upsert' && seen.add(change.view.metadata.name)),
  });
  const running = watch.run(stop.signal);
  await eventually(() => seen.has('before'));
  await port.now.close();
  await assert.rejects(api.list(kind, 'default'), { name: 'Unreachable' });
  await back();
  assert.equal((await api.list(kind, 'default')).length, 1);
  await api.create({ kind, namespace: 'default' }, aRevision('after'));
  await eventually(() => seen.has('after'));
  assert.deepEqual(lists, [1], 'the watch resumed where it was');
  stop.abort();
  await running;
});

test('closing does not wait for whoever holds a watch open', async (t) => {
  const { port } = await rig(t);
  const answer = await fetch(`${port.now.url}/api/v1/namespaces?watch=true`);
  assert.equal(answer.status, 200);
  await port.now.close();
  await assert.rejects(answer.text());
});

test('the server learns that whoever held a watch open is gone', async (t) => {
  const signals: AbortSignal[] = [];
  const { server } = await rig(t);
  const { url, close } = await listen({
    handle(request) {
      signals.push(request.signal!);
      return server.handle(request);
    },
  });
  t.after(close);
  const stop = new AbortController();
  await fetch(`${url}/api/v1/namespaces?watch=true`, { signal: stop.signal });
  assert.equal(signals[0]?.aborted, false);
  stop.abort();
  await eventually(() => signals[0]!.aborted);
});

test('a port that is taken is said in one line', async (t) => {
  const { server, number } = await rig(t);
  await assert.rejects(listen(server, { port: number }), {
    name: 'UserError',
    message: `port ${number} is taken by another program`,
  });
});

test('it listens on this machine only', async (t) => {
  const { port } = await rig(t);
  assert.match(port.now.url, /^http:\/\/127\.0\.0\.1:\d+$/);
});

test('a body that is too large is refused with a 413 that the client gets to see', async (t) => {
  const { port } = await rig(t);
  const body = JSON.stringify({ metadata: { name: 'big' }, data: { a: 'x'.repeat(8 * 1024 * 1024) } });
  const answer = await fetch(`${port.now.url}/api/v1/namespaces/default/configmaps`, { method: 'POST', body });
  assert.equal(answer.status, 413);
  assert.equal(((await answer.json()) as { reason: string }).reason, 'RequestEntityTooLarge');
});

test('a token comes in the Authorization header', async (t) => {
  const { port } = await rig(t);
  const ask = (authorization: string) => fetch(`${port.now.url}/api/v1/namespaces`, { headers: { authorization } });
  assert.equal((await ask('Bearer nonsense')).status, 401);
  assert.equal((await ask('bearer  nonsense')).status, 401);
  assert.equal((await ask('Basic eDp5')).status, 200);
});
