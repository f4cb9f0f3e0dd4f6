import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { KubeCredentials } from '../../src/kube/client-credentials.ts';

/** How one request is answered. */
export type Step = (response: ServerResponse, request: IncomingMessage) => void;

/** One request, as it arrived. */
export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  body: unknown;
  /** The name in the client's certificate. */
  certificate: string | undefined;
}

export interface ScriptedServer {
  url: string;
  /** A kubeconfig that leads here. */
  kubeConfig: KubeCredentials;
  /** Steps for the next requests, in order; when they run out a request is left unanswered. */
  script(...steps: Step[]): void;
  seen: Seen[];
  /** Connections ever made. */
  connections(): number;
  openConnections(): number;
  /** Resets every open connection. */
  resetAll(): void;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  tls?: ServerOptions;
  port?: number;
}

/** A server of plain node:http that answers by script: the API server on its bad days. */
export async function scriptedServer({ tls, port = 0 }: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const steps: Step[] = [];
  const seen: Seen[] = [];
  const open = new Set<Socket>();
  let connections = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = steps.shift() ?? silence();
    const body = await text(request);
    seen.push(seenOf(request, body));
    step(response, request);
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    void handle(request, response).catch(() => response.destroy());
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    kubeConfig: kubeConfigFor(url),
    script: (...more) => void steps.push(...more),
    seen,
    connections: () => connections,
    openConnections: () => open.size,
    resetAll: () => open.forEach((socket) => socket.resetAndDestroy()),
    async close() {
      if (!server.listening) return;
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export const kubeConfigFor = (server: string, authorization?: string): KubeCredentials => ({
  getCurrentCluster: () => ({ name: 'test', server, skipTLSVerify: true }),
  async applyToHTTPSOptions(options) {
    if (authorization) options.headers = { Authorization: authorization };
  },
});

function seenOf(request: IncomingMessage, body: string): Seen {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const certificate = (request.socket as Partial<TLSSocket>).getPeerCertificate?.().subject?.CN;
  return {
    method: request.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: request.headers,
    body: body && JSON.parse(body),
    certificate: Array.isArray(certificate) ? certificate[0] : certificate,
  };
}

export const json =
  (body: unknown, code = 200, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const page =
  (body: string, code = 200): Step =>
  (response) =>
    response.writeHead(code, { 'content-type': 'text/html' }).end(body);

/** A refusal as the API server words it. */
export const refusal = (code: number, reason: string, message: string, headers: Record<string, string> = {}): Step =>
  json({ kind: 'Status', status: 'Failure', code, reason, message }, code, headers);

/** No answer, ever. */
export const silence = (): Step => () => {};

/** The connection is reset before an answer. */
export const reset = (): Step => (_response, request) => request.socket.resetAndDestroy();

/** How a stream goes on after what was scripted: ended in order, left open without another byte, or broken off. */
export type Ending = 'end' | 'stay' | 'break';

/** A stream of raw chunks, each sent on its own. */
export const stream =
  (chunks: readonly (string | Uint8Array)[], ending: Ending = 'end'): Step =>
  async (response, request) => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    for (const chunk of chunks) {
      response.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') response.end();
    if (ending === 'break') request.socket.end();
  };

/** A watch with these lines. */
export const lines = (objects: readonly object[], ending: Ending = 'end'): Step =>
  stream(
    objects.map((object) => `${JSON.stringify(object)}\n`),
    ending,
  );
