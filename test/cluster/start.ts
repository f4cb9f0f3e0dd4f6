import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { components } from './components.ts';
import { makeCredentials } from './credentials.ts';
import { outcomeOf } from './exec.ts';
import { containerdSocket, nodeName, type ComponentName } from './facts.ts';
import { isHealthy } from './health.ts';
import { importImage, packOwnImages } from './images.ts';
import { makeDirectories, type Layout } from './layout.ts';
import { setUpMounts } from './mounts.ts';
import { setUpNetwork } from './network.ts';
import { writeConfigs } from './node-config.ts';
import { findCommand } from './prerequisites.ts';
import { Supervisor } from './supervisor.ts';
import { waitFor } from './wait.ts';

const startTimeoutMs = 90_000;

/** Brings a whole cluster up in the namespaces of this process and returns when its node takes pods. */
export async function startCluster(programs: string, at: Layout, cgroupRoot: string): Promise<void> {
  await makeDirectories(at);
  await Promise.all([
    setUpMounts(at),
    setUpNetwork(),
    makeCredentials(at),
    writeConfigs(at, { cgroupRoot, runc: findCommand('runc') ?? 'runc' }),
  ]);
  const all = components(at);
  const supervisor = new Supervisor(programs, at);
  const start = (...names: ComponentName[]) => names.forEach((name) => supervisor.start(all[name]));

  const until = async (component: ComponentName, probe: () => Promise<boolean>): Promise<void> => {
    const culpritOrReady = async () => supervisor.hopeless() ?? ((await probe()) && 'ready');
    const outcome = await waitFor(component, culpritOrReady, startTimeoutMs).catch(() => component);
    if (outcome === 'ready') return;
    throw new Error(`${outcome} does not get ready. The end of its log:\n${await tail(at.log(outcome))}`);
  };
  const healthy = (name: ComponentName) => until(name, () => isHealthy(all[name].healthUrl ?? ''));

  const ownImages = async (): Promise<void> => {
    const files = await packOwnImages(at);
    await until('containerd', async () => existsSync(containerdSocket));
    for (const file of files) await importImage(programs, file);
  };

  start('etcd', 'containerd', 'kube-apiserver');
  const images = ownImages();
  images.catch(() => {}); // awaited below; until then a failure of the API server is the better story
  await healthy('kube-apiserver');
  start('kube-controller-manager', 'kube-scheduler');
  await images;
  start('kubelet');
  await Promise.all([
    until('kubelet', () => nodeIsReady(programs, at)),
    until('kube-controller-manager', () => defaultAccountExists(programs, at)),
    healthy('kube-scheduler'),
  ]);
}

async function nodeIsReady(programs: string, at: Layout): Promise<boolean> {
  const ready = '{.status.conditions[?(@.type=="Ready")].status}';
  return (await kubectl(programs, at, ['get', 'node', nodeName, '-o', `jsonpath=${ready}`])) === 'True';
}

/** The controllers work, and pods can be created in `default`. */
async function defaultAccountExists(programs: string, at: Layout): Promise<boolean> {
  return (await kubectl(programs, at, ['get', 'serviceaccount', 'default', '-o', 'name'])) !== undefined;
}

async function kubectl(programs: string, at: Layout, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, KUBECONFIG: at.adminKubeconfig, KUBECACHEDIR: at.kubectlCache };
  const { code, stdout } = await outcomeOf(join(programs, 'kubectl'), args, { env });
  return code === 0 ? stdout : undefined;
}

async function tail(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '(no log)');
  return text.trimEnd().split('\n').slice(-25).join('\n');
}
