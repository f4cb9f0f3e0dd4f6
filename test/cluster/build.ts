import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { containerdVersion, kubernetesNames, kubernetesVersion } from './facts.ts';
import { exec } from './exec.ts';

const here = import.meta.dirname;
const clusterSources = ['k8s/go.mod', 'k8s/go.sum', 'k8s/main.go'];
const workloadSources = ['workload/go.mod', 'workload/main.go'];
const stripped = '-s -w';

export type Say = (line: string) => void;

/** Builds every program of the cluster, once per version, and returns the directory that holds them. */
export async function buildPrograms(say: Say, signal: AbortSignal): Promise<string> {
  const target = join(cacheDirectory(), `cluster-${await fingerprint(clusterSources)}`);
  await makeOnce(target, (directory) => compileInto(directory, say, signal));
  return target;
}

/** The program in the images of the cluster's pods: a second's work, so it is kept apart from what takes minutes. */
export async function buildWorkload(signal: AbortSignal): Promise<string> {
  const target = join(cacheDirectory(), `workload-${await fingerprint(workloadSources)}`);
  await makeOnce(target, (directory) =>
    go(['build', '-trimpath', '-ldflags', stripped, '-o', join(directory, 'workload'), '.'], {
      directory: 'workload',
      signal,
    }),
  );
  return join(target, 'workload');
}

/** A directory that is there as a whole or not at all. */
export async function makeOnce(target: string, fill: (directory: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const unfinished = await mkdtemp(`${target}.unfinished-`);
  try {
    await fill(unfinished);
    await renameUnlessThere(unfinished, target);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

export function cacheDirectory(): string {
  return process.env.TAPFIX_CACHE ?? join(homedir(), '.cache', 'tapfix');
}

async function fingerprint(sources: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(`${kubernetesVersion}\n${containerdVersion}\n`);
  for (const source of sources) hash.update(`${source}\n`).update(await readFile(join(here, source)));
  return hash.digest('hex').slice(0, 12);
}

async function compileInto(directory: string, say: Say, signal: AbortSignal): Promise<void> {
  await withProgress(say, `building Kubernetes ${kubernetesVersion} (once, about 10 minutes)`, () =>
    compileKubernetes(directory, signal),
  );
  await withProgress(say, `building containerd ${containerdVersion} (once, about 3 minutes)`, () =>
    compileContainerd(directory, signal),
  );
}

async function compileKubernetes(directory: string, signal: AbortSignal): Promise<void> {
  const binary = join(directory, 'kubernetes');
  const flags = `${stripped} ${versionFlags()}`;
  await go(['build', '-trimpath', '-ldflags', flags, '-o', binary, '.'], { directory: 'k8s', signal });
  for (const name of kubernetesNames) await symlink(basename(binary), join(directory, name));
}

/** Without these the API server refuses to say its version. */
function versionFlags(): string {
  const [major, minor] = kubernetesVersion.slice(1).split('.');
  const values = { gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}

async function compileContainerd(directory: string, signal: AbortSignal): Promise<void> {
  const commands = ['containerd', 'containerd-shim-runc-v2', 'ctr'].map(
    (name) => `github.com/containerd/containerd/v2/cmd/${name}@${containerdVersion}`,
  );
  const options = ['-trimpath', '-tags', 'no_btrfs,no_devmapper,no_zfs', '-ldflags', stripped];
  await go(['install', ...options, ...commands], { directory: '.', signal, env: { GOBIN: directory } });
}

interface GoOptions {
  /** Relative to this file. */
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

async function go(args: readonly string[], { directory, signal, env = {} }: GoOptions): Promise<void> {
  await exec('go', args, { cwd: join(here, directory), signal, env: { ...process.env, CGO_ENABLED: '0', ...env } });
}

/** A silent ten minutes looks like a hang, so say every 15 seconds that it is not. */
export async function withProgress(say: Say, what: string, work: () => Promise<void>): Promise<void> {
  const startedAt = Date.now();
  say(`${what} ...`);
  const timer = setInterval(() => {
    const elapsed = Math.round((Date.now() - startedAt) / 1000);
    const minutes = Math.floor(elapsed / 60);
    say(`${what} ... ${minutes > 0 ? `${minutes} min ` : ''}${elapsed % 60} s`);
  }, 15_000);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
}

/** Two builds may race: whoever is second throws its own away, both are the same. */
async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
