import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Makes a cgroup of this name in every hierarchy the machine has mounted. */
export async function makeCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await mkdir(join(hierarchy, name), { recursive: true });
}

/** Removes it with everything below; what the kernel still holds on to after a second is left behind, harmless. */
export async function removeCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const directory = join(hierarchy, name);
    for (let attempt = 0; attempt < 10 && existsSync(directory); attempt += 1) {
      if (attempt > 0) await sleep(100);
      await removeTree(directory);
    }
  }
}

async function hierarchies(): Promise<string[]> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).trim().split('\n');
  return mounts
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, directory]) => directory ?? '');
}

/** A cgroup's files cannot be removed and need not be: only its directories, the deepest first. */
async function removeTree(directory: string): Promise<void> {
  try {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (entry.isDirectory()) await removeTree(join(directory, entry.name));
    }
    await rmdir(directory);
  } catch {
    // Busy or already gone: the caller looks again.
  }
}
