import { basename } from 'node:path';
import { runCli } from './cli/cli.ts';
import { messageOf, UserError } from './lib/errors.ts';
import { scrub } from './lib/log.ts';

/** The entry point, and the only file that ends the process. */
const io = {
  print,
  complain: (text: string): void => void process.stderr.write(`${text}\n`),
  stopSignal,
  stop: (): void => askToStop(2),
};

const stopping = new AbortController();

/** Resolves when the last text was written. That takes some time, and process.exit does not wait for it. */
let printed: Promise<unknown> | undefined;

function print(text: string): void {
  printed = new Promise((resolve) => process.stdout.write(`${text}\n`, resolve));
}

let canStop = false;

/**
 * Only commands that can stop by themselves call this. Without it, one signal ends the process at once, whatever it is
 * doing. process.exit would wait for a read that is stuck in the kernel, such as one from a pipe that nobody writes to.
 */
function stopSignal(): AbortSignal {
  canStop = true;
  process.on('SIGINT', () => askToStop(2));
  process.on('SIGTERM', () => askToStop(15));
  return stopping.signal;
}

/** The second request ends the process at once: the person who asks does not want to wait. */
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
 * The reader of a pipe may end early (`tapfix manifests | head`); that is not worth a message. A command that has to
 * clean up before it ends (`tapfix demo --context NAME | head`) does so. A full disk is worth a message.
 */
function unwritten(error: NodeJS.ErrnoException, complain: (text: string) => void): void {
  if (stopping.signal.aborted) return; // it is ending already
  if (error.code === 'EPIPE') return canStop ? stopping.abort() : process.exit(0);
  complain(`tapfix cannot write its output: ${messageOf(error)}`);
  process.exit(1);
}

// Deprecation warnings of libraries are for the developers, not for the person on call.
if (!process.env.TAPFIX_DEBUG) process.noDeprecation = true;
process.stdout.on('error', (error) => unwritten(error, io.complain));
process.stderr.on('error', (error) => unwritten(error, () => undefined)); // nobody can read a message any more
process.on('unhandledRejection', (error) => process.exit(explain(error)));
process.on('uncaughtException', (error) => process.exit(explain(error)));

const called = basename(process.argv[1] ?? '').startsWith('kubectl-tapfix') ? 'kubectl tapfix' : 'tapfix';
const exitCode = await runCli(process.argv.slice(2), io, undefined, called).catch(explain);
await printed;
process.exit(exitCode);
