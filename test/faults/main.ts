import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { UserError } from '../../src/lib/errors.ts';
import { help, wantedIn } from './arguments.ts';
import { chatFaults, requestFaults, watchFaults } from './plan.ts';
import { realRun } from './real-run.ts';
import { failureLines, type Report, sumOf } from './report.ts';

/** Runs with real processes mostly wait, so several share the machine. */
const realAtOnce = 4;
/** Enough runs that each kind of fault must have struck. */
const manyRuns = 200;

/** Each seed in one of a few processes; whoever is free takes the next. */
async function inProcesses(seeds: readonly number[], onReport: (report: Report) => void): Promise<void> {
  const queue = [...seeds];
  const file = new URL('./worker.ts', import.meta.url).pathname;
  const count = Math.min(queue.length, Math.max(2, availableParallelism()));
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = fork(file);
      let seed = 0;
      const next = (): void => {
        if (queue.length === 0) return void worker.disconnect();
        seed = queue.shift()!;
        worker.send(seed);
      };
      worker.on('message', (report: Report) => {
        onReport(report);
        next();
      });
      worker.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`the process of seed ${seed} ended with ${code}`)),
      );
      next();
    });
  await Promise.all(Array.from({ length: count }, one));
}

async function sideBySide(seeds: readonly number[], onReport: (report: Report) => void): Promise<void> {
  const queue = [...seeds];
  const one = async (): Promise<void> => {
    for (let seed = queue.shift(); seed !== undefined; seed = queue.shift()) onReport(await realRun(seed));
  };
  await Promise.all(Array.from({ length: Math.min(realAtOnce, queue.length) }, one));
}

/** Otherwise the seeds would prove nothing. */
function missing(reports: readonly Report[]): string[] {
  const virtual = reports.filter(({ form }) => form === 'virtual');
  if (virtual.length < manyRuns) return [];
  const sum = sumOf(virtual);
  const expected = [...requestFaults, ...watchFaults, ...chatFaults].map((what) => `fault ${what}`);
  return [...expected, 'kills', 'pauses', 'terms', 'executions', 'repeated'].filter((what) => !sum[what]);
}

async function main(words: readonly string[]): Promise<number> {
  const wanted = wantedIn(words);
  if (!wanted) {
    console.log(help);
    return 0;
  }
  const began = performance.now();
  const reports: Report[] = [];
  const all = wanted.virtual.length + wanted.real.length;
  console.log(`${wanted.virtual.length} runs in virtual time, ${wanted.real.length} with real processes`);
  function onReport(report: Report): void {
    reports.push(report);
    if (report.wrong.length > 0 || all === 1)
      console.log((report.wrong.length > 0 ? failureLines(report) : [...report.plan, ...report.books]).join('\n'));
    if (report.form === 'real')
      console.log(`real run, seed ${report.seed}: ${report.wrong.length > 0 ? 'FAILED' : 'the books balance'}`);
    if (reports.length % 50 === 0)
      console.log(
        `${reports.length} of ${all} runs, ${failed().length} failed, ${Math.round((performance.now() - began) / 1000)} s`,
      );
  }
  const failed = (): Report[] => reports.filter(({ wrong }) => wrong.length > 0);
  await Promise.all([inProcesses(wanted.virtual, onReport), sideBySide(wanted.real, onReport)]);

  const sum = sumOf(reports);
  console.log(
    Object.entries(sum)
      .map(([what, times]) => `${times} ${what}`)
      .join(', '),
  );
  const virtual = reports.filter(({ form }) => form === 'virtual');
  const cpuMs = virtual.reduce((total, report) => total + report.cpuMs, 0) / Math.max(virtual.length, 1);
  console.log(
    `${reports.length} runs in ${Math.round((performance.now() - began) / 1000)} s (${Math.round(cpuMs)} ms of CPU for one in virtual time), ${failed().length} failed`,
  );
  for (const what of missing(reports)) console.log(`not once in all these runs: ${what}`);
  return failed().length === 0 && missing(reports).length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
