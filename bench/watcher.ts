import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { here, image, start } from './processes.ts';

/**
 * Loaded before the built program, and as small as can be: it says how long that stops to think, and how much of a CPU it
 * took meanwhile. On a busy machine the two differ: then it did not think, it waited for its turn.
 */
const probe = `data:text/javascript,
let [stallMs, busyMs, lastMs, lastCpu] = [0, 0, performance.now(), process.threadCpuUsage()];
setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastCpu);
  stallMs = Math.max(stallMs, performance.now() - lastMs - 5);
  busyMs = Math.max(busyMs, (user + system) / 1000);
  [lastMs, lastCpu] = [performance.now(), process.threadCpuUsage()];
}, 5).unref();
process.on('message', () => { process.send({ stallMs, busyMs }); stallMs = busyMs = 0; });
process.channel.unref();`;

/** Since it was last asked. */
export interface Stall {
  stallMs: number;
  busyMs: number;
}
export interface Taken extends Stall {
  rssMb: number;
  peakMb: number;
}

export async function stallOf(child: ChildProcess): Promise<Stall> {
  child.send('stall');
  const [answer] = (await once(child, 'message')) as [Stall];
  return answer;
}

/** Memory as the kernel counts it. */
export async function taken(child: ChildProcess): Promise<Taken> {
  const stall = await stallOf(child);
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  const megabytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
  return { rssMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM'), ...stall };
}

/** The built program as the watcher of deploy/manifests, with Telegram and nothing else. */
export async function watcher(port: number, folder: string): Promise<ChildProcess> {
  const config = join(folder, 'config.json');
  const kubeconfig = join(folder, 'kubeconfig.json');
  const server = `http://127.0.0.1:${port}`;
  await writeFile(
    config,
    JSON.stringify({
      cluster: 'bench',
      namespaces: { include: ['*'] },
      classes: { CrashLoop: { for: '24h' } },
      channels: { telegram: { chat: -1001, apiRoot: server } },
      server: { host: '127.0.0.1', port: 0, localPort: 0 },
    }),
  );
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'b', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'b', user: { token: 'none' } }],
      contexts: [{ name: 'b', context: { cluster: 'b', user: 'b' } }],
      'current-context': 'b',
    }),
  );
  const token = '123456789:AAbenchbenchbenchbenchbenchbenchbench';
  const env = { ...image.env, KUBECONFIG: kubeconfig, TELEGRAM_BOT_TOKEN: token };
  const args = ['run', '--role', 'watcher', '--config', config];
  return start(join(here, '../bin/tapfix.js'), args, [...image.flags, '--import', probe], env);
}
