import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.ts';
import { parseAuditLog, type AuditEvent } from './audit.ts';
import { issueCertificate, type Certificate } from './certificates.ts';
import { components } from './components.ts';
import { outcomeOf } from './exec.ts';
import { nodeAddress, server, type ComponentName } from './facts.ts';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { isHealthy } from './health.ts';
import { importImage } from './images.ts';
import { kubeconfigText, type Credential } from './kubeconfig.ts';
import { layout, type Layout } from './layout.ts';
import { waitFor } from './wait.ts';

export type { AuditEvent } from './audit.ts';
export type { FaultProxy, Held, WriteSeen } from './fault-proxy.ts';

export interface KubectlOptions {
  readonly input?: string;
  readonly kubeconfig?: string;
  /** The command must be refused: resolves to what it wrote to stderr. */
  readonly expectFailure?: boolean;
}

interface KubeconfigOptions {
  /** Where the client connects instead, for example to a fault proxy. */
  readonly server?: string;
}

/** A running cluster, as tests inside it see it. */
export interface Cluster {
  readonly server: string;
  readonly caFile: string;
  /** Path of a kubeconfig for user `admin` of group `system:masters`. */
  readonly kubeconfig: string;
  readonly dir: string;
  readonly nodeAddress: string;
  /** Resolves to stdout; rejects with stderr. */
  kubectl(args: readonly string[], options?: KubectlOptions): Promise<string>;
  /** Server-side apply. */
  apply(manifest: string): Promise<void>;
  /** Undefined when there is no such object. */
  get<T>(resource: string, namespace: string | undefined, name: string): Promise<T | undefined>;
  /** Without a namespace: of all namespaces. */
  list<T>(resource: string, namespace?: string): Promise<T[]>;
  waitFor<T>(what: string, probe: () => Promise<T | undefined | false>, timeoutMs: number): Promise<T>;
  /** Every write the API server has answered so far. */
  audit(): Promise<AuditEvent[]>;
  /** Path of a kubeconfig that holds a token of this ServiceAccount. */
  serviceAccountKubeconfig(namespace: string, name: string, options?: KubeconfigOptions): Promise<string>;
  /** Path of a kubeconfig that holds a client certificate; such a client cannot go through a fault proxy. */
  userKubeconfig(user: string, groups?: readonly string[], options?: KubeconfigOptions): Promise<string>;
  importImage(tarFile: string): Promise<void>;
  /** Kills a component outright; resolves when its successor works. */
  restart(component: ComponentName): Promise<void>;
  /** Makes a namespace `prefix-<random>` in which pods can be created at once. */
  freshNamespace(prefix: string): Promise<string>;
  servingCertificate(hosts: readonly string[]): Promise<Certificate>;
  /** A fault proxy in front of this API server. Close it at the end of the test. */
  faultProxy(): Promise<FaultProxy>;
}

/** The cluster this process was started in. */
export async function joinCluster(): Promise<Cluster> {
  const dir = process.env.TAPFIX_CLUSTER;
  if (dir === undefined || !existsSync(join(dir, 'cluster.json'))) {
    throw new Error('There is no test cluster around this process: run it through npm run test:e2e.');
  }
  const { programs } = JSON.parse(await readFile(join(dir, 'cluster.json'), 'utf8')) as { programs: string };
  return clusterAt(layout(dir), programs);
}

async function clusterAt(at: Layout, programs: string): Promise<Cluster> {
  const api = await Api.fromKubeconfig(at.adminKubeconfig);

  async function kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { input, kubeconfig = at.adminKubeconfig, expectFailure = false } = options;
    const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: at.kubectlCache };
    const { code, stdout, stderr } = await outcomeOf(join(programs, 'kubectl'), args, {
      env,
      ...(input !== undefined && { input }),
    });
    const line = `kubectl ${args.join(' ')}`;
    if (expectFailure && code === 0) throw new Error(`${line} succeeded but should have failed: ${stdout}`);
    if (!expectFailure && code !== 0) throw new Error(`${line}: ${stderr.trim()}`);
    return expectFailure ? stderr : stdout;
  }

  async function writeKubeconfig(user: string, to: string, credential: Credential): Promise<string> {
    const file = at.kubeconfig(`${user.replaceAll(/[^\w.-]/g, '_')}-${randomBytes(4).toString('hex')}`);
    await writeFile(file, kubeconfigText(to, await readFile(at.caFile, 'utf8'), user, credential), { mode: 0o600 });
    return file;
  }

  const servingCertificate = (hosts: readonly string[]) =>
    issueCertificate(at.pki, { commonName: hosts[0] ?? 'test', hosts });

  return {
    server,
    caFile: at.caFile,
    kubeconfig: at.adminKubeconfig,
    dir: at.dir,
    nodeAddress,
    kubectl,
    waitFor,
    servingCertificate,
    get: (resource, namespace, name) => api.get(resource, namespace, name),
    list: (resource, namespace) => api.list(resource, namespace),
    restart: (component) => restart(at, component),
    importImage: (tarFile) => importImage(programs, tarFile),
    async apply(manifest) {
      await kubectl(['apply', '--server-side', '-f', '-'], { input: manifest });
    },
    async audit() {
      // A line is written when its handler returns, which can be a moment after the client has the answer.
      await sleep(50);
      return parseAuditLog(await readFile(at.auditLog, 'utf8'));
    },
    async serviceAccountKubeconfig(namespace, name, options = {}) {
      const token = await kubectl(['create', 'token', name, '--namespace', namespace, '--duration=2h']);
      return writeKubeconfig(`${namespace}-${name}`, options.server ?? server, { token: token.trim() });
    },
    async userKubeconfig(user, groups = [], options = {}) {
      const certificate = await issueCertificate(at.pki, { commonName: user, organizations: groups });
      return writeKubeconfig(user, options.server ?? server, certificate);
    },
    async freshNamespace(prefix) {
      const name = `${prefix}-${randomBytes(3).toString('hex')}`;
      await api.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await waitFor(`the default account of ${name}`, () => api.get('serviceaccounts', name, 'default'), 20_000);
      return name;
    },
    async faultProxy() {
      return startFaultProxy({ upstream: server, caFile: at.caFile, ...(await servingCertificate(['127.0.0.1'])) });
    },
  };
}

async function restart(at: Layout, component: ComponentName): Promise<void> {
  const pid = async () => Number(await readFile(at.pidFile(component), 'utf8'));
  const before = await pid();
  process.kill(before, 'SIGKILL');
  const all = components(at);
  const healthUrls = [all[component].healthUrl, all['kube-apiserver'].healthUrl].filter((url) => url !== undefined);
  const worksAgain = async () =>
    (await pid()) !== before && (await Promise.all(healthUrls.map(isHealthy))).every(Boolean);
  await waitFor(`${component} to work again`, worksAgain, 60_000);
}
