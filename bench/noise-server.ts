import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { actions } from '../src/actions/table.ts';
import { systemClock } from '../src/lib/clock.ts';
import { customResourceDefinitions } from '../src/manifests/crd.ts';
import { createApiServer } from '../src/sim/api/api-server.ts';
import type { Obj } from '../src/sim/api/model.ts';
import { startFakeTelegram } from '../test/support/fake-telegram.ts';
import { deploymentOf, goneEventOf, healthyPodOf, namespaces, replicaSetOf, stormPodOf } from './crowd.ts';

/**
 * The simulated API server in a process of its own, with a count of the requests. Events and healthy pods do not go
 * through its store, because it is not made for a hundred thousand of them: they are made when they are asked for.
 */
export type NoiseOrder =
  | { do: 'hold'; pods: number }
  | { do: 'events'; from: number; count: number; perSecond: number }
  | { do: 'storm'; workloads: number; podsEach: number }
  | { do: 'count' };
export interface NoiseReport {
  port?: number;
  telegram?: string;
  requests?: number;
  byWhat?: Record<string, number>;
  cards?: number;
  done?: string;
}

const api = createApiServer({ clock: systemClock, definitions: customResourceDefinitions(actions), history: 50_000 });
const put = (kind: string, object: object): void => void api.inside.store.put(api.inside.rowOf(kind)!, object as Obj);
const telegram = await startFakeTelegram({ chats: ['-1001'] });
let held = 0;
let requests = 0;
const byWhat: Record<string, number> = {};
const watches = { events: new Set<ServerResponse>(), pods: new Set<ServerResponse>() };
const report = (message: NoiseReport): void => void process.send?.(message);

for (const name of ['tapfix', ...namespaces]) {
  put('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, uid: `namespace-${name}` }, status: {} });
}

async function send({ from, count, perSecond }: Extract<NoiseOrder, { do: 'events' }>): Promise<void> {
  const beganMs = performance.now();
  for (let n = from; n < from + count; n += 100) {
    const some = Array.from({ length: Math.min(100, from + count - n) }, (_, i) => goneEventOf(n + i));
    const chunk = some.map((object) => `${JSON.stringify({ type: 'ADDED', object })}\n`).join('');
    const leftMs = beganMs + ((n - from) / perSecond) * 1000 - performance.now();
    if (leftMs > 0) await sleep(leftMs);
    for (const response of watches.events) if (!response.write(chunk)) await once(response, 'drain');
  }
  report({ done: 'events' });
}

/** Workloads that all break at once. */
async function storm({ workloads, podsEach }: Extract<NoiseOrder, { do: 'storm' }>): Promise<void> {
  for (let n = 0; n < workloads; n++) {
    put('Deployment', deploymentOf(n, podsEach));
    put('ReplicaSet', replicaSetOf(n, podsEach));
    for (let i = 0; i < podsEach; i++) put('Pod', stormPodOf(n, i));
    if (n % 10 === 0) await sleep(5);
  }
  report({ done: 'storm' });
}

/** Healthy pods, page by page; undefined: this request is about something else. */
function heldPods(path: string, query: URLSearchParams): object | undefined {
  const [, namespace] = /^\/api\/v1\/(?:namespaces\/([^/]+)\/)?pods$/.exec(path) ?? [];
  if (held === 0 || !path.endsWith('/pods')) return undefined;
  const all = namespace === undefined ? held : Math.floor(held / namespaces.length);
  const index = (i: number): number =>
    namespace === undefined ? i : i * namespaces.length + namespaces.indexOf(namespace);
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(all, from + Number(query.get('limit') ?? all));
  const items = Array.from({ length: to - from }, (_, i) => healthyPodOf(index(from + i)));
  const metadata = { resourceVersion: '105', ...(to < all && { continue: String(to) }) };
  return { kind: 'PodList', apiVersion: 'v1', metadata, items };
}

function openWatch(kind: 'events' | 'pods', response: ServerResponse, query: URLSearchParams): void {
  const isNormal = query.get('fieldSelector')?.includes('!=') ?? false;
  if (!isNormal) watches[kind].add(response);
  const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 60) * 1000);
  response.on('close', () => {
    watches[kind].delete(response);
    clearTimeout(timer);
  });
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  requests += 1;
  const isWatch = searchParams.has('watch');
  const plural = /\/([a-z]+)(?:\/[^/]+)?(?:\/status)?$/.exec(pathname.replace(/\/namespaces\/[^/]+\//, '/'))?.[1];
  const verb = isWatch ? 'watch' : searchParams.has('limit') ? 'list' : request.method;
  const what = `${verb} ${verb === 'list' || isWatch ? pathname.split('/').at(-1) : plural}`;
  byWhat[what] = (byWhat[what] ?? 0) + 1;
  const json = (status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const isEvents = pathname.endsWith('/events');
  if (isWatch && isEvents) return openWatch('events', response, searchParams);
  if (isWatch && held > 0 && pathname.endsWith('/pods')) return openWatch('pods', response, searchParams);
  if (isEvents && request.method === 'GET')
    return json(200, { kind: 'EventList', apiVersion: 'v1', metadata: { resourceVersion: '105' }, items: [] });
  const pods = heldPods(pathname, searchParams);
  if (pods) return json(200, pods);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answered = await api.handle({
    method: request.method ?? 'GET',
    path: pathname,
    query: Object.fromEntries(searchParams),
    contentType: request.headers['content-type'],
    userAgent: request.headers['user-agent'],
    body: Buffer.concat(parts).toString('utf8'),
    signal: gone.signal,
  });
  if (!answered.lines) return json(answered.status, answered.body);
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const line of answered.lines) {
    if (response.destroyed) return;
    if (!response.write(`${JSON.stringify(line)}\n`))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}

const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
server.keepAliveTimeout = 75_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
for (let n = 0; n < namespaces.length; n++) {
  put('Deployment', deploymentOf(n, 0, 'shop'));
  put('ReplicaSet', replicaSetOf(n, 0, 'shop'));
}
process.on('message', (order: NoiseOrder) => {
  if (order.do === 'hold') held = order.pods;
  else if (order.do === 'events') void send(order);
  else if (order.do === 'storm') void storm(order);
  else report({ requests, byWhat, cards: telegram.messages().length });
});
process.on('disconnect', () => process.exit(0));
report({ port: (server.address() as AddressInfo).port, telegram: telegram.apiRoot });
