import type { ConnectionOptions } from 'node:tls';
import { Agent, type Dispatcher, ProxyAgent, Socks5ProxyAgent } from 'undici';

export type Tls = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'servername' | 'rejectUnauthorized'
>;

/** Watches have connections of their own: however many stay open, a call never waits for one of them to end. */
export interface Pair {
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
/** The identity of the config and the tokens without a certificate, each before and after a rotation. */
const mostPairs = 4;

export function createAgents(proxy: string | undefined): Agents {
  const pairs = new Map<string, Pair>();

  function makeRoom(): void {
    const [oldest] = pairs.entries();
    if (pairs.size < mostPairs || !oldest) return;
    pairs.delete(oldest[0]);
    for (const agent of Object.values(oldest[1]) as Dispatcher[]) void agent.close(); // lets what is under way end
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
    // Over HTTP/2 undici never gave up a black-holed connection.
    allowH2: false,
    connections,
    keepAliveTimeout: idleMs,
    // Each call has a deadline of its own, and the list/watch loop knows a dead watch.
    bodyTimeout: 0,
  };
  if (proxy?.startsWith('socks')) return new Socks5ProxyAgent(proxy, { ...options, requestTls });
  if (proxy) return new ProxyAgent({ ...options, uri: proxy, requestTls });
  return new Agent({ ...options, connect: requestTls });
}

const fingerprint = ({ ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }: Tls): string =>
  [ca, cert, key, pfx, passphrase, servername, rejectUnauthorized].map(String).join('\n');
