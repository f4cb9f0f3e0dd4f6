import { runTapfix } from '../app.ts';
import { createChannels } from '../channels/channels.ts';
import type { Channels } from '../channels/rebuild.ts';
import { configIn } from '../config/load.ts';
import { readText } from '../config/read-text.ts';
import type { Config } from '../config/schema.ts';
import { whoAmI } from '../connect.ts';
import { createLedger } from '../incidents/ledger.ts';
import { createApi } from '../kube/client.ts';
import { loadKubeConfig } from '../kube/config.ts';
import { systemClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import { localTimeZone } from '../lib/time.ts';
import { chatsOf } from '../notices/route.ts';
import { createMetrics } from '../ops/metrics.ts';
import { createReadiness } from '../ops/readiness.ts';
import { startServer } from '../ops/server.ts';
import { processUsage, runTidy } from '../ops/tidy.ts';
import type { Io, RunOptions } from './cli.ts';
import { followConfig } from './follow-config.ts';
import { createTerminalLines } from './terminal-lines.ts';

/** `tapfix run`: resolves to the exit code when we are asked to stop. */
export async function runRun({ configFile, role, context }: RunOptions, io: Pick<Io, 'stopSignal'>): Promise<number> {
  const clock = systemClock;
  const text = await readText(configFile);
  const config = configIn(text, configFile);
  const signal = io.stopSignal(); // not before: reading a pipe cannot be cut short
  const log = createLog(config.channels.console && process.stdout.isTTY ? { write: besideTheCards(config) } : {});
  const api = createApi({ kubeConfig: loadKubeConfig({ context }) });
  const metrics = createMetrics();
  const readiness = createReadiness();
  const ledger = createLedger({ clock, count: (outcome, times) => metrics.signals.inc({ outcome }, times) });
  const server = await startServer({
    ...config.server,
    metrics,
    readiness,
    log,
    ...(role !== 'controller' && { ledger }),
  });

  // Only with --expose-gc, as in the image.
  void runTidy({ clock, usage: processUsage, collect: globalThis.gc && (() => void globalThis.gc?.()) }, signal);

  let contact = { ok: false, detail: 'not reached yet' };
  const onFailure = (why: string): void => void (contact = { ok: false, detail: why });
  readiness.set('api-server', () => ({ ...contact, required: true }));
  const follow = await followConfig({ file: configFile, text, config, clock, log, metrics, readiness });
  const identity = await whoAmI({ api, clock, log, signal, onFailure });

  if (identity !== undefined) {
    // The controller never talks to the internet.
    const makeChannels = async (wanted: Config): Promise<Channels> =>
      role === 'controller'
        ? new Map()
        : createChannels({
            config: wanted,
            chatsOf: (channel) => chatsOf(follow.current(), channel),
            clock,
            log,
            identity,
            env: process.env,
          });
    const channels = await makeChannels(config);
    const reloads = follow.start({ channels, makeChannels, signal });
    log.info({ role, identity, cluster: config.cluster, port: server.port }, 'tapfix started');
    const endedInTime = await runTapfix({
      role,
      api,
      clock,
      log,
      current: follow.current,
      reloads,
      ownNamespace: process.env['POD_NAMESPACE'] || 'tapfix',
      identity,
      timeZone: localTimeZone(),
      metrics,
      readiness,
      ledger,
      channels,
      signal,
      onWatching: () => void (contact = { ok: true, detail: 'reached at start' }),
    });
    if (!endedInTime) return 0;
  }
  await server.close();
  await api.close();
  log.info({}, 'tapfix stopped');
  return 0;
}

/** A person reads cards on this terminal: what else there is to say is said in few words between them. */
function besideTheCards({ cluster, namespaces: { include } }: Config): (line: string) => void {
  const auditAsJson = !process.stderr.isTTY;
  const show = createTerminalLines({ cluster, include, timeZone: localTimeZone(), auditAsJson });
  return (line) => {
    const shown = show(line);
    if (shown) process[shown.to].write(`${shown.text}\n`);
  };
}
