import { runCli } from './cli/cli.ts';
import { messageOf, UserError } from './lib/errors.ts';
import { scrub } from './lib/log.ts';

/** The entry, and the only file that ends the process. */
const stop = new AbortController();
const io = {
  print: (text: string): void => void process.stdout.write(`${text}\n`),
  complain: (text: string): void => void process.stderr.write(`${text}\n`),
  signal: stop.signal,
};

function explain(error: unknown): number {
  if (error instanceof UserError) {
    io.complain(scrub(error.message));
    return error.exitCode;
  }
  const stack = error instanceof Error && process.env.TAPFIX_DEBUG ? `\n${error.stack}` : '';
  io.complain(scrub(`tapfix stopped: ${messageOf(error)}${stack}`));
  return 1;
}

// What a library should no longer do is for us to know, not for whoever is on call.
if (!process.env.TAPFIX_DEBUG) process.noDeprecation = true;
// The reader of a pipe may leave early (`tapfix manifests | head`): not worth a word.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}
process.on('unhandledRejection', (error) => process.exit(explain(error)));
process.on('uncaughtException', (error) => process.exit(explain(error)));
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => {
    // Asked a second time: whoever asks does not want to wait.
    if (stop.signal.aborted) process.exit(128 + number);
    stop.abort();
  });
}

process.exit(await runCli(process.argv.slice(2), io).catch(explain));
