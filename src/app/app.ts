import { once } from 'node:events';
import { createTargetReader, hasTargetChanged } from '../actions/table.ts';
import { createCommands } from '../approvals/commands.ts';
import { createConfirms } from '../approvals/confirms.ts';
import { createPages } from '../approvals/pages.ts';
import { createApprovals } from '../approvals/press.ts';
import { createSubjectAccess } from '../approvals/subject-access.ts';
import type { Channel, ChannelName } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { createController } from '../controller/controller.ts';
import { readHealth } from '../diagnosis/health.ts';
import { createSharedEvents, type Reach } from '../diagnosis/readers.ts';
import { createHistory, type History } from '../health/history.ts';
import { createLedger, type Ledger } from '../incidents/ledger.ts';
import { createTracker } from '../incidents/tracker.ts';
import type { Api } from '../kube/api.ts';
import { createMutes, isMuted } from '../kube/mutes.ts';
import { viewNotice } from '../kube/notice.ts';
import { createOwnerResolver } from '../kube/owners.ts';
import { isCleared, isProposedFrom, type Remediation, viewRemediation } from '../kube/remediation.ts';
import { createFeed, type Feed, onlyOf } from '../kube/store.ts';
import { createReconnectSignal, type ReconnectSignal } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createOutbox } from '../notices/outbox/outbox.ts';
import { createReminders } from '../notices/outbox/reminder-writer.ts';
import { createSelfWatch } from '../notices/outbox/self-watch.ts';
import { seesAll } from '../notices/plan/blindness.ts';
import { type Beat, ping, runHeartbeat } from '../ops/heartbeat.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Readiness } from '../ops/readiness.ts';
import { derive } from '../proposals/derive.ts';
import { type Rules, watchScopes } from '../signals/filter.ts';
import type { SignalOutcome } from '../signals/signal.ts';
import { createSignalSource } from '../signals/source.ts';
import { createChannelRegistry } from './channel-registry.ts';
import { createWatchRegistry, type WatchRegistry } from './watch-registry.ts';
import {
  adjustFixWatches,
  adjustRevisionWatches,
  adjustSignalWatches,
  fixScopes,
  noticesOtherwise,
} from './watch-scopes.ts';

/** The configuration was replaced: `current` answers with the new one, and these are its channels. */
export interface ConfigReload {
  before: Config;
  now: Config;
  channels: ReadonlyMap<ChannelName, Channel>;
}
export interface Reloads {
  subscribe(listener: (reload: ConfigReload) => void): void;
  /** What stands in the file is not used. */
  refusal(): { at: string; problem: string } | undefined;
}

/** What a running tapfix is made of. `tapfix run` and `tapfix demo` make it; so do tests, with a clock of their own. */
interface Parts {
  role: 'all' | 'watcher' | 'controller';
  api: Api;
  clock: Clock;
  log: Log;
  current(): Config;
  /** Without it the configuration stays as it is. */
  reloads?: Reloads;
  ownNamespace: string;
  identity: string;
  timeZone: string;
  metrics: Metrics;
  readiness: Readiness;
  /** The watcher's, where somebody wants to read in it. */
  ledger?: Ledger;
  /** The watcher's; the controller never talks to the internet. */
  channels: ReadonlyMap<ChannelName, Channel>;
  /** How heartbeat.url is pinged, if not over the network. */
  ping?: typeof ping;
  signal: AbortSignal;
  /** Every watch has been started: from here on they say what is missing. */
  onWatching?(): void;
}

/** What both roles share, made once. */
interface Ground extends Parts {
  /** One watch that reaches the server again wakes the others. */
  reconnected: ReconnectSignal;
  history: History;
  fixes: Feed<Remediation>;
  watchRegistry: WatchRegistry;
}

/** The composition root, in flow order. Resolves when the signal aborts: whether all that was under way ended in time. */
export async function runTapfix(parts: Parts): Promise<boolean> {
  const { role, api, clock, log, current, signal } = parts;
  const scopes = fixScopes(current(), parts.ownNamespace);
  const reconnected = createReconnectSignal();
  const fixes = createFeed({ api, clock, log, reconnected, kind: 'Remediation', scopes, view: viewRemediation });
  const ground: Ground = {
    ...parts,
    reconnected,
    history: createHistory(),
    fixes,
    watchRegistry: createWatchRegistry(parts),
  };
  const loops: Promise<void>[] = [];
  parts.reloads?.subscribe(() => {
    adjustFixWatches(ground); // first: nothing is noticed anywhere before it is known what was told there
    adjustRevisionWatches(ground);
  });
  if (role !== 'controller') loops.push(...watcherRole(ground));
  if (role !== 'watcher') loops.push(...controllerRole(ground));
  adjustRevisionWatches(ground);
  for (const [index, scope] of scopes.entries())
    ground.watchRegistry.open('remediations', scope, fixes.watches[index]!); // last: every listener is there by now
  parts.reloads?.subscribe(() => fixes.repeat()); // whose they are, and what may be done, is another question now
  loops.push(
    everyMinute(ground, async () => {
      adjustFixWatches(ground); // what was under way in a namespace that was left may be over
      await fixes.recheck((fix) => !isCleared(fix));
    }),
  );
  parts.onWatching?.();
  const inTime = await endInTime([...loops, ground.watchRegistry.ended()], clock, signal);
  if (!inTime) log.warn({ graceMs }, 'tapfix stopped before all that was under way had ended');
  return inTime;
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
function watcherRole(ground: Ground): Promise<void>[] {
  const { api, clock, log, reconnected, current, ownNamespace, metrics, signal, fixes, history, watchRegistry } =
    ground;
  const { ledger = createLedger({ clock, count: (outcome, times) => metrics.signals.inc({ outcome }, times) }) } =
    ground;
  const count = (outcome: SignalOutcome): void => ledger.dropped(outcome);
  const reach: Reach = {
    get scopes() {
      return watchScopes(current());
    },
    isSelected: (namespace) => isSelected(current(), namespace, ownNamespace),
  };
  const reader = createSharedEvents(api, clock);
  const mutes = createMutes({ ...ground, namespace: ownNamespace, onChange: () => tracker.reconfigure() });
  const withMutes = (): Rules => ({ ...current(), muted: mutes.active().map(({ glob }) => glob) });
  const tracker = createTracker({
    ...ground,
    current: withMutes,
    ledger,
    owners: createOwnerResolver(api, clock),
    readHealth: (subject, nowMs) => readHealth(reader, { ...subject, reach }, nowMs),
    derive: (subject, nowMs) => derive(subject, { reader, logs: api, history, config: current(), nowMs }),
    hasTargetChanged: (fix) => hasTargetChanged(api, fix),
    onRecorded: (failureClass) => metrics.incidents.inc({ class: failureClass }),
  });
  const confirms = createConfirms({ clock, signal });
  const outbox = createOutbox({
    ...ground,
    namespace: ownNamespace,
    channels: () => channelRegistry.channels(),
    confirms,
    isHeard: fixes.isHeard,
    onNotice: (result, { channel, form }) => metrics.notices.inc({ channel, form, result }),
  });
  const approvals = createApprovals({
    ...ground,
    ...outbox, // its `current` as well: the configuration with the ids that chats have now
    confirms,
    subjectAccess: createSubjectAccess(api),
    prepare: createTargetReader(api),
    proposeAgain: tracker.proposeAgain,
    onDecision: (channel, result) => metrics.decisions.inc({ channel, result }),
  });

  const commands = createCommands({
    ...ground,
    ...outbox,
    ...approvals,
    confirms,
    mutes,
    subjectAccess: createSubjectAccess(api),
    status: () =>
      Object.entries(ground.readiness.report().checks).map(
        ([name, { ok, detail }]) => `${ok ? '' : 'NOT OK: '}${name}: ${detail}`,
      ),
  });
  const onPress = createPages({ ...ground, ...outbox, ...approvals, confirms });
  const handlers = { ...commands, onPress };

  // Others are another installation's: its watcher sees to them, and tells of them. Our own are seen to their end.
  const isOurs = (fix: Remediation): boolean =>
    fix.metadata.namespace === ownNamespace ||
    isSelected(current(), fix.metadata.namespace ?? '', ownNamespace) ||
    isProposedFrom(fix, ownNamespace);
  fixes.subscribe(onlyOf(isOurs, { onList: tracker.onFixes, onChange: tracker.onFix }));
  fixes.subscribe(onlyOf(isOurs, { onList: outbox.onFixes, onChange: outbox.onFix }));
  const notices = createFeed({
    api,
    clock,
    log,
    reconnected,
    kind: 'Notice',
    scopes: [ownNamespace],
    view: viewNotice,
  });
  notices.subscribe({ onList: outbox.onNotices, onChange: outbox.onNotice });
  const reminders = createReminders({
    ...ground,
    namespace: ownNamespace,
    channels: () => channelRegistry.channels(),
    isMuted: ({ metadata, spec }) =>
      isMuted(withMutes().muted ?? [], { namespace: metadata.namespace ?? '', name: spec.incident.object.name }),
  });
  fixes.subscribe(onlyOf(isOurs, { onList: reminders.onFixes, onChange: reminders.onFix }));
  notices.subscribe({ onList: reminders.onNotices, onChange: reminders.onNotice });
  const selfWatch = createSelfWatch({
    ...ground,
    namespace: ownNamespace,
    channels: () => channelRegistry.channels(),
    sights: watchRegistry.sights,
    refusal: () => ground.reloads?.refusal(),
    onBlindness: (what) => metrics.blindness.inc({ what }),
  });
  notices.subscribe({ onList: selfWatch.onNotices, onChange: selfWatch.onNotice });
  const heartbeat = {
    settings: () => current().heartbeat,
    isWell: () => seesAll(watchRegistry.sights(), clock.now()),
    count: (result: Beat) => metrics.heartbeats.inc({ result }),
  };

  const listed = Promise.all([fixes.listed, notices.listed]);
  const channelRegistry = createChannelRegistry({ ...ground, handlers, listed });
  const source = createSignalSource({ ...ground, onSignal: tracker.onSignal, count });
  /** What was muted before a restart stays so: nothing is looked at before that is known, or could not be read. */
  const mutesAreKnown = mutes.load();
  watchRegistry.open('notices', ownNamespace, notices.watches[0]!);
  for (const [name, watch] of Object.entries(source.ofCluster()))
    watchRegistry.open(name, undefined, watch, mutesAreKnown);
  adjustSignalWatches(ground, source, { when: 'start', after: mutesAreKnown });
  channelRegistry.use(ground.channels);
  ground.reloads?.subscribe(({ before, now, channels }) => {
    channelRegistry.use(channels);
    tracker.reconfigure();
    if (noticesOtherwise(before, now)) adjustSignalWatches(ground, source, { when: 'later' });
  });

  /** What is on its way when we stop is recorded: otherwise the next start would say it again. */
  async function sendToTheEnd(): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
    await outbox.idle();
  }

  /** An incident that nobody looks at any more, or a message whose Notice is gone, would otherwise stay as it is for ever. */
  async function resync(): Promise<void> {
    await mutes.load();
    reminders.refresh();
    tracker.refresh();
    const isOpen = (uid: string): boolean => {
      const fix = outbox.fixByUid(uid);
      return fix !== undefined && !isCleared(fix);
    };
    await notices.recheck(({ spec }) => spec.members.some(({ uid }) => isOpen(uid)));
  }

  async function talkToTheEnd(): Promise<void> {
    if (!signal.aborted) await once(signal, 'abort');
    await channelRegistry.ended();
  }

  return [
    talkToTheEnd(),
    everyMinute(ground, resync),
    selfWatch.run(signal),
    runHeartbeat({ ping, ...ground, ...heartbeat }, signal),
    sendToTheEnd(),
  ];
}

/** The far half of street 2: rehearses, applies, watches recovery. It never talks to the internet. */
function controllerRole({ fixes, metrics, ownNamespace, signal, ...ground }: Ground): Promise<void>[] {
  const reader = createSharedEvents(ground.api, ground.clock);
  const controller = createController({
    ...ground,
    namespace: ownNamespace,
    readHealth,
    derive: (subject, reading) => derive(subject, { ...reading, reader }),
    metrics: { phase: (phase) => metrics.remediations.inc({ phase }) },
  });
  fixes.subscribe({ onList: controller.onFixes, onChange: controller.onFix });
  return [controller.run(signal)];
}

/** What a watch missed is put right within a minute: something deleted by hand, just then. */
async function everyMinute({ clock, log, signal }: Ground, resync: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await clock.sleep(60_000, signal);
    if (signal.aborted) return;
    await resync().catch((error: unknown) => log.debug({ err: messageOf(error) }, 'resync failed, trying again'));
  }
}
