import { once } from 'node:events';
import { createApprovals } from './approvals/approve.ts';
import { createConfirms } from './approvals/confirms.ts';
import { createSubjectAccess } from './approvals/subject-access.ts';
import { createTargetReader } from './approvals/target.ts';
import type { Channel } from './channels/channel.ts';
import { createChannels } from './channels/channels.ts';
import { createTerminalLines } from './cli/terminal-lines.ts';
import type { Config } from './config/schema.ts';
import { loadConfig } from './config/load.ts';
import { isSelected } from './config/selection.ts';
import { whoAmI } from './connect.ts';
import { createController } from './controller/controller.ts';
import { readHealth } from './diagnosis/health.ts';
import { createHistory, type History } from './health/history.ts';
import { createOwnerResolver } from './incidents/owner.ts';
import { createTracker } from './incidents/tracker.ts';
import type { Api } from './kube/api.ts';
import { createApi } from './kube/client.ts';
import { loadKubeConfig } from './kube/config.ts';
import { createFeed, type Feed, onlyOf } from './kube/feed.ts';
import { viewNotice } from './kube/notice.ts';
import { isProposedFrom, type Remediation, viewRemediation } from './kube/remediation.ts';
import type { Watch } from './kube/watch.ts';
import { untilAborted } from './lib/abort.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { hashOf } from './lib/hash.ts';
import { createLog, type Log } from './lib/log.ts';
import { localTimeZone } from './lib/time.ts';
import { createOutbox } from './notices/outbox.ts';
import { createMetrics, type Metrics } from './ops/metrics.ts';
import { createReadiness, type Readiness } from './ops/readiness.ts';
import { startServer } from './ops/server.ts';
import { derive } from './proposals/derive.ts';
import { watchScopes } from './signals/filter.ts';
import { type SignalOutcome } from './signals/signal.ts';
import { watchRevisions, watchSignals } from './signals/source.ts';

export interface AppOptions {
  configFile: string;
  role: 'all' | 'watcher' | 'controller';
  context?: string;
}

export interface AppIo {
  /** Aborts when we are asked to stop. From here on that is ours to do. */
  stopSignal(): AbortSignal;
}

/** What both roles share, made once. */
interface Ground {
  api: Api;
  clock: Clock;
  log: Log;
  current(): Config;
  ownNamespace: string;
  identity: string;
  timeZone: string;
  metrics: Metrics;
  readiness: Readiness;
  history: History;
  scopes: (string | undefined)[];
  fixes: Feed<Remediation>;
  signal: AbortSignal;
}

/** The composition root, in flow order. Resolves to the exit code when the signal aborts. */
export async function runApp({ configFile, role, context }: AppOptions, io: AppIo): Promise<number> {
  const clock = systemClock;
  const config = await loadConfig(configFile);
  const signal = io.stopSignal(); // not before: reading a pipe cannot be cut short
  const log = createLog(config.channels.console && process.stdout.isTTY ? { write: besideTheCards(config) } : {});
  const api = createApi({ kubeConfig: loadKubeConfig({ context }) });
  const metrics = createMetrics();
  const readiness = createReadiness();
  const server = await startServer({ ...config.server, metrics, readiness, log });
  metrics.configInfo(hashOf(config, 12));

  let contact = { ok: false, detail: 'not reached yet' };
  const onFailure = (why: string): void => void (contact = { ok: false, detail: why });
  readiness.set('api-server', () => ({ ...contact, required: true }));
  const identity = await whoAmI({ api, clock, log, signal, onFailure });

  if (identity !== undefined) {
    log.info({ role, identity, cluster: config.cluster, port: server.port }, 'tapfix started');
    const scopes = watchScopes(config);
    const fixes = createFeed({ api, clock, log, kind: 'Remediation', scopes, view: viewRemediation });
    const ground: Ground = {
      api,
      clock,
      log,
      current: () => config,
      ownNamespace: process.env['POD_NAMESPACE'] || 'tapfix',
      identity,
      timeZone: localTimeZone(),
      metrics,
      readiness,
      history: createHistory(),
      scopes,
      fixes,
      signal,
    };
    const loops: Promise<void>[] = [];
    if (role !== 'controller') loops.push(...(await watcherRole(ground)));
    if (role !== 'watcher') loops.push(...controllerRole(ground));
    loops.push(
      ...runWatches(
        ground,
        'revisions',
        scopes.map((namespace) => watchRevisions({ ...ground, namespace })),
      ),
    );
    loops.push(...runWatches(ground, 'remediations', fixes.watches)); // last: every listener is there by now
    contact = { ok: true, detail: 'reached at start' }; // not before: from here on the watches say what is missing
    if (!(await endInTime(loops, clock, signal))) {
      log.warn({ graceMs }, 'tapfix stopped before all that was under way had ended');
      return 0;
    }
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

/** Whoever stops us should not wait long. What is cut off here is taken up again at the next start. */
const graceMs = 3_000;

/** Whether everything that is under way ended by itself, once we were asked to stop. */
async function endInTime(loops: readonly Promise<void>[], clock: Clock, signal: AbortSignal): Promise<boolean> {
  const late = async (): Promise<boolean> => {
    if (!signal.aborted) await once(signal, 'abort');
    await clock.sleep(graceMs);
    return false;
  };
  return Promise.race([Promise.all(loops).then(() => true), late()]);
}

/** Street 1 and the near half of street 2: notices, tells, records decisions. It can change no workload. */
async function watcherRole(ground: Ground): Promise<Promise<void>[]> {
  const { api, clock, log, current, ownNamespace, metrics, signal, fixes, history, scopes } = ground;
  const count = (outcome: SignalOutcome): void => metrics.signals.inc({ outcome });
  const tracker = createTracker({
    ...ground,
    owners: createOwnerResolver(api, clock),
    readHealth: (subject, nowMs) => readHealth(api, subject, nowMs),
    derive: (subject, nowMs) => derive(subject, { reader: api, history, config: current(), nowMs }),
    count,
    onRecorded: (failureClass) => metrics.incidents.inc({ class: failureClass }),
  });
  const confirms = createConfirms({ clock, signal });
  const channels = await createChannels({ config: current(), clock, log, identity: ground.identity, env: process.env });
  const outbox = createOutbox({
    ...ground,
    namespace: ownNamespace,
    channels: () => channels,
    confirms,
    isHeard: fixes.isHeard,
    onNotice: (result, channel) => metrics.notices.inc({ channel, form: 'card', result }),
  });
  const approvals = createApprovals({
    ...ground,
    ...outbox,
    confirms,
    subjectAccess: createSubjectAccess(api),
    prepare: createTargetReader(api),
    onDecision: (channel, result) => metrics.decisions.inc({ channel, result }),
  });

  // Others are another installation's: its watcher sees to them, and tells of them. Our own are seen to their end.
  const isOurs = (fix: Remediation): boolean =>
    isSelected(current(), fix.metadata.namespace ?? '', ownNamespace) || isProposedFrom(fix, ownNamespace);
  fixes.subscribe(onlyOf(isOurs, { onList: tracker.onFixes, onChange: tracker.onFix }));
  fixes.subscribe(onlyOf(isOurs, { onList: outbox.onFixes, onChange: outbox.onFix }));
  const notices = createFeed({ api, clock, log, kind: 'Notice', scopes: [ownNamespace], view: viewNotice });
  notices.subscribe({ onList: outbox.onNotices, onChange: outbox.onNotice });

  for (const channel of channels.values()) {
    metrics.channelUp(channel.name, () => channel.health().ok);
    ground.readiness.set(`channel-${channel.name}`, () => ({ ...channel.health(), required: false }));
  }
  /** A press made while we were down must find its card: nothing is received before everything is listed. */
  async function runListed(channel: Channel): Promise<void> {
    const listed = Promise.all([fixes.listed, notices.listed]);
    await untilAborted(listed, signal).catch(() => undefined);
    if (!signal.aborted) await channel.run(approvals.onPress, signal);
  }

  /** What is on its way when we stop is recorded: otherwise the next start would say it again. */
  async function sendToTheEnd(): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
    await outbox.idle();
  }

  const sources = scopes.map((namespace) => watchSignals({ ...ground, namespace, onSignal: tracker.onSignal, count }));
  return [
    ...runWatches(ground, 'notices', notices.watches),
    ...runWatches(
      ground,
      'events',
      sources.map(({ events }) => events!),
    ),
    ...runWatches(
      ground,
      'pods',
      sources.map(({ pods }) => pods!),
    ),
    ...[...channels.values()].map((channel) => runListed(channel)),
    sendToTheEnd(),
  ];
}

/** The far half of street 2: rehearses, applies, watches recovery. It never talks to the internet. */
function controllerRole({ fixes, metrics, ownNamespace, signal, ...ground }: Ground): Promise<void>[] {
  const controller = createController({
    ...ground,
    namespace: ownNamespace,
    readHealth,
    derive,
    metrics: { phase: (phase) => metrics.remediations.inc({ phase }) },
  });
  fixes.subscribe({ onList: controller.onFixes, onChange: controller.onFix });
  return [controller.run(signal)];
}

/** Each loop runs until the signal aborts; readiness wants the first list, the metric shows the silence since. */
function runWatches({ readiness, metrics, signal }: Ground, name: string, watches: readonly Watch[]): Promise<void>[] {
  const silentMs = (): number => Math.max(0, ...watches.map((watch) => watch.silentMs()));
  const detail = (): string =>
    Number.isFinite(silentMs()) ? `last heard ${Math.round(silentMs() / 1000)} s ago` : 'not listed yet';
  readiness.set(`watch-${name}`, () => ({
    ok: watches.every((watch) => watch.synced()),
    detail: detail(),
    required: true,
  }));
  metrics.watchSilence(name, silentMs);
  return watches.map((watch) => watch.run(signal));
}
