import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { bothHelms } from '../chart/tools.ts';
import { arrange, table } from './arrangement.ts';
import { buildPrograms, buildWorkload } from './build.ts';
import { type Count, countTests } from './count-tests.ts';
import { thisMachine, whatIsMissing } from './prerequisites.ts';

/**
 * `each.ts PATTERN...` runs every test file in a real cluster, several clusters at a time: most of their time is spent
 * waiting for what a cluster does. arrangement.ts has who shares one. What a cluster's files say is printed when they have
 * ended. E2E_AT_ONCE=1 runs one cluster after the other.
 */
const atOnce = Number(process.env.E2E_AT_ONCE ?? 3);

interface Ran {
  name: string;
  count: Count;
  minutes: string;
}

async function main(patterns: readonly string[], signal: AbortSignal): Promise<number> {
  const missing = whatIsMissing(thisMachine());
  if (missing !== undefined) return complain(missing);
  const { alone, beside } = arrange(globSync(patterns), table);
  if (alone.length + beside.length === 0) return complain(`no test file matches ${patterns.join(' ')}`);
  await buildPrograms((line) => console.error(line), signal);
  await buildWorkload(signal);
  await bothHelms((line) => console.error(line), signal);

  const ran: Ran[] = [];
  for (const file of alone) if (!signal.aborted) ran.push(await run([file], signal));
  const worker = async (): Promise<void> => {
    for (let files = beside.shift(); files !== undefined && !signal.aborted; files = beside.shift())
      ran.push(await run(files, signal));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (signal.aborted) return 130;

  const red = ran.filter(({ count }) => count.failed > 0);
  for (const { name, minutes } of ran) console.log(`${minutes} min: ${name}`);
  for (const { name } of red) console.log(`failed: ${name}`);
  const sum = (of: keyof Count): number => ran.reduce((total, { count }) => total + count[of], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return red.length > 0 ? 1 : 0;
}

async function run(files: readonly string[], signal: AbortSignal): Promise<Ran> {
  const began = Date.now();
  const name = files.join(' ');
  console.log(`=== ${name} begins`);
  const { code, output } = await outputOf(files, signal);
  const counted = countTests(output);
  // It ended before its runner could say how many failed, or after they had all passed.
  const isOdd = !counted || (code !== 0 && counted.failed === 0);
  const count = isOdd ? { passed: counted?.passed ?? 0, failed: 1 } : counted;
  const minutes = ((Date.now() - began) / 60_000).toFixed(1);
  console.log(
    `${output}=== ${name}: ${count.passed} passed, ${count.failed} failed, exit code ${code}, ${minutes} min`,
  );
  return { name, count, minutes };
}

function outputOf(files: readonly string[], signal: AbortSignal): Promise<{ code: number; output: string }> {
  // One after the other: they are one installation, of which one process leads.
  const test = [process.execPath, '--test', '--test-concurrency=1', ...files];
  const env = { ...process.env, ...(files.length > 1 && { E2E_SHARED: '1' }) };
  const args = [join(import.meta.dirname, 'main.ts'), '--run', ...test];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
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
