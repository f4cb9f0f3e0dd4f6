import { spawn } from 'node:child_process';

export interface ExecOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the command when aborted. */
  readonly signal?: AbortSignal;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end and says how it went; rejects only when it could not be started at all. */
export function outcomeOf(command: string, args: readonly string[], options: ExecOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env ?? process.env, signal: options.signal });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stderr = Buffer.concat(err).toString();
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(out).toString(),
        stderr: signal === null ? stderr : `${stderr}ended by ${signal}`,
      });
    });
    // A command that does not read its input to the end is judged by its exit code, not by the broken pipe.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a command that must succeed; the error carries what it said. */
export async function exec(command: string, args: readonly string[], options: ExecOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await outcomeOf(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${code}: ${stderr.trim() || stdout.trim()}`);
  return stdout;
}
