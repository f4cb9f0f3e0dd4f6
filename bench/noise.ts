import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NoiseOrder, NoiseReport } from './noise-server.ts';
import { adopt, here, image, start, stop } from './processes.ts';

/**
 * What noise costs: the built program in a cgroup of the watcher's limit, with the image's flags, and an API server that
 * counts the requests. Events are about pods that are gone, so that nothing about them can be reported.
 */
export interface NoiseCost {
  requestsPerEvent: number;
  cpuSeconds: number;
  peakMb: number;
  /** Whether the kernel ended it because it used more than its limit. */
  isKilled: boolean;
}

const limitBytes = 256 * 1024 * 1024;

/** A cgroup with the watcher's memory limit; undefined where none can be made. Version 1 and 2 name their files differently. */
async function makeGroup(name: string) {
  for (const { root, limit, peak } of [
    { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
    { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
  ]) {
    const directory = join(root, name);
    if (!existsSync(join(root, 'cgroup.procs'))) continue;
    try {
      await mkdir(directory);
      await writeFile(join(directory, limit), String(limitBytes));
      return {
        directory,
        peakMb: async (): Promise<number> => Number(await readFile(join(directory, peak), 'utf8')) / 1024 / 1024,
        async remove(): Promise<void> {
          for (let left = 10; left > 0 && existsSync(directory); left--) {
            await rmdir(directory).catch(() => undefined);
            await sleep(100);
          }
        },
      };
    } catch {
      await rmdir(directory).catch(() => undefined);
    }
  }
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startNoiseServer() {
  const child = start(join(here, 'noise-server.ts'), []);
  const [{ port, telegram }] = (await once(child, 'message')) as [NoiseReport];
  async function ask(order: NoiseOrder): Promise<NoiseReport> {
    const answered = once(child, 'message') as Promise<[NoiseReport]>;
    child.send(order);
    return (await answered)[0];
  }
  return {
    port: port!,
    telegram: telegram!,
    ask,
    tell: (order: NoiseOrder) => void child.send(order),
    stop: () => stop(child),
  };
}

async function startWatcher(folder: string, server: { port: number; telegram: string }, group: string | undefined) {
  const [config, kubeconfig] = [join(folder, 'noise.json'), join(folder, 'noise-kubeconfig.json')];
  const port = await freePort();
  await writeFile(
    config,
    JSON.stringify({
      cluster: 'bench',
      namespaces: { include: ['*'] },
      channels: { telegram: { chat: -1001, apiRoot: server.telegram } },
      server: { host: '127.0.0.1', port, localPort: 0 },
    }),
  );
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [
        { name: 'b', cluster: { server: `http://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'b', user: {} }],
      contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
      'current-context': 'b',
    }),
  );
  const env = {
    ...process.env,
    ...image.env,
    KUBECONFIG: kubeconfig,
    TELEGRAM_BOT_TOKEN: '123456789:AAFakeFakeFakeFakeFakeFakeFakeFakeFake',
  };
  const profile = process.env['BENCH_PROFILE'] ? ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_PROFILE']}`] : [];
  const args = [
    process.execPath,
    ...image.flags,
    ...profile,
    join(here, '../bin/tapfix.js'),
    'run',
    '--role',
    'watcher',
    '--config',
    config,
  ];
  const enter = group ? `echo $$ > '${group}/cgroup.procs'; ` : '';
  const child = adopt(
    spawn('sh', ['-c', `${enter}exec "$@"`, 'sh', ...args], {
      env,
      stdio: ['ignore', process.env['BENCH_LOG'] ? 'inherit' : 'ignore', 'inherit'],
    }),
  );
  const isReady = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  return { child, isReady };
}

async function cpuSeconds({ pid }: ChildProcess): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
async function peakMbOf({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

export interface NoiseLoad {
  pods: number;
  events: number;
  perSecond: number;
  /** Workloads of five pods each that break while the Events come. */
  storm: number;
}

export async function measureNoise(folder: string, load: NoiseLoad): Promise<NoiseCost> {
  const group = await makeGroup(`tapfix-bench-${process.pid}`);
  const server = await startNoiseServer();
  server.tell({ do: 'hold', pods: load.pods });
  const { child, isReady } = await startWatcher(folder, server, group?.directory);
  const isEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  try {
    while (!(await isReady()) && !isEnded()) await sleep(200);
    await sleep(2_000);
    const before = { cpu: await cpuSeconds(child), ...(await server.ask({ do: 'count' })) };
    let last = { cpu: before.cpu, peakMb: 0 };
    const look = async (): Promise<void> => {
      const peakMb = Math.max(group ? await group.peakMb() : 0, await peakMbOf(child));
      last = { cpu: await cpuSeconds(child), peakMb };
    };
    await server.ask({ do: 'events', from: 0, count: load.events, perSecond: load.perSecond });
    // It is done when it uses hardly any CPU. What is kept waits for its patience and is not counted before.
    for (let busy = Infinity; busy > 0.1 && !isEnded();) {
      const cpu = last.cpu;
      await sleep(2_000);
      if (!isEnded()) await look();
      busy = last.cpu - cpu;
    }
    const after = await server.ask({ do: 'count' });
    const cost = { cpu: last.cpu - before.cpu, requests: after.requests! - before.requests! };
    if (process.env['BENCH_DETAIL']) console.log('events', cost, last.peakMb, diff(before.byWhat!, after.byWhat!));
    if (load.storm > 0 && !isEnded()) {
      await server.ask({ do: 'storm', workloads: load.storm, podsEach: 5 });
      for (const endMs = performance.now() + 90_000; performance.now() < endMs && !isEnded(); await sleep(500))
        await look().catch(() => undefined);
      const later = await server.ask({ do: 'count' });
      if (process.env['BENCH_DETAIL'])
        console.log('storm', last, 'cards', later.cards, diff(after.byWhat!, later.byWhat!));
    }
    return {
      requestsPerEvent: cost.requests / load.events,
      cpuSeconds: cost.cpu,
      peakMb: last.peakMb,
      isKilled: isEnded(),
    };
  } finally {
    child.kill('SIGTERM');
    await Promise.race([once(child, 'exit'), sleep(5_000)]);
    await Promise.all([stop(child), server.stop()]);
    await group?.remove();
  }
}

const diff = (a: Record<string, number>, b: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(b).flatMap(([key, value]) => (value > (a[key] ?? 0) ? [[key, value - (a[key] ?? 0)]] : [])),
  );
