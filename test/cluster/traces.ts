import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { removeCgroup } from './cgroups.ts';
import type { Layout } from './layout.ts';

/** Removes what a cluster that has ended left on the machine: its directory and its cgroups. */
export async function removeTraces(at: Layout, keepLogs: boolean): Promise<void> {
  if (keepLogs) {
    const kept = await mkdtemp(join(tmpdir(), 'tapfix-cluster-logs-'));
    for (const [from, name] of [[at.logs, 'components'] as const, [at.varLog, 'var-log'] as const]) {
      // A start that failed early has no logs to keep.
      await cp(from, join(kept, name), { recursive: true }).catch(() => {});
    }
    console.error(`logs kept in ${kept}`);
  }
  await rm(at.dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  await removeCgroup(basename(at.dir));
}
