import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from './layout.ts';

const namespaces = '--net --mount --pid --fork --kill-child --mount-proc --propagation private';

/**
 * Runs one of this directory's programs in namespaces of its own.
 * Resolves to its exit code when every process that came to be in there is gone; aborting kills them all.
 */
export function runInNamespaces(program: readonly string[], at: Layout, signal: AbortSignal): Promise<number> {
  const [file = '', ...args] = program;
  const node = [process.execPath, join(import.meta.dirname, file), ...args];
  // The shell is process 1 of the namespace: it adopts and reaps what the container runtime leaves orphaned.
  const shell = ['bash', '-c', '"$@" 2>&3 3>&-; exit $?', 'bash', ...node];
  // Should this process be killed outright, the kernel ends unshare, and that ends the namespace.
  const line = ['--pdeathsig', 'KILL', 'unshare', ...namespaces.split(' '), ...shell];
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // A process group of its own: Ctrl-C reaches this process only, which then ends the cluster in one stroke.
    const child = spawn('setpriv', line, { stdio: ['ignore', 'inherit', 'pipe', 2], detached: true });
    // What unshare itself says matters unless it is about the kill it was just given.
    child.stderr?.on('data', (chunk: Buffer) => signal.aborted || process.stderr.write(chunk));
    child.on('spawn', () => noteOuterPid(child, at));
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
    signal.addEventListener('abort', () => killNamespace(child));
  });
}

/** Kills process 1 of the namespace, not `unshare`: that one then waits until the kernel has ended all the others. */
function killNamespace(child: ChildProcess): void {
  if (hasEnded(child) || child.pid === undefined) return;
  process.kill(firstProcess(child) ?? child.pid, 'SIGKILL');
}

function firstProcess({ pid }: ChildProcess): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? undefined : Number(children.split(' ')[0]);
}

/** The namespace's own processes cannot know this number, but `nsenter` outside needs it. */
function noteOuterPid(child: ChildProcess, at: Layout): void {
  mkdirSync(at.pids, { recursive: true });
  const poll = setInterval(() => {
    const pid = hasEnded(child) ? undefined : firstProcess(child);
    if (pid === undefined && !hasEnded(child)) return;
    clearInterval(poll);
    if (pid !== undefined) writeFileSync(at.outerPidFile, `${pid}\n`);
  }, 20);
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
