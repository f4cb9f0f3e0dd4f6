import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { UserError } from '../lib/errors.ts';
import type { Tls } from './client-agents.ts';

/** All that a client needs of a kubeconfig. */
export type KubeCredentials = Pick<KubeConfig, 'getCurrentCluster' | 'applyToHTTPSOptions'>;

/** Who we are, for one request. */
export interface Identity {
  tls: Tls;
  headers: Record<string, string>;
}

export type GetIdentity = () => Promise<Identity>;

export interface Server {
  /** Without a slash at the end; may have a path, as behind Rancher. */
  address: string;
  proxy: string | undefined;
}

export function serverOf(kubeConfig: KubeCredentials): Server {
  const cluster = kubeConfig.getCurrentCluster();
  if (!cluster?.server) throw new UserError('the kubeconfig names no API server', 2);
  return { address: cluster.server.replace(/\/+$/, ''), proxy: cluster.proxyUrl || undefined };
}

/**
 * Asked before every request, so that a rotated token or certificate is picked up. Requests that ask at the
 * same time share one answer: an exec plugin may open a browser, once.
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

/** Only the token: the API server would take the name in a client certificate for the caller's. */
export function tokenIdentity(kubeConfig: KubeCredentials, token: string): GetIdentity {
  return async () => ({ tls: trustOf(kubeConfig), headers: { authorization: `Bearer ${token.trim()}` } });
}

/** How we know the server, whoever we are. */
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
  // A token read from a file may end in a newline, which no header may hold.
  return Object.fromEntries([...basic, ...found].map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
}
