import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { messageOf, UserError } from '../lib/errors.ts';

// client-node is used for credentials only: kubeconfigs, exec plugins, rotated tokens. client.ts makes the requests
// itself. Hence this deep import; it still loads the generated models, because config.js imports them.

interface KubeConfigOptions {
  /** A context that the user asked for by name. In-cluster credentials are not considered then. */
  context?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** The directory where a pod finds its credentials. */
  serviceAccountDir?: string;
}

/**
 * Uses in-cluster credentials if there are any, then $KUBECONFIG, then ~/.kube/config. Throws a UserError of one line.
 */
export function loadKubeConfig({
  context,
  env = process.env,
  serviceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount',
}: KubeConfigOptions = {}): KubeConfig {
  if (context === undefined && env['KUBERNETES_SERVICE_HOST'] && existsSync(join(serviceAccountDir, 'token'))) {
    return inCluster(env, serviceAccountDir);
  }
  const config = merged(filesOf(env).map(readOne));
  if (context !== undefined) config.setCurrentContext(context);
  mustBeComplete(config);
  return config;
}

function inCluster(env: NodeJS.ProcessEnv, dir: string): KubeConfig {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const namespaceFile = join(dir, 'namespace');
  const namespace = existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : undefined;
  const name = 'in-cluster';
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name, caFile: join(dir, 'ca.crt'), server, skipTLSVerify: false }],
    users: [{ name, authProvider: { name: 'tokenFile', config: { tokenFile: join(dir, 'token') } } }],
    contexts: [{ name, cluster: name, user: name, namespace }],
    currentContext: name,
  });
  return config;
}

/** Files in $KUBECONFIG that do not exist are skipped, as kubectl does. */
function filesOf(env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] || env['USERPROFILE'];
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter(Boolean);
  const candidates = listed.length > 0 ? listed : home ? [join(home, '.kube', 'config')] : [];
  const files = candidates.filter((file) => existsSync(file));
  if (files.length > 0) return files;
  const looked = candidates.length > 0 ? `looked for ${candidates.join(', ')}` : 'neither KUBECONFIG nor HOME is set';
  throw new UserError(`no kubeconfig, and not running in a cluster: ${looked}`, 2);
}

function readOne(file: string): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
  } catch (error) {
    throw new UserError(`cannot read the kubeconfig ${file}: ${whyUnreadable(error)}`, 2);
  }
  return config;
}

/** Never uses the YAML error's own message, nor the error as a cause: both quote the file, which contains secrets. */
function whyUnreadable(error: unknown): string {
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  if (reason) return mark ? `line ${mark.line + 1}: ${reason}` : reason;
  return error instanceof TypeError ? 'it is not a kubeconfig' : messageOf(error);
}

/** The first file that names something wins, as with kubectl (client-node's own merge throws on a name seen twice). */
function merged(configs: readonly KubeConfig[]): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: firstOfEachName(configs.flatMap((one) => one.clusters)),
    users: firstOfEachName(configs.flatMap((one) => one.users)),
    contexts: firstOfEachName(configs.flatMap((one) => one.contexts)),
    currentContext: configs.map((one) => one.currentContext).find(Boolean),
  });
  return config;
}

const firstOfEachName = <T extends { name: string }>(all: readonly T[]): T[] => [
  ...new Map(all.toReversed().map((one) => [one.name, one])).values(),
];

function mustBeComplete(config: KubeConfig): void {
  const name = config.getCurrentContext();
  const known = config.contexts.map((one) => one.name).sort();
  const choice = known.length > 0 ? `it has ${known.slice(0, 20).join(', ')}` : 'it has none';
  if (!name) throw new UserError(`the kubeconfig has no current context; choose one with --context (${choice})`, 2);
  const context = config.getContextObject(name);
  if (!context) throw new UserError(`no context "${name}" in the kubeconfig; ${choice}`, 2);
  const missing = (what: string, value: string): UserError =>
    new UserError(`context "${name}" of the kubeconfig names the ${what} "${value}", which is not defined there`, 2);
  if (!config.getCluster(context.cluster)) throw missing('cluster', context.cluster);
  if (!config.getUser(context.user)) throw missing('user', context.user);
}
