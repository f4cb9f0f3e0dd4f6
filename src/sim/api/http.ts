import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../../lib/errors.ts';
import type { ApiServer } from './api-server.ts';
import { largestBody } from './decoding.ts';
import type { ApiAnswer, ApiRequest } from './model.ts';

export interface Listening {
  url: string;
  /** Ends every connection, including open watches. The store stays: after another `listen` the cluster is back. */
  close(): Promise<void>;
}

/** Longer than our client keeps an idle connection, so that the client and not the server closes it. */
const keepAliveMs = 75_000;

/** Serves the API on a port of this machine. It is not for the network: there is no TLS, and everybody may do everything. */
export async function listen(
  server: Pick<ApiServer, 'handle'>,
  { port = 0 }: { port?: number } = {},
): Promise<Listening> {
  const http = createServer(
    (request, response) => void serve(server, request, response).catch(() => response.destroy()),
  );
  http.keepAliveTimeout = keepAliveMs;
  http.listen(port, '127.0.0.1');
  await once(http, 'listening').catch((error: unknown) => Promise.reject(inWords(error, port)));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    async close() {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await closed;
    },
  };
}

const inWords = (error: unknown, port: number): unknown =>
  (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new UserError(`port ${port} is taken by another program`)
    : error;

async function serve(
  server: Pick<ApiServer, 'handle'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answer = await server.handle(await requestOf(request, gone.signal));
  if (answer.lines) await stream(answer.lines, response);
  else reply(answer, response);
}

async function requestOf(request: IncomingMessage, signal: AbortSignal): Promise<ApiRequest> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const { authorization = '', 'content-type': contentType, 'user-agent': userAgent } = request.headers;
  const [, token] = /^bearer\s+(.+)$/i.exec(authorization) ?? [];
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: Object.fromEntries(searchParams),
    contentType,
    userAgent,
    token,
    body: await bodyOf(request),
    signal,
  };
}

/** Reads even a body that is too large to its end, because otherwise the client never sees the answer; keeps only enough of it to refuse it. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    if (bytes <= largestBody) parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts).toString('utf8');
}

function reply({ status, body }: ApiAnswer, response: ServerResponse): void {
  const isPage = typeof body === 'string';
  response.writeHead(status, { 'content-type': isPage ? 'text/plain; charset=utf-8' : 'application/json' });
  response.end(isPage ? body : JSON.stringify(body));
}

async function stream(lines: AsyncIterable<object>, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  for await (const line of lines) {
    if (response.destroyed) return;
    if (!response.write(`${JSON.stringify(line)}\n`))
      await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end();
}
