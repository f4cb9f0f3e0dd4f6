import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { constants, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buildPrograms } from './build.ts';
import { removeCgroup } from './cgroups.ts';
import { layout, type Layout } from './layout.ts';
import { thisMachine, whatIsMissing } from './prerequisites.ts';

/**
 * `main.ts` starts a cluster and keeps it until Ctrl-C.
 * `main.ts --run COMMAND ARGS...` starts one, runs the command inside it, ends it, and exits as the command did.
 */
const usage = 'usage: node test/cluster/main.ts [--run COMMAND ARGS...]';

async function main(argv: readonly string[]): Promise<number> {
  const [option, ...command] = argv;
  const understood = option === undefined || (option === '--run' && command.length > 0);
  if (!understood) return complain(usage, 2);
  const missing = whatIsMissing(thisMachine());
  if (missing !== undefined) return complain(missing, 1);
  const programs = await buildPrograms((line) => console.error(line));
  const at = layout(await mkdtemp(join(tmpdir(), 'tapfix-cluster-')));
  try {
    return await runNamespaces(programs, at, command);
  } finally {
    await removeAll(at);
  }
}

function complain(sentence: string, code: number): number {
  console.error(sentence);
  return code;
}

/** Resolves to the exit code when every process of the cluster is gone. */
function runNamespaces(programs: string, at: Layout, command: readonly string[]): Promise<number> {
  const namespaces = '--net --mount --pid --fork --kill-child --mount-proc --propagation private'.split(' ');
  const inside = [process.execPath, join(import.meta.dirname, 'inside.ts'), programs, at.dir, ...command];
  // The shell is process 1 of the namespace: it adopts and reaps what the container runtime leaves orphaned.
  const shell = ['bash', '-c', '"$@"; exit $?', 'bash', ...inside];
  // Should this process be killed outright, the kernel ends unshare, and that ends the namespace.
  const args = ['--pdeathsig', 'KILL', 'unshare', ...namespaces, ...shell];
  // Its own process group: Ctrl-C reaches this process only, which then ends the cluster in one stroke.
  const child = spawn('setpriv', args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });
  child.on('spawn', () => noteOuterPid(child, at));
  let endedBy: NodeJS.Signals | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      endedBy = signal;
      killNamespace(child);
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(endedBy === undefined ? (code ?? 1) : 128 + constants.signals[endedBy]));
  });
}

/** Killing process 1 of the namespace, not `unshare`: `unshare` then waits until the kernel has ended all the others. */
function killNamespace(child: ChildProcess): void {
  process.kill(firstProcess(child) ?? child.pid ?? 0, 'SIGKILL');
}

function firstProcess({ pid }: ChildProcess): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? undefined : Number(children.split(' ')[0]);
}

function noteOuterPid(child: ChildProcess, at: Layout): void {
  mkdirSync(dirname(at.outerPidFile), { recursive: true });
  const poll = setInterval(() => {
    if (child.exitCode !== null || child.signalCode !== null) return clearInterval(poll);
    const pid = firstProcess(child);
    if (pid === undefined) return;
    clearInterval(poll);
    writeFileSync(at.outerPidFile, `${pid}\n`);
  }, 20);
}

async function removeAll(at: Layout): Promise<void> {
  if (process.env.TAPFIX_KEEP_LOGS) {
    const kept = await mkdtemp(join(tmpdir(), 'tapfix-cluster-logs-'));
    await cp(at.logs, kept, { recursive: true }).catch(() => {});
    await cp(at.varLog, join(kept, 'var-log'), { recursive: true }).catch(() => {});
    console.error(`logs kept in ${kept}`);
  }
  await rm(at.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  await removeCgroup(basename(at.dir));
}

process.exitCode = await main(process.argv.slice(2));
