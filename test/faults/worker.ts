import { messageOf } from '../../src/lib/errors.ts';
import { randomOf } from '../long/random.ts';
import { drawPlan, planLines } from './plan.ts';
import { type Report, reportOf } from './report.ts';
import { virtualRun } from './virtual-run.ts';

/** Runs one seed after the other, as the parent process asks. */
Error.stackTraceLimit = 3; // most errors here are answers, and their stacks cost more than anything else
const stray: string[] = [];
process.on('unhandledRejection', (error) => void stray.push(`nobody handled: ${messageOf(error)}`));

const handles = (): string =>
  process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'Immediate')
    .sort()
    .join();

export async function runVirtual(seed: number): Promise<Report> {
  Math.random = randomOf(seed ^ 0x5eed).next; // jitter is chance as well
  const began = process.cpuUsage();
  const before = handles();
  try {
    const outcome = await virtualRun(seed);
    const { user, system } = process.cpuUsage(began);
    const report = reportOf('virtual', { ...outcome, cpuMs: (user + system) / 1000 });
    report.wrong.push(...stray.splice(0));
    if (handles() !== before) report.wrong.push(`handles: ${before || 'none'} before it, ${handles()} after it`);
    return report;
  } catch (error) {
    const wrong = [(error as Error).stack ?? String(error), ...stray.splice(0)];
    const plan = planLines(drawPlan(seed, randomOf(seed)));
    return { form: 'virtual', seed, wrong, plan, books: [], counts: {}, cpuMs: 0 };
  }
}

process.on('message', (seed: number) => void runVirtual(seed).then((report) => process.send?.(report)));
