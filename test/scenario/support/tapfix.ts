import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

export const root = new URL('../../../', import.meta.url).pathname;
/** Nothing here takes longer; a test that waits for what never comes says what there was instead. */
const patienceMs = 40_000;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Since the last signal that the test sent. */
  tookMs: number;
}
export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}
export interface Tapfix {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Its log, those lines with this message. */
  logged(msg: string): LogLine[];
  /** The first log line with this message, as soon as it is there. */
  says(msg: string): Promise<LogLine>;
  until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void>;
  /** A page of its operations server. */
  page(path: string): Promise<{ status: number; text: string }>;
  readyz(): Promise<Readyz>;
  kill(signal: NodeJS.Signals): void;
  ended(): Promise<Ended>;
}
export interface Readyz {
  status: number;
  checks: Record<string, { ok: boolean; detail: string } | undefined>;
}

export interface StartOptions {
  env?: Record<string, string>;
  /** Options of node itself. */
  node?: string[];
  /** The program; by default the one of this project. */
  program?: string;
  /** What is piped into it; by default nothing is. */
  input?: string;
}

/** The built program as a child process, in an environment of its own: nothing of the machine's leaks in. */
export function startTapfix(
  t: Pick<TestContext, 'after'>,
  words: readonly string[],
  options: StartOptions = {},
): Tapfix {
  const { env = {}, node = [], program = join(root, 'bin/tapfix.js'), input } = options;
  const child = spawn(process.execPath, [...node, program, ...words], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: join(tmpdir(), 'nobody'), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined); // it may end without having read it
  child.stdin.end(input ?? '');
  const closed = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let stdout = '';
  let stderr = '';
  let killedAtMs = performance.now();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));

  const logged = (msg: string): LogLine[] => logLines(stdout).filter((line) => line.msg === msg);
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;

  async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    const endMs = performance.now() + patienceMs;
    for (;;) {
      const over = isOver();
      if (await isTrue()) return;
      if (over || performance.now() > endMs) {
        const state = over ? `it ended with ${child.exitCode ?? child.signalCode}` : `after ${patienceMs} ms`;
        throw new Error(`no ${what}, ${state}; it said:\n${stdout}${stderr}`);
      }
      await sleep(20);
    }
  }
  async function says(msg: string): Promise<LogLine> {
    await until(`"${msg}"`, () => logged(msg).length > 0);
    return logged(msg)[0]!;
  }
  async function page(path: string): Promise<{ status: number; text: string }> {
    const { port } = await says('operations server listens');
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  }

  return {
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    logged,
    says,
    until,
    page,
    async readyz() {
      const { status, text } = await page('/readyz');
      return { status, ...(JSON.parse(text) as Pick<Readyz, 'checks'>) };
    },
    kill(signal) {
      killedAtMs = performance.now();
      child.kill(signal);
    },
    async ended() {
      await until('end', isOver);
      const tookMs = performance.now() - killedAtMs;
      await closed; // its last words have arrived
      return { code: child.exitCode, signal: child.signalCode, stdout, stderr, tookMs };
    },
  };
}

function logLines(stdout: string): LogLine[] {
  const whole = stdout.slice(0, stdout.lastIndexOf('\n') + 1);
  return whole.split('\n').flatMap((line) => (line.startsWith('{"level"') ? [JSON.parse(line) as LogLine] : []));
}

/** A folder that is gone when the test is over. */
export async function aFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tapfix-scenario-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Setup {
  /** Where the kubeconfig leads. */
  server?: string;
  /** Under `channels:` of the configuration. */
  channels?: object;
  /** More of the configuration. */
  config?: object;
  /** The kubeconfig has no token: the server decides who that is. */
  anonymous?: boolean;
}

/** A configuration and a kubeconfig; both are JSON, which is YAML too. */
export async function aSetup(
  t: Pick<TestContext, 'after'>,
  { server = 'http://127.0.0.1:1', channels, config, anonymous = false }: Setup = {},
) {
  const folder = await aFolder(t);
  const [configFile, kubeconfig] = [join(folder, 'config.yaml'), join(folder, 'kubeconfig')];
  const whole = {
    cluster: 'prod-eu',
    namespaces: { include: ['*'] },
    notices: { coalesce: '0s' },
    channels: channels ?? { console: {} },
    server: { host: '127.0.0.1', port: 0, localPort: 0 },
    ...config,
  };
  await writeFile(configFile, JSON.stringify(whole));
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(server, anonymous)));
  return { folder, configFile, env: { KUBECONFIG: kubeconfig }, words: ['run', '--config', configFile] };
}

/** What ada's kubeconfig has. */
export const userToken = 'not-a-real-one';

const kubeconfigFor = (server: string, anonymous: boolean): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }], // plain HTTP is refused without it
  users: [{ name: 'ada', user: anonymous ? {} : { token: userToken } }],
  contexts: ['staging', 'prod'].map((name) => ({ name, context: { cluster: 'test', user: 'ada' } })),
  'current-context': 'staging',
});

/** Makes the program's long pauses (5 s or more) ten times shorter. What is waited for, and in which order, stays. */
export const inAHurry: Pick<StartOptions, 'node'> = {
  node: [
    '--import',
    `data:text/javascript,const real=globalThis.setTimeout;
     globalThis.setTimeout=(f,ms,...a)=>real(f,ms>=5000?ms/10:ms,...a);`,
  ],
};
