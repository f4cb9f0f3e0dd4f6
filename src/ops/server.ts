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
  /** The outcomes of all signals; only the watcher has a ledger. */
  ledger?: LedgerReader;
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

export async function startServer({ host, port, metrics, readiness, ledger, log }: ServerDeps): Promise<OpsServer> {
  const pages: Record<string, Page> = {
    '/healthz': () => plain(200, 'ok'),
    '/readyz': () => {
      const report = readiness.report();
      return json(report.ok ? 200 : 503, report);
    },
    '/metrics': async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() }),
    ...(ledger && { '/ledger': (query: URLSearchParams) => ledgerPage(ledger, query) }),
  };

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
    const [path = '/', ...query] = (request.url ?? '/').split('?');
    void answer(request.method ?? 'GET', path, query.join('?')).then((reply) => send(response, reply));
  });
  server.requestTimeout = 10_000;
  await listen(server, host, port);
  const actual = (server.address() as AddressInfo).port;
  log.info({ host, port: actual }, 'operations server listens');
  return {
    port: actual,
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

async function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const why: Record<string, string> = {
      EADDRINUSE: 'is already in use: set server.port to another one',
      EACCES: 'may not be opened by this user: set server.port to one above 1023',
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
