import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { messageOf, UserError } from '../lib/errors.ts';
import { type Log, scrub } from '../lib/log.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

interface ServerDeps {
  host: string;
  /** 0 = any free port. */
  port: number;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  readiness: Pick<Readiness, 'report'>;
  log: Log;
}

interface LocalServerDeps {
  /** 0 = any free port. */
  port: number;
  /** The outcomes of all signals. */
  ledger: LedgerReader;
  log: Log;
}

interface LedgerReader {
  totals(): object;
  /** `workload` is "namespace/kind/name". */
  of(workload: string): object;
}

interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

interface Reply {
  status: number;
  type: string;
  body: string;
}

const plain = (status: number, body: string): Reply => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${body}\n`,
});

const json = (status: number, value: object): Reply => ({
  status,
  type: 'application/json',
  body: `${scrub(JSON.stringify(value, null, 2))}\n`,
});

/** Without a query: the totals. Otherwise the last outcomes of one workload. */
function ledgerPage(ledger: LedgerReader, query: URLSearchParams): Reply {
  const asked = ['namespace', 'kind', 'name'].map((field) => query.get(field) ?? '');
  if (asked.every((value) => value === '')) return json(200, ledger.totals());
  if (asked.includes('')) return plain(400, 'ask with ?namespace=NAMESPACE&kind=KIND&name=NAME');
  return json(200, ledger.of(asked.join('/')));
}

type Page = (query: URLSearchParams) => Reply | Promise<Reply>;
type Pages = Readonly<Record<string, Page>>;

/** For probes and Prometheus. Any pod in the cluster may be able to ask: nothing here is about a workload. */
export async function startServer({ host, port, metrics, readiness, log }: ServerDeps): Promise<OpsServer> {
  const pages: Pages = {
    '/healthz': () => plain(200, 'ok'),
    '/readyz': () => {
      const report = readiness.report();
      return json(report.ok ? 200 : 503, report);
    },
    '/metrics': async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
  };
  const server = await serve({ host, port, setting: 'server.port', pages, log });
  log.info({ host, port: server.port }, 'operations server listens');
  return server;
}

const loopback = '127.0.0.1';

/**
 * For people who may forward a port of the pod, or are on this machine: what it serves is about workloads of every
 * namespace. Only on loopback, and only under a name of loopback: a page that somebody has open in a browser must not
 * read it under a name of its own (DNS rebinding).
 */
export async function startLocalServer({ port, ledger, log }: LocalServerDeps): Promise<OpsServer> {
  const pages: Pages = { '/ledger': (query) => ledgerPage(ledger, query) };
  const server = await serve({ host: loopback, port, setting: 'server.localPort', pages, isOurName, log });
  log.info({ host: loopback, port: server.port }, 'local server listens');
  return server;
}

/** Whatever the port is: it may have been forwarded from another one. */
const isOurName = (host: string): boolean => /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(host);

interface Serving {
  host: string;
  port: number;
  /** Its name in the configuration. */
  setting: 'server.port' | 'server.localPort';
  pages: Pages;
  /** Whether the Host header is one that we answer to. */
  isOurName?(host: string): boolean;
  log: Log;
}

async function serve({ host, port, setting, pages, isOurName = () => true, log }: Serving): Promise<OpsServer> {
  async function answer(method: string, path: string, query: string): Promise<Reply> {
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (!page) return plain(404, `not found; there is ${Object.keys(pages).join(' ')}`);
    if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET');
    try {
      return await page(new URLSearchParams(query));
    } catch (error) {
      log.error({ path, error: messageOf(error) }, 'operations page failed');
      return plain(500, 'internal error, see the log');
    }
  }

  const server = createServer((request, response) => {
    request.resume();
    if (!isOurName(request.headers.host ?? '')) return send(response, plain(403, 'ask for localhost'));
    const [path = '/', ...query] = (request.url ?? '/').split('?');
    void answer(request.method ?? 'GET', path, query.join('?')).then((reply) => send(response, reply));
  });
  server.requestTimeout = 10_000;
  await listen(server, host, port, setting);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

async function listen(
  server: ReturnType<typeof createServer>,
  host: string,
  port: number,
  setting: Serving['setting'],
): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const why: Record<string, string> = {
      EADDRINUSE: `is already in use: set ${setting} to another one`,
      EACCES: `may not be opened by this user: set ${setting} to one above 1023`,
      EADDRNOTAVAIL: 'is not an address of this machine: check server.host',
    };
    throw new UserError(`${host}:${port} ${why[code] ?? `cannot be opened: ${messageOf(error)}`}`, 1, error);
  }
}

/** Short, because perhaps nobody forwards the port. */
const patienceMs = 3_000;
const longestPage = 1_000_000;

interface LedgerQuestion {
  namespace: string;
  kind: string;
  name: string;
}

/** A running watcher's ledger page for one workload, as JSON. Throws when nobody answers, or something else does. */
export async function readLedger(base: string, question: LedgerQuestion): Promise<unknown> {
  const agent = new Agent({
    allowH2: false,
    connect: { timeout: patienceMs },
    headersTimeout: patienceMs,
    bodyTimeout: patienceMs,
    maxResponseSize: longestPage,
  });
  try {
    const url = new URL('/ledger', base);
    for (const [field, value] of Object.entries(question)) url.searchParams.set(field, value);
    const { statusCode, body } = await request(url, { dispatcher: agent });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`answered with HTTP ${statusCode}`);
    return JSON.parse(text) as unknown;
  } finally {
    await agent.destroy();
  }
}
