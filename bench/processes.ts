import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Counts } from './counts.ts';
import type { Order, Report } from './server.ts';

export const here = import.meta.dirname;
const children = new Set<ChildProcess>();

export const image = await readImage();

/** How the image runs it is how it is measured. */
async function readImage(): Promise<{ flags: string[]; env: NodeJS.ProcessEnv }> {
  const text = await readFile(join(here, '../deploy/Dockerfile'), 'utf8');
  const entrypoint = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text)?.[1] ?? '[]') as string[];
  const env = [...text.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!]);
  return {
    flags: entrypoint.filter((word) => word.startsWith('--')),
    env: Object.fromEntries(env) as NodeJS.ProcessEnv,
  };
}

export function start(
  file: string,
  args: string[],
  execArgv: string[] = [],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const child = fork(file, args, {
    execArgv,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return adopt(child);
}

/** It is stopped with the others. */
export function adopt(child: ChildProcess): ChildProcess {
  children.add(child);
  return child;
}

export async function stop(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

export async function startServer() {
  const child = start(join(here, 'server.ts'), []);
  const [first] = (await once(child, 'message')) as [Report];
  if (first.at !== 'listening') throw new Error('the server did not start');
  const order = (what: Order): void => void child.send(what);
  /** Resolves to when the first byte left. */
  async function send(kind: 'events' | 'pods', from: number, count: number): Promise<number> {
    order({ do: 'send', kind, from, count });
    const [{ ms }] = (await once(child, 'message')) as [{ ms: number }];
    return ms;
  }
  async function ping(n: number): Promise<number> {
    order({ do: 'ping', n });
    const [{ atMs }] = (await once(child, 'message')) as [{ atMs: number }];
    return atMs;
  }
  async function reported(what: Report['at']): Promise<void> {
    for await (const [{ at }] of on(child, 'message') as AsyncIterable<[Report]>) if (at === what) return;
  }
  return { port: first.port, order, send, reported, ping, stop: () => stop(child) };
}

export async function counts(child: ChildProcess): Promise<Counts> {
  child.send('counts');
  const [answer] = (await once(child, 'message')) as [Counts];
  return answer;
}
export async function until(child: ChildProcess, isTrue: (now: Counts) => boolean): Promise<Counts> {
  for (const endMs = performance.now() + 120_000; performance.now() < endMs; await sleep(100)) {
    const found = await counts(child);
    if (isTrue(found)) return found;
  }
  throw new Error(`not in two minutes: ${JSON.stringify(await counts(child))}`);
}

/** Whatever still runs. */
export const stopAll = (): Promise<void[]> => Promise.all([...children].map(stop));
