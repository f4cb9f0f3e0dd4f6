import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { makeCgroup } from './cgroups.ts';
import { startCluster } from './start.ts';
import { layout, type Layout } from './layout.ts';
import { pathWithSystemDirectories } from './prerequisites.ts';

/**
 * The first program inside the cluster's namespaces: `inside.ts PROGRAMS DIRECTORY [COMMAND ...]`.
 * When it ends, its shell, process 1 of the namespace, ends too and takes everything along.
 */
const [programs = '', directory = '', command, ...args] = process.argv.slice(2);
const at = layout(directory);
process.env.PATH = pathWithSystemDirectories();
// Cores are scarcer than memory: every program of the cluster collects its garbage less often.
process.env.GOGC ??= '400';

try {
  const cgroupRoot = basename(directory);
  await makeCgroup(cgroupRoot);
  await startCluster(programs, at, `/${cgroupRoot}`);
  await writeFile(join(directory, 'cluster.json'), JSON.stringify({ programs }));
} catch (error) {
  console.error(`The test cluster did not start: ${(error as Error).message}`);
  process.exit(1);
}

if (command === undefined) {
  console.log(await howToReachIt(at));
} else {
  process.exit(await exitCodeOf(command, args));
}

async function howToReachIt(at: Layout): Promise<string> {
  const pid = (await readFile(at.outerPidFile, 'utf8')).trim();
  const enter = `nsenter -t ${pid} -n -m -p --wdns="$PWD"`; // or every relative path would begin at /
  const environment = `env KUBECONFIG=${at.adminKubeconfig} TAPFIX_CLUSTER=${directory} KUBECACHEDIR=${at.kubectlCache}`;
  return [
    'The cluster is ready. From another shell:',
    `  ${enter} ${environment} ${join(programs, 'kubectl')} get pods -A`,
    'or for a shell inside it:',
    `  ${enter} ${environment} PATH=${programs}:$PATH bash`,
    'Ctrl-C ends it and removes everything.',
  ].join('\n');
}

function exitCodeOf(command: string, args: readonly string[]): Promise<number> {
  const env = {
    ...process.env,
    PATH: [programs, process.env.PATH].join(delimiter),
    KUBECONFIG: at.adminKubeconfig,
    TAPFIX_CLUSTER: directory,
    KUBECACHEDIR: at.kubectlCache,
    // What the command leaves behind goes with the cluster.
    TMPDIR: at.temporary,
  };
  const child = spawn(command, args, { stdio: 'inherit', env });
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${command} cannot be run: ${error.message}`);
      resolve(127);
    });
    child.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}
