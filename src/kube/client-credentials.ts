import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';
import { UserError } from '../lib/errors.ts';

type Tls = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'>;

/** Watches have their own connections, so a call never waits for a watch to end, however many are open. */
interface Pair {
  calls: Dispatcher;
  streams: Dispatcher;
}

export interface Agents {
  /** The connections that go with these TLS options; the same options get the same connections. */
  for(tls: Tls): Pair;
  close(): Promise<void>;
}

const connectTimeoutMs = 5_000;
const idleMs = 30_000;
const callsAtOnce = 32;
/** The identity of the kubeconfig, and the tokens without a certificate, each before and after a rotation. */
const mostPairs = 4;

export function createAgents(proxy: string | undefined): Agents {
  const pairs = new Map<string, Pair>();

  function makeRoom(): void {
    const [oldest] = pairs.entries();
    if (pairs.size < mostPairs || !oldest) return;
    pairs.delete(oldest[0]);
    for (const agent of Object.values(oldest[1]) as Dispatcher[]) void agent.close(); // lets running requests end
  }

  return {
    for(tls) {
      const key = fingerprint(tls);
      const known = pairs.get(key);
      if (known) return known;
      makeRoom();
      const pair = { calls: dispatcher(tls, proxy, callsAtOnce), streams: dispatcher(tls, proxy, null) };
      pairs.set(key, pair);
      return pair;
    },
    async close() {
      const open = [...pairs.values()].flatMap(({ calls, streams }) => [calls, streams]);
      pairs.clear();
      await Promise.all(open.map((agent) => agent.destroy()));
    },
  };
}

function dispatcher(tls: Tls, proxy: string | undefined, connections: number | null): Dispatcher {
  const requestTls = { ...tls, timeout: connectTimeoutMs, keepAlive: true, keepAliveInitialDelay: 30_000 };
  const options = {
    // Over HTTP/2, undici never gave up a black-holed connection.
    allowH2: false,
    connections,
    keepAliveTimeout: idleMs,
    // Each call has its own deadline, and the list/watch loop detects a dead watch.
    bodyTimeout: 0,
  };
  if (proxy?.startsWith('socks')) return new Socks5ProxyAgent(proxy, { ...options, requestTls });
  if (proxy) return new ProxyAgent({ ...options, uri: proxy, requestTls });
  return new Agent({ ...options, connect: requestTls });
}

const fingerprint = ({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }: Tls): string =>
  [ca, cert, key, pfx, passphrase, servername, rejectUnauthorized].map(String).join('\n');

/** The parts of a kubeconfig that a client needs. */
export type KubeCredentials = Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'>;

/** Our identity for one request. */
interface Identity {
  tls: Tls;
  headers: Record<string, string>;
}

export type GetIdentity = () => Promise<Identity>;

interface Server {
  /** Has no slash at the end. May have a path, as behind Rancher. */
  address: string;
  proxy: string | undefined;
}

export function serverOf(kubeConfig: KubeCredentials): Server {
  const cluster = kubeConfig.getCurrentCluster();
  if (!cluster?.server) throw new UserError('the kubeconfig names no API server', 2);
  return { address: cluster.server.replace(/\/+$/, ''), proxy: cluster.proxyUrl || undefined };
}

/**
 * Called before every request, so that a rotated token or certificate is picked up. Calls at the same time share one
 * answer, because an exec plugin may open a browser, and must do so only once.
 */
export function identityOf(kubeConfig: KubeCredentials): GetIdentity {
  let pending: Promise<Identity> | undefined;
  const load = async (): Promise<Identity> => {
    const options: RequestOptions = { headers: {} };
    await kubeConfig.applyToHTTPSOptions(options);
    const tls: Tls = trustOf(kubeConfig);
    for (const field of ['cert', 'key', 'pfx', 'passphrase'] as const) {
      if (options[field]) Object.assign(tls, { [field]: options[field] });
    }
    return { tls, headers: headersOf(options) };
  };
  return () => (pending ??= load().finally(() => (pending = undefined)));
}

/** Only the token, no client certificate: the API server would take the certificate's name as the caller. */
export function tokenIdentity(kubeConfig: KubeCredentials, token: string): GetIdentity {
  return async () => ({ tls: trustOf(kubeConfig), headers: { authorization: `Bearer ${token.trim()}` } });
}

/** How we verify the server; the same for every identity. */
function trustOf(kubeConfig: KubeCredentials): Tls {
  const cluster = kubeConfig.getCurrentCluster();
  const tls: Tls = {};
  if (cluster?.caFile) tls.ca = readFileSync(cluster.caFile, 'utf8');
  else if (cluster?.caData) tls.ca = Buffer.from(cluster.caData, 'base64').toString('utf8');
  if (cluster?.tlsServerName) tls.servername = cluster.tlsServerName;
  if (cluster?.skipTLSVerify) tls.rejectUnauthorized = false;
  return tls;
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const found = Object.entries((headers ?? {}) as Record<string, unknown>);
  const basic: [string, unknown][] = auth ? [['authorization', `Basic ${Buffer.from(auth).toString('base64')}`]] : [];
  // A token read from a file may end in a newline, which a header must not contain.
  return Object.fromEntries([...basic, ...found].map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
}
