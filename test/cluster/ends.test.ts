import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

/** As a person does it, from outside: start, look, Ctrl-C. Not one of the end-to-end tests, which run inside a cluster. */
test('a cluster says how to reach it, ends on Ctrl-C, and leaves nothing behind', async () => {
  const main = join(import.meta.dirname, 'main.ts');
  const cluster = spawn(process.execPath, [main], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  cluster.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(cluster, 'exit');
  for (let n = 0; n < 1_200 && !said.includes('Ctrl-C ends it') && cluster.exitCode === null; n++) await sleep(100);
  const command = /nsenter .* get pods -A/.exec(said)?.[0] ?? '';
  const directory = /TAPFIX_CLUSTER=(\S+)/.exec(command)?.[1] ?? '';
  try {
    assert.ok(existsSync(directory), `it was to say how to reach it: ${said}`);
    execFileSync('sh', ['-c', command], { stdio: 'pipe', timeout: 30_000 });
    assert.ok(processesOf(directory).length > 5, 'the check below can see a cluster');
  } finally {
    process.kill(-cluster.pid!, 'SIGINT'); // a terminal tells the whole group
  }
  assert.deepEqual(await ended, [130, null]);
  assert.equal(existsSync(directory), false);
  assert.deepEqual(processesOf(directory), []);
  assert.deepEqual(cgroupsOf(basename(directory)), []);
});

/** Command lines of what still runs for that cluster. */
function processesOf(directory: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return pids.map(commandLine).filter((line) => line.includes(directory));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it has ended meanwhile
  }
}

function cgroupsOf(name: string): string[] {
  const roots = ['/sys/fs/cgroup', ...readdirSync('/sys/fs/cgroup').map((one) => join('/sys/fs/cgroup', one))];
  return roots.map((root) => join(root, name)).filter((path) => existsSync(path));
}
