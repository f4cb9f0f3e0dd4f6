import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import { buildImageTar } from '../../cluster/image.ts';
import { defaults, installFile } from '../../../src/manifests/render-manifests.ts';
import { ada, botToken, chatId } from './chat.ts';
import { slackAda, slackChannel, slackTokens } from './slack.ts';

const root = new URL('../../../', import.meta.url).pathname;
/** Imported into the node under its published name, so that the manifests run as they are; nothing is pulled. */
export const image = defaults.image;

export interface ConfigOptions {
  apiRoot: string;
  /** Slack beside Telegram. */
  slackApi?: string;
  include?: string[];
  crashLoopFor?: string;
  quotaFor?: string;
  stableFor?: string;
  recoveryTimeout?: string;
  /** Patience of other classes. */
  patience?: Record<string, string>;
  coalesce?: string;
  /** One that is killed is waited for so long. */
  lease?: { leaseDuration: string; renewDeadline: string; retryPeriod: string };
}

/** Patience and windows are shortened by config only; the product has no special cases for tests. */
export const configText = ({
  apiRoot,
  slackApi,
  include = ['e2e-*'],
  crashLoopFor = '5s',
  quotaFor = '5s',
  stableFor = '5s',
  recoveryTimeout = '2m',
  patience = {},
  coalesce = '2s',
  lease = { leaseDuration: '4s', renewDeadline: '3s', retryPeriod: '500ms' },
}: ConfigOptions): string => `
cluster: e2e
namespaces: {include: ${JSON.stringify(include)}}
classes:
  CrashLoop: {for: ${crashLoopFor}}
  QuotaExceeded: {for: ${quotaFor}}
${Object.entries(patience)
  .map(([name, time]) => `  ${name}: {for: ${time}}\n`)
  .join('')}notices: {coalesce: ${coalesce}}
recovery: {stableFor: ${stableFor}, timeout: ${recoveryTimeout}}
leaderElection: ${JSON.stringify(lease)}
approval:
  approvers: [{name: Ada, telegram: ${ada}, slack: ${slackAda}}]
channels:
  telegram: {chat: ${chatId}, apiRoot: "${apiRoot}"}
${slackApi ? `  slack: {channel: ${slackChannel}, apiUrl: "${slackApi}"}\n` : ''}`;

/** By then a revision that came up was seen healthy for `stableFor`. */
export const seenHealthy = (): Promise<void> => sleep(8_000);

/**
 * CRDs, policies, rights and accounts of deploy/manifests, without the Deployments; tests that run tapfix as a process use
 * this. In a cluster that is shared, several do so at once, and all mean the same.
 */
export async function installResources(cluster: Cluster): Promise<void> {
  if (process.env.E2E_SHARED === undefined) await clearLeftovers(cluster);
  for (const file of await manifestFiles()) if (!file.includes('deployments')) await applyFile(cluster, file);
  await cluster.waitFor('the admission policies to bite', () => policiesBite(cluster), 60_000);
}

/** What earlier files broke would be noticed as well: each begins with an empty stage. What is slow to go is left behind. */
async function clearLeftovers(cluster: Cluster): Promise<void> {
  const names = (await cluster.list<{ metadata: { name: string } }>('namespaces')).map(({ metadata }) => metadata.name);
  const left = names.filter((name) => name.startsWith('e2e-'));
  if (left.length > 0)
    await cluster.kubectl(['delete', 'namespace', ...left, '--ignore-not-found', '--timeout=120s']).catch(() => '');
  await cluster.kubectl(['delete', 'namespace', 'tapfix', '--ignore-not-found', '--timeout=120s']);
}

/**
 * The whole of deploy/manifests, as pods on the real node, each with only its own ServiceAccount. One replica of each role
 * unless the test asks for more: most tests look at the one pod, its log and its memory.
 */
export async function installTapfix(cluster: Cluster, config: ConfigOptions, replicas = 1): Promise<void> {
  await importTapfix(cluster);
  await installResources(cluster);
  await setConfig(cluster, config);
  await createTokens(cluster);
  const [file] = (await manifestFiles()).filter((name) => name.includes('deployments'));
  const text = await readFile(join(root, 'deploy/manifests', file!), 'utf8');
  const input = text.replaceAll(/^ {2}replicas: \d+$/gm, `  replicas: ${replicas}`);
  await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input });
  await rolledOut(cluster);
}

/** The image of this source, on the node. */
export async function importTapfix(cluster: Cluster): Promise<void> {
  const tar = join(await mkdtemp(join(tmpdir(), 'tapfix-image-')), 'image.tar');
  await buildImageTar({ dockerfile: join(root, 'deploy/Dockerfile'), context: root, tag: image, out: tar });
  await cluster.importImage(tar);
}

/** The Secret with the tokens of the stand-ins. */
export async function createTokens(cluster: Cluster): Promise<void> {
  const secret = [
    '-n',
    'tapfix',
    'create',
    'secret',
    'generic',
    'tapfix-chat',
    ...Object.entries({ TELEGRAM_BOT_TOKEN: botToken, ...slackTokens }).map(
      ([name, token]) => `--from-literal=${name}=${token}`,
    ),
  ];
  await cluster.apply(await cluster.kubectl([...secret, '--dry-run=client', '-o', 'yaml']));
}

export async function setConfig(cluster: Cluster, config: ConfigOptions): Promise<void> {
  const data = JSON.stringify({ data: { 'config.yaml': configText(config) } });
  await cluster.kubectl(['-n', 'tapfix', 'patch', 'configmap', 'tapfix-config', '--type', 'merge', '-p', data]);
}

/** The new pods are Ready, and the old ones are gone. */
export async function rolledOut(cluster: Cluster): Promise<void> {
  for (const name of ['tapfix-watcher', 'tapfix-controller'])
    await cluster.kubectl(['-n', 'tapfix', 'rollout', 'status', `deploy/${name}`, '--timeout=120s']);
  const isSettled = async (): Promise<boolean> => {
    const pods = await cluster.list<{ metadata: { deletionTimestamp?: string } }>('pods', 'tapfix');
    return pods.every(({ metadata }) => metadata.deletionTimestamp === undefined);
  };
  await cluster.waitFor('the old pods of tapfix to be gone', isSettled, 60_000);
}

/** Of the pods that run now: with them go their logs. */
export async function assertNoSecretsInLogs(cluster: Cluster): Promise<void> {
  for (const name of ['tapfix-watcher', 'tapfix-controller']) {
    const log = await cluster.kubectl(['-n', 'tapfix', 'logs', `deploy/${name}`]);
    assert.match(log, /tapfix started/);
    assert.doesNotMatch(log, /AAE2etesttoken|eyJhbGciOi/);
  }
}

export async function removeDeployments(cluster: Cluster): Promise<void> {
  await cluster.kubectl(['-n', 'tapfix', 'delete', 'deploy,pdb', '--all', '--wait=true']);
  await cluster.waitFor(
    'tapfix pods to be gone',
    async () => (await cluster.list('pods', 'tapfix')).length === 0,
    60_000,
  );
}

async function manifestFiles(): Promise<string[]> {
  const names = (await readdir(join(root, 'deploy/manifests'))).filter((name) => name.endsWith('.yaml'));
  return names.filter((name) => name !== installFile).sort();
}

const applyFile = (cluster: Cluster, file: string): Promise<string> =>
  cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', join(root, 'deploy/manifests', file)]);

/** Policies take a moment to be enforced: a canary that must be refused tells when. */
export async function policiesBite(cluster: Cluster): Promise<boolean> {
  const canary = `
apiVersion: tapfix.dev/v1alpha1
kind: Remediation
metadata: {name: canary, namespace: default}
spec:
  incident: {key: default/Pod/x, class: CrashLoop, severity: info, reason: x, object: {kind: Pod, name: x, uid: x}, message: x, firstSeen: "2026-01-01T00:00:00Z"}
  diagnosis: x
  context: {changed: [], evidence: []}
  rationale: x
  proposedBy: somebody-else
  ttlMinutes: 1
  approval: {state: Pending}
`;
  try {
    await cluster.kubectl(['create', '--dry-run=server', '-f', '-'], { input: canary });
    return false;
  } catch (error) {
    return /proposedBy/.test(String(error));
  }
}

export interface Running {
  process: ChildProcess;
  log(): string;
  /** SIGKILL, as a machine dies. */
  kill(): Promise<void>;
  /** SIGTERM, as the kubelet ends it. */
  stop(): Promise<void>;
}

export interface StartOptions {
  role: 'all' | 'watcher' | 'controller';
  kubeconfig: string;
  config: ConfigOptions;
  /** The bot's. */
  token?: string;
}

/** The built bundle as a process of its own, for tests that kill it at an exact boundary. */
export async function startProcess({ role, kubeconfig, config, token = botToken }: StartOptions): Promise<Running> {
  const file = join(await mkdtemp(join(tmpdir(), 'tapfix-config-')), 'config.yaml');
  await writeFile(file, `${configText(config)}server: {host: 127.0.0.1, port: 0, localPort: 0}\n`);
  const env = { ...process.env, KUBECONFIG: kubeconfig, TELEGRAM_BOT_TOKEN: token, POD_NAMESPACE: 'tapfix' };
  const args = [join(root, 'bin/tapfix.js'), 'run', '--config', file, '--role', role];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (!text.includes('tapfix started')) {
    if (child.exitCode !== null) throw new Error(`tapfix did not start: ${text}`);
    await sleep(50);
  }
  return {
    process: child,
    log: () => text,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
