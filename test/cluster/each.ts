import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildPrograms, buildWorkload } from './build.ts';
import { type Count, countTests, longestFirst } from './count-tests.ts';
import { thisMachine, whatIsMissing } from './prerequisites.ts';

/**
 * `each.ts PATTERN...` runs every test file in a cluster of its own, two at a time: most of their time is spent waiting
 * for what a cluster does. What a file says is printed when it has ended. E2E_AT_ONCE=1 runs one after the other.
 */

/** Those that need the whole machine come first, by themselves. */
const alone = ['storm'];
const longest = ['crash', 'loop', 'slack', 'truth', 'tap', 'fixing', 'watch', 'actions', 'demo'];
const atOnce = Number(process.env.E2E_AT_ONCE ?? 2);

interface Ran {
  file: string;
  count: Count;
}

async function main(patterns: readonly string[], signal: AbortSignal): Promise<number> {
  const missing = whatIsMissing(thisMachine());
  if (missing !== undefined) return complain(missing);
  const files = longestFirst(globSync(patterns), longest);
  if (files.length === 0) return complain(`no test file matches ${patterns.join(' ')}`);
  await buildPrograms((line) => console.error(line), signal);
  await buildWorkload(signal);

  const waiting = files.filter((file) => !isAlone(file));
  const ran: Ran[] = [];
  for (const file of files.filter(isAlone)) if (!signal.aborted) ran.push(await run(file, signal));
  const worker = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined && !signal.aborted; file = waiting.shift())
      ran.push(await run(file, signal));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (signal.aborted) return 130;

  const red = ran.filter(({ count }) => count.failed > 0);
  for (const { file } of red) console.log(`failed: ${file}`);
  const sum = (of: keyof Count): number => ran.reduce((total, { count }) => total + count[of], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return red.length > 0 ? 1 : 0;
}

const isAlone = (file: string): boolean => alone.includes(basename(file, '.test.ts'));

async function run(file: string, signal: AbortSignal): Promise<Ran> {
  const began = Date.now();
  console.log(`=== ${file} begins`);
  const { code, output } = await outputOf(file, signal);
  const counted = countTests(output);
  // It ended before its runner could say how many failed, or after they had all passed.
  const isOdd = !counted || (code !== 0 && counted.failed === 0);
  const count = isOdd ? { passed: counted?.passed ?? 0, failed: 1 } : counted;
  const minutes = ((Date.now() - began) / 60_000).toFixed(1);
  console.log(
    `${output}=== ${file}: ${count.passed} passed, ${count.failed} failed, exit code ${code}, ${minutes} min`,
  );
  return { file, count };
}

function outputOf(file: string, signal: AbortSignal): Promise<{ code: number; output: string }> {
  const args = [join(import.meta.dirname, 'main.ts'), '--run', process.execPath, '--test', file];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  signal.addEventListener('abort', () => child.kill('SIGINT'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

function complain(sentence: string): number {
  console.error(sentence);
  return 1;
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort(signal));
process.exitCode = await main(process.argv.slice(2), ending.signal);
