import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const longestMs = 30 * 60_000;

interface Share {
  /** Counted from 1. */
  part: number;
  of: number;
}

/**
 * Loads the test files of a pattern, or its share of them, into this process: most of a small file's time goes
 * into starting Node and loading src, which is done once here. The tests are counted and reported as if each file had
 * run on its own. So that they can share a process, hooks for each test stand in a `describe`, and what a test changes
 * of the process (environment, working directory, exit code) it puts back.
 */
export async function load(pattern: string, { part, of }: Share = { part: 1, of: 1 }): Promise<void> {
  const files = globSync(pattern, { cwd: root }).sort();
  const ours = files.filter((_, index) => index % of === part - 1);
  if (ours.length === 0) throw new Error(`no test file matches ${pattern}`);
  for (const file of ours) await import(join(root, file));
  setTimeout(giveUp, longestMs).unref();
}

/** A test that left a server or a timer behind would keep the process for ever. */
function giveUp(): void {
  console.error(
    `not over after ${longestMs / 60_000} minutes; still open: ${process.getActiveResourcesInfo().join(', ')}`,
  );
  process.exit(1);
}
