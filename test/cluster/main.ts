import { cp, mkdtemp } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bothHelms } from '../chart/tools.ts';
import { buildPrograms, buildWorkload } from './build.ts';
import { layout } from './layout.ts';
import { runInNamespaces } from './namespaces.ts';
import { thisMachine, whatIsMissing } from './prerequisites.ts';
import { removeTraces } from './traces.ts';

/**
 * `main.ts` starts a cluster and keeps it until Ctrl-C.
 * `main.ts --run COMMAND ARGS...` starts one, runs the command inside it, ends it, and exits as the command did.
 */
const usage = 'usage: node test/cluster/main.ts [--run COMMAND ARGS...]';

async function main(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const [option, ...command] = argv;
  const understood = option === undefined || (option === '--run' && command.length > 0);
  if (!understood) return complain(usage, 2);
  const missing = whatIsMissing(thisMachine());
  if (missing !== undefined) return complain(missing, 1);
  const programs = await buildPrograms((line) => console.error(line), signal);
  const workload = await buildWorkload(signal);
  if (command.length > 0) await bothHelms((line) => console.error(line), signal);
  const at = layout(await mkdtemp(join(tmpdir(), 'tapfix-cluster-')));
  try {
    await cp(workload, at.workload);
    return await runInNamespaces(['inside.ts', programs, at.dir, ...command], at, signal);
  } finally {
    await removeTraces(at, process.env.TAPFIX_KEEP_LOGS !== undefined);
  }
}

function complain(sentence: string, code: number): number {
  console.error(sentence);
  return code;
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort(signal));

try {
  process.exitCode = await main(process.argv.slice(2), ending.signal);
} catch (error) {
  // What an interrupted build or start complains about is not news.
  if (!ending.signal.aborted) process.exitCode = complain((error as Error).message, 1);
}
if (ending.signal.aborted) process.exitCode = 128 + constants.signals[ending.signal.reason as NodeJS.Signals];
