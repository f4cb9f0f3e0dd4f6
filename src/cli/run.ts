import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { runTapfix } from '../app/app.ts';
import { type Channels, createChannels } from '../channels/channels.ts';
import { readText } from '../config/config-file.ts';
import { exampleIdsIn } from '../config/example-ids.ts';
import { webhooksIn } from '../config/escalation-schema.ts';
import { configIn } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { createLedger } from '../incidents/ledger.ts';
import type { Api, KubeObject } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { createElection, type Election } from '../kube/lease.ts';
import { readClusterIds } from '../kube/installation.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import { createOutage, levelOf } from '../kube/outage.ts';
import { type Clock, steadyMs, systemClock, untilAborted } from '../lib/clock.ts';
import { localTimeZone } from '../lib/duration.ts';
import { messageOf } from '../lib/errors.ts';
import { createLog, type Log } from '../lib/log.ts';
import { installationId } from '../notices/payload.ts';
import { chatsOf } from '../notices/plan/route.ts';
import { createMetrics } from '../ops/metrics.ts';
import { createReadiness } from '../ops/readiness.ts';
import { startLocalServer, startServer } from '../ops/server.ts';
import { processUsage, runTidy } from '../ops/tidy.ts';
import type { Io, RunOptions } from './cli.ts';
import { followConfig } from './follow-config.ts';
import { createTerminalLines } from './terminal-lines.ts';

interface Review extends KubeObject {
  status?: { userInfo?: { username?: string } };
}

export interface ConnectDeps {
  api: Pick<Api, 'create'>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Called with the reason for each failed attempt. */
  onFailure(why: string): void;
}

const retryMs = 5_000;

/**
 * Our user name at the API server. The server may be away when we start: that is logged once, and we ask until it
 * answers.
 */
export async function whoAmI({ api, clock, log, signal, onFailure }: ConnectDeps): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  let lastSaid = '';
  while (!signal.aborted) {
    try {
      const review = await untilAborted(api.create<Review>({ kind: 'SelfSubjectReview' }, body), signal);
      if (lastSaid) log.info({}, 'the API server answers');
      return review.status?.userInfo?.username ?? '';
    } catch (error) {
      if (signal.aborted) break;
      const said = messageOf(error);
      if (levelOf(error) === 'warn') {
        if (said !== lastSaid)
          log.error({ err: said, retryInMs: retryMs }, 'not connected to the API server, trying again');
        lastSaid = said;
      }
      onFailure(said);
      await clock.sleep(retryMs, signal);
    }
  }
  return undefined;
}

/** `tapfix run`: resolves to the exit code when we are asked to stop. */
export async function runRun({ configFile, role, context }: RunOptions, io: Pick<Io, 'stopSignal'>): Promise<number> {
  const clock = systemClock;
  const text = await readText(configFile);
  const config = configIn(text, configFile);
  const signal = io.stopSignal(); // not earlier: reading a pipe cannot be interrupted
  const log = createLog(config.channels.console && process.stdout.isTTY ? { write: besideTheCards(config) } : {});
  for (const { where, id } of exampleIdsIn(config))
    log.warn({ where, id }, 'the configuration has an id of the example');
  const outage = createOutage({ clock, log });
  const api = createApi({ kubeConfig: loadKubeConfig({ context }), outage });
  // It has connections of its own: a Lease is renewed in time, however many other calls wait.
  const leaseApi = createApi({
    kubeConfig: loadKubeConfig({ context }),
    timeoutMs: config.leaderElection.renewDeadline / 2,
    retry: false,
    limit: false,
  });
  const metrics = createMetrics();
  const readiness = createReadiness();
  const ledger = createLedger({ clock, count: (outcome, times) => metrics.signals.inc({ outcome }, times) });
  const { host, port, localPort } = config.server;
  const server = await startServer({ host, port, metrics, readiness, log });
  // Only the watcher has a ledger. It is of use to people, so tapfix does its work without it.
  const local =
    role === 'controller' ? undefined : await startLocalServer({ port: localPort, ledger, log }).catch(notLocal);

  function notLocal(error: unknown): undefined {
    log.warn({ reason: messageOf(error) }, 'the ledger cannot be read, everything else works');
  }

  // This works only with --expose-gc, as in the image.
  void runTidy({ clock, usage: processUsage, collect: globalThis.gc && (() => void globalThis.gc?.()) }, signal);

  let contact = { ok: false, detail: 'not reached yet' };
  const onFailure = (why: string): void => void (contact = { ok: false, detail: why });
  readiness.set('api-server', () => ({ ...contact, required: true }));
  const follow = await followConfig({ file: configFile, text, config, clock, log, metrics, readiness });
  const identity = await whoAmI({ api, clock, log, signal, onFailure });

  if (identity !== undefined) {
    // The controller never connects to the internet.
    const makeChannels = async (wanted: Config): Promise<Channels> =>
      role === 'controller'
        ? new Map()
        : createChannels({
            config: wanted,
            chatsOf: (channel) => chatsOf(follow.current(), channel),
            webhooks: () => webhooksIn(follow.current().escalation),
            clock,
            log,
            identity,
            env: process.env,
          });
    const ownNamespace = process.env['POD_NAMESPACE'] || 'tapfix';
    const clusters = role === 'controller' ? [] : await readClusterIds({ api, clock, log, signal });
    const channels = await makeChannels(config);
    const reloads = follow.start({ channels, makeChannels, signal });
    const replica = `${process.env['POD_NAME'] || hostname()}_${randomBytes(3).toString('hex')}`;
    const electionOf = (name: string): Election =>
      createElection({
        api: leaseApi,
        clock,
        steadyMs,
        log,
        namespace: ownNamespace,
        name,
        identity: replica,
        timing: config.leaderElection,
      });
    log.info({ role, identity, cluster: config.cluster, port: server.port }, 'tapfix started');
    const endedInTime = await runTapfix({
      role,
      api,
      clock,
      log,
      current: follow.current,
      reloads,
      ownNamespace,
      installation: clusters.map((cluster) => installationId(cluster, ownNamespace)),
      identity,
      timeZone: localTimeZone(),
      metrics,
      readiness,
      ledger,
      channels,
      elections: { watcher: electionOf('tapfix-watcher'), controller: electionOf('tapfix-controller') },
      signal,
      onWatching: () => void (contact = { ok: true, detail: 'reached at start' }),
    });
    if (!endedInTime) return 0;
  }
  await Promise.all([server.close(), local?.close()]);
  await Promise.all([api.close(), leaseApi.close()]);
  log.info({}, 'tapfix stopped');
  return 0;
}

/** A person reads cards on this terminal, so log lines between them are short. */
function besideTheCards({ cluster, namespaces: { include } }: Config): (line: string) => void {
  const auditAsJson = !process.stderr.isTTY;
  const show = createTerminalLines({ cluster, include, timeZone: localTimeZone(), auditAsJson });
  return (line) => {
    const shown = show(line);
    if (shown) process[shown.to].write(`${shown.text}\n`);
  };
}
