import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

/** What a tapfix that runs has open, by plural. */
export const allWatches = [
  'daemonsets',
  'deployments',
  'events',
  'horizontalpodautoscalers',
  'jobs',
  'nodes',
  'notices',
  'persistentvolumeclaims',
  'pods',
  'remediations',
  'replicasets',
  'statefulsets',
  'storageclasses',
];

export interface ApiServerOptions {
  port?: number;
  /** What is in a collection, by its plural; all others are empty. */
  items?: Record<string, object[]>;
  /** Requests to such a path are never answered. */
  stuck?: RegExp;
}

export interface ApiServer {
  url: string;
  /** "GET /api/v1/pods" */
  seen: string[];
  /** Watches that are open now, by their plural. */
  watched(): string[];
}

/** As much of an API server as it takes to start: it knows who asks, lists, keeps watches open and takes every write. */
export async function startApiServer(t: TestContext, options: ApiServerOptions = {}): Promise<ApiServer> {
  const { port = 0, items = {}, stuck } = options;
  const seen: string[] = [];
  const watches = new Set<string>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    const body = await text(request);
    seen.push(`${request.method} ${pathname}`);
    if (stuck?.test(pathname)) return;
    const plural = pathname.split('/').at(-1)!;
    if (searchParams.get('watch') === 'true') {
      watches.add(plural);
      response.on('close', () => watches.delete(plural));
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    } else if (request.method === 'GET') {
      reply(response, { metadata: { resourceVersion: '1' }, items: items[plural] ?? [] });
    } else if (plural === 'selfsubjectreviews') {
      reply(response, { status: { userInfo: { username: 'ada@example.com' } } });
    } else {
      reply(response, stored(JSON.parse(body) as Stored));
    }
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    watched: () => [...watches].sort(),
  };
}

interface Stored {
  metadata?: object;
}
const stored = (object: Stored): object => ({
  ...object,
  metadata: { uid: crypto.randomUUID(), resourceVersion: '2', ...object.metadata },
});

const reply = (response: ServerResponse, body: object): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A port of this machine where nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
