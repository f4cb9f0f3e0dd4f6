import { runCli } from './cli/cli.ts';
import { messageOf, UserError } from './lib/errors.ts';
import { scrub } from './lib/log.ts';

/** The entry, and the only file that ends the process. */
const io = {
  print,
  complain: (text: string): void => void process.stderr.write(`${text}\n`),
  stopSignal,
  stop: (): void => askToStop(2),
};

const stopping = new AbortController();

/** Whether a text arrived is known some time after it was written, and exiting does not wait for that. */
let printed: Promise<unknown> | undefined;

function print(text: string): void {
  printed = new Promise((resolve) => process.stdout.write(`${text}\n`, resolve));
}

let canStop = false;

/**
 * Only who can stop by itself asks for this. Without it one signal ends the process, whatever it is doing: process.exit
 * would wait for a read that is stuck in the kernel, as that of a pipe nobody writes to.
 */
function stopSignal(): AbortSignal {
  canStop = true;
  process.on('SIGINT', () => askToStop(2));
  process.on('SIGTERM', () => askToStop(15));
  return stopping.signal;
}

/** Asked a second time: whoever asks does not want to wait. */
function askToStop(number: number): void {
  if (stopping.signal.aborted) process.exit(128 + number);
  stopping.abort();
}

function explain(error: unknown): number {
  if (error instanceof UserError) {
    io.complain(scrub(error.message));
    return error.exitCode;
  }
  const stack = error instanceof Error && process.env.TAPFIX_DEBUG ? `\n${error.stack}` : '';
  io.complain(scrub(`tapfix stopped: ${messageOf(error)}${stack}`));
  return 1;
}

/**
 * The reader of a pipe may leave early (`tapfix manifests | head`): not worth a word. Who has something to put away before
 * it ends (`tapfix demo --context NAME | head`) does so. A full disk is worth a word.
 */
function unwritten(error: NodeJS.ErrnoException, complain: (text: string) => void): void {
  if (stopping.signal.aborted) return; // it ends already
  if (error.code === 'EPIPE') return canStop ? stopping.abort() : process.exit(0);
  complain(`tapfix cannot write its output: ${messageOf(error)}`);
  process.exit(1);
}

// What a library should no longer do is for us to know, not for whoever is on call.
if (!process.env.TAPFIX_DEBUG) process.noDeprecation = true;
process.stdout.on('error', (error) => unwritten(error, io.complain));
process.stderr.on('error', (error) => unwritten(error, () => undefined)); // there is nobody left to tell
process.on('unhandledRejection', (error) => process.exit(explain(error)));
process.on('uncaughtException', (error) => process.exit(explain(error)));

const exitCode = await runCli(process.argv.slice(2), io).catch(explain);
await printed;
process.exit(exitCode);
