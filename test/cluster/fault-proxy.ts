import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http, { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDryRun } from './audit.ts';
import { Faults, type Failure, type Held, type RequestSeen, type WriteSeen } from './faults.ts';

export type { Failure, Held, RequestSeen, WriteSeen } from './faults.ts';

/**
 * Stands between a client and the API server and makes the network misbehave on request.
 * It ends TLS, so clients must identify themselves by bearer token: a client certificate stops here.
 */
export interface FaultProxy {
  /** https://127.0.0.1:PORT, or http: of a server without TLS. */
  readonly url: string;
  /** Every request that is not a GET. */
  readonly writes: readonly WriteSeen[];
  /** Holds the next matching write before it is forwarded; resolves when one is held. */
  holdBefore(match: (write: WriteSeen) => boolean): Promise<Held>;
  /** Holds back the server's answer to the next matching write; resolves when the server has answered. */
  holdAfter(match: (write: WriteSeen) => boolean): Promise<Held>;
  /** Answers the next matching requests with a Kubernetes Status of this code, or breaks them in another way. */
  fail(match: (request: RequestSeen) => boolean, failure: Failure, times: number): void;
  delay(match: (request: RequestSeen) => boolean, ms: number, times: number): void;
  /** Destroys all open client connections. */
  cut(): void;
  /** Ends the failures and delays asked for so far. */
  heal(): void;
  close(): Promise<void>;
}

/** Without these it speaks plain HTTP on both sides, as the simulated API server does. */
interface TlsOptions {
  readonly caFile: string;
  /** PEM */
  readonly cert: string;
  /** PEM */
  readonly key: string;
}
export type FaultProxyOptions = { readonly upstream: string } & (TlsOptions | { readonly cert?: undefined });

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { upstream, cert } = options;
  const faults = new Faults();
  const writes: WriteSeen[] = [];
  const forward = forwarder(upstream, cert === undefined ? undefined : await readFile(options.caFile, 'utf8'));
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // Whatever goes wrong between here and the server looks to the client like a broken connection.
    serve(request, response, { faults, writes, forward }).catch(() => request.socket.destroy());
  };
  const server =
    cert === undefined ? http.createServer(onRequest) : https.createServer({ cert, key: options.key }, onRequest);
  // As the API server, keep idle connections: closing them would be a fault no test asked for.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${cert === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    holdBefore: (match) => faults.hold('before', match),
    holdAfter: (match) => faults.hold('after', match),
    fail: (match, failure, times) => faults.fail(match, failure, times),
    delay: (match, ms, times) => faults.delay(match, ms, times),
    heal: () => faults.heal(),
    cut: () => server.closeAllConnections(),
    async close() {
      faults.dropAllHeld();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Forward = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<IncomingMessage>;

interface Context {
  readonly faults: Faults;
  readonly writes: WriteSeen[];
  readonly forward: Forward;
}

async function serve(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { faults, writes, forward } = context;
  const seen = seenOf(request);
  // The whole body first: a held write is complete, so it can be forwarded even when its sender is gone.
  const body = await buffer(request);
  const write = request.method === 'GET' ? undefined : writeSeenOf(request, body, writes.length + 1);
  if (write !== undefined) writes.push(write);
  await faults.passDelays(seen);
  const failure = faults.nextFailure(seen);
  if (typeof failure === 'number') return answerStatus(response, failure);
  if (failure !== undefined) return breakIt(failure, request, response, () => forward(request, body, response));
  if (write === undefined) return stream(await forward(request, body, response), response);
  if (!(await faults.passHolds('before', write))) return void request.socket.destroy();
  const answer = await forward(request, body, response);
  const answerBody = await buffer(answer);
  if (!(await faults.passHolds('after', write))) return void request.socket.destroy();
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders).flat()).end(answerBody);
}

async function breakIt(
  failure: Exclude<Failure, number>,
  { socket }: IncomingMessage,
  response: ServerResponse,
  ask: () => Promise<IncomingMessage>,
): Promise<void> {
  if (failure === 'black hole') return;
  if (failure === 'reset') return void socket.resetAndDestroy();
  if (failure === 'garbage')
    return void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>\n');
  const answer = await ask();
  if (failure === 'lost') return void answer.resume().on('end', () => socket.resetAndDestroy());
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders).flat());
  response.flushHeaders();
  if (failure === 'half-open') return void answer.resume();
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    if (failure === 'truncated') {
      response.write(chunk.subarray(0, chunk.length / 2), () => socket.destroy());
      return;
    }
    const size = Math.ceil(chunk.length / drips);
    for (let at = 0; at < chunk.length && !response.destroyed; at += size) {
      response.write(chunk.subarray(at, at + size));
      await sleep(dripMs);
    }
  }
  response.end();
}

/** A slow drip: each chunk in so many pieces, with so long a pause after each. */
const drips = 10;
const dripMs = 50;

function seenOf(request: IncomingMessage): RequestSeen {
  const [path = '', query = ''] = (request.url ?? '').split('?');
  return { method: request.method ?? '', path, query };
}

function writeSeenOf(request: IncomingMessage, sent: Buffer, n: number): WriteSeen {
  const { method, path } = seenOf(request);
  const user = tokenSubject(request.headers.authorization);
  const body = jsonOrUndefined(sent.toString());
  const dryRun = isDryRun(request.url ?? '', body);
  return { n, method, path, dryRun, at: Date.now(), body, ...(user !== undefined && { user }) };
}

/** Each request gets its own connection to the server, so none fails because of one that went stale. */
function forwarder(upstream: string, ca: string | undefined): Forward {
  return (request, body, response) =>
    new Promise((resolve, reject) => {
      const { method, rawHeaders } = request;
      const url = new URL(request.url ?? '/', upstream);
      const onward =
        ca === undefined
          ? http.request(url, { method, agent: false }, resolve)
          : https.request(url, { method, ca, agent: false }, resolve);
      for (const [name, value] of endToEnd(rawHeaders)) onward.appendHeader(name, value);
      // Node frames no body of a DELETE by itself: the server would take what was sent for another request.
      if (body.length > 0) onward.setHeader('content-length', body.length);
      onward.on('error', reject);
      // A watch ends with its reader; a write once sent is the server's to finish.
      if (method === 'GET') response.once('close', () => onward.destroy());
      onward.end(body);
    });
}

/** Headers about one connection, or about how this side frames a body, are not for the other side. */
const perConnection = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'];

function endToEnd(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  return pairs.filter(([name]) => !perConnection.includes(name.toLowerCase()));
}

/** Chunk by chunk, so that a watch event arrives when it happens; a stream that breaks on one side breaks on both. */
function stream(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.rawHeaders).flat());
  response.flushHeaders();
  answer.on('error', () => response.destroy());
  answer.on('aborted', () => response.destroy());
  answer.pipe(response);
}

function answerStatus(response: ServerResponse, code: number): void {
  const reason = (STATUS_CODES[code] ?? 'Unknown').replaceAll(' ', '');
  const message = `the fault proxy answers ${code} as asked`;
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  const retryAfter = code === 429 || code === 503 ? { 'retry-after': '1' } : {};
  response.writeHead(code, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(status));
}

function tokenSubject(authorization = ''): string | undefined {
  const payload = /^Bearer [^.]+\.([^.]+)\./.exec(authorization)?.[1];
  if (payload === undefined) return undefined;
  const claims = jsonOrUndefined(Buffer.from(payload, 'base64url').toString());
  return (claims as { sub?: string } | undefined)?.sub;
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
