import { exec } from './exec.ts';
import type { Layout } from './layout.ts';

/** Gives the mount namespace this process is in its own /run, /var/lib and /var/log: programs keep their usual paths. */
export async function setUpMounts(at: Layout): Promise<void> {
  await exec('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/run']);
  await exec('mount', ['--bind', at.varLib, '/var/lib']);
  await exec('mount', ['--bind', at.varLog, '/var/log']);
  // Volumes mounted by the kubelet must be seen by containers that ask for it; nothing spreads outside this namespace.
  await exec('mount', ['--make-rshared', '/']);
}
