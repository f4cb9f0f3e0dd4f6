import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventOf, objectOf, podOf } from './cluster.ts';

/**
 * An API server that only sends, in a process of its own: pages of events, and as many watch lines as it is told to, as
 * fast as the reader takes them. It also answers as Telegram does when nothing happens.
 */
export type Order =
  | { do: 'hold'; events: number; pods: number }
  | { do: 'send'; kind: 'events' | 'pods'; from: number; count: number }
  | { do: 'ping'; n: number };
export type Report =
  | { at: 'listening'; port: number }
  | { at: 'sent'; ms: number }
  | { at: 'pinged'; atMs: number }
  /** The first page of what it holds was asked for, and the last one was given. */
  | { at: 'first-page' | 'last-page' }
  /** Somebody watches events. */
  | { at: 'watched' };

const held = { events: 0, pods: 0 };
const watches = new Map<string, Set<ServerResponse>>();
const report = (message: Report): void => void process.send?.(message);
const now = (): number => performance.timeOrigin + performance.now();

const lineOf = (kind: string, n: number): string =>
  `${JSON.stringify({ type: 'ADDED', object: kind === 'events' ? eventOf(n) : podOf(n, true) })}\n`;

async function send(kind: 'events' | 'pods', from: number, count: number): Promise<void> {
  // Made before the clock runs: what is measured is the reader.
  const chunks: string[] = [];
  for (let n = from; n < from + count; n += 100)
    chunks.push(Array.from({ length: Math.min(100, from + count - n) }, (_, i) => lineOf(kind, n + i)).join(''));
  const began = now();
  report({ at: 'sent', ms: began });
  for (const chunk of chunks)
    for (const response of watches.get(kind) ?? []) if (!response.write(chunk)) await once(response, 'drain');
}

function list(plural: string, query: URLSearchParams): object {
  const total = plural === 'events' ? held.events : plural === 'pods' ? held.pods : 0;
  const from = Number(query.get('continue') ?? 0);
  const to = Math.min(total, from + Number(query.get('limit') ?? total));
  if (plural === 'events' && total > 0 && from === 0) report({ at: 'first-page' });
  if (plural === 'events' && total > 0 && to === total) report({ at: 'last-page' });
  const items = Array.from({ length: to - from }, (_, i) =>
    plural === 'events' ? eventOf(from + i) : podOf(from + i, true),
  );
  return {
    kind: 'List',
    apiVersion: 'v1',
    metadata: { resourceVersion: '5', ...(to < total && { continue: String(to) }) },
    items,
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const json = (body: unknown, status = 200): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  request.resume();
  if (pathname.startsWith('/bot')) {
    if (pathname.endsWith('/getUpdates')) return; // a long poll
    return json({ ok: true, result: { id: 1, is_bot: true, first_name: 'tapfix', username: 'tapfix_bot' } });
  }
  const words = pathname.split('/').filter(Boolean);
  const plurals = ['events', 'pods', 'replicasets', 'deployments', 'namespaces', 'nodes'];
  const at = words.findLastIndex((word) => plurals.includes(word));
  const [plural = words.at(-1) ?? '', name] = at >= 0 && words[at] !== 'namespaces' ? words.slice(at) : [];
  if (request.method === 'POST' && pathname.endsWith('selfsubjectreviews'))
    return json({ status: { userInfo: { username: 'bench' } } }, 201);
  if (searchParams.has('watch')) {
    const isNormal = searchParams.get('fieldSelector')?.includes('!=') ?? false;
    const all = watches.get(plural) ?? new Set();
    if (!isNormal) watches.set(plural, all.add(response));
    response.on('close', () => all.delete(response));
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    if (plural === 'events' && !isNormal) report({ at: 'watched' });
  } else if (name) {
    const found = objectOf(plural, name);
    json(found ?? { kind: 'Status', code: 404, reason: 'NotFound', message: 'not found' }, found ? 200 : 404);
  } else if (request.method === 'GET') json(list(plural, searchParams));
  else json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'read only' }, 403);
}

const server = createServer(answer).listen(0, '127.0.0.1');
await once(server, 'listening');
process.on('message', (order: Order) => {
  if (order.do === 'hold') Object.assign(held, order);
  else if (order.do === 'send') void send(order.kind, order.from, order.count);
  else {
    const line = lineOf('events', order.n);
    report({ at: 'pinged', atMs: now() });
    for (const response of watches.get('events') ?? []) response.write(line);
  }
});
process.on('disconnect', () => process.exit(0));
report({ at: 'listening', port: (server.address() as AddressInfo).port });
