import { createTargetReader, hasTargetChanged } from '../actions/table.ts';
import { createAnswerBudget } from '../approvals/answer-budget.ts';
import { createCommands } from '../approvals/commands.ts';
import { createConfirms } from '../approvals/confirms.ts';
import { createForeignPresses } from '../approvals/foreign-presses.ts';
import { createPages } from '../approvals/pages.ts';
import { createApprovals } from '../approvals/press.ts';
import { createSubjectAccess } from '../approvals/subject-access.ts';
import type { Handlers } from '../channels/channel.ts';
import type { Channels } from '../channels/channels.ts';
import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { readHealth } from '../diagnosis/health.ts';
import { createSharedEvents, type Reach } from '../diagnosis/readers.ts';
import { createLedger } from '../incidents/ledger.ts';
import { createTracker } from '../incidents/tracker.ts';
import { createFeed } from '../kube/feed.ts';
import type { Term } from '../kube/lease.ts';
import { createMutes, isMuted } from '../kube/mutes.ts';
import { type Notice, viewNotice } from '../kube/notice.ts';
import { usualPace } from '../kube/questions.ts';
import { createOwnerResolver } from '../kube/owners.ts';
import { isCleared, isKeyedHere, type Remediation } from '../kube/remediation.ts';
import { createStore, hearing, onlyOf } from '../kube/store.ts';
import { messageOf } from '../lib/errors.ts';
import { createEscalations } from '../notices/outbox/escalation-writer.ts';
import { createOutbox } from '../notices/outbox/outbox.ts';
import { createReminders } from '../notices/outbox/reminder-writer.ts';
import { createSelfWatch } from '../notices/outbox/self-watch.ts';
import { createTestCards } from '../notices/outbox/test-cards.ts';
import { seesAll } from '../notices/plan/blindness.ts';
import { whereChatsAre } from '../notices/plan/route.ts';
import { ping, runHeartbeat } from '../ops/heartbeat.ts';
import { derive } from '../proposals/derive.ts';
import { watchScopes } from '../signals/filter.ts';
import { createSignalSource } from '../signals/source.ts';
import type { Ground, Role } from './app.ts';
import { createChannelRegistry } from './channel-registry.ts';
import { everyMinute, stopped } from './stop.ts';
import { adjustSignalWatches, noticesOtherwise } from './watch-scopes.ts';

const catchUpAgainMs = 1_000;

/**
 * Street 1 and the near half of street 2: notices failures, posts, records decisions. It can change no workload. Every
 * replica watches; only the leader records, posts and listens to people.
 */
export function createWatcherRole(ground: Ground): Role {
  const { api, clock, log, ownNamespace, identity, timeZone, metrics, readiness, signal } = ground;
  const { history, reconnected, roster, watchRegistry } = ground;
  let leading: { use(channels: Channels): void; current(): Config; remind(): void } | undefined;
  let configured = ground.channels;
  const current = (): Config => leading?.current() ?? ground.current();
  /** A record whose key names another namespace is not believed: it would hold that namespace's episodes. */
  const isOurs = (fix: Remediation): boolean => ground.isOurs(fix) && isKeyedHere(fix);
  const fixes = onlyOf(ground.fixes.store, isOurs);
  const notices = createStore<Notice>({ clock, keysOf: ({ spec }) => spec.members.map(({ uid }) => uid) });
  const noticeFeed = createFeed({
    api,
    clock,
    log,
    reconnected,
    kind: 'Notice',
    scopes: [ownNamespace],
    view: viewNotice,
    store: notices,
  });

  // Street 1: what is seen becomes incidents.
  const ledger =
    ground.ledger ?? createLedger({ clock, count: (outcome, times) => metrics.signals.inc({ outcome }, times) });
  const mutes = createMutes({ api, clock, log, namespace: ownNamespace });
  const muted = (): string[] => mutes.active().map(({ glob }) => glob);
  const isMutedNow = ({ metadata, spec }: Remediation): boolean =>
    isMuted(muted(), { namespace: metadata.namespace ?? '', name: spec.incident.object.name });
  const reader = createSharedEvents(api, clock);
  const reach: Reach = {
    get scopes() {
      return watchScopes(current());
    },
    isSelected: (namespace) => isSelected(current(), namespace, ownNamespace),
  };
  const tracker = createTracker({
    clock,
    log,
    current,
    muted,
    ownNamespace,
    identity,
    fixes,
    putFix: ground.fixes.store.put,
    owners: createOwnerResolver(api, clock, { roster, pace: usualPace }),
    readHealth: (subject, nowMs) => readHealth(reader, { ...subject, reach }, nowMs),
    derive: (subject, nowMs) => derive(subject, { reader, logs: api, history, config: current(), nowMs }),
    hasTargetChanged: (fix) => hasTargetChanged(api, fix),
    ledger,
    onRecorded: (failureClass) => metrics.incidents.inc({ class: failureClass }),
    signal,
  });
  mutes.subscribe(tracker.reconfigure);
  const source = createSignalSource({
    api,
    clock,
    log,
    current,
    reconnected,
    roster,
    onSignal: tracker.onSignal,
    count: (outcome) => ledger.dropped(outcome),
  });

  /** Makes the leader's part anew for each term: it knows no more than the resources say, as after a restart. */
  function lead(term: Term): Promise<void>[] {
    const own = api.guardedBy(term.mustLead);
    const channelRegistry = createChannelRegistry({
      clock,
      metrics,
      readiness,
      installation: ground.installation ?? [],
      onForeign: (press) => foreignPresses.onPress(press),
      term,
    });
    const channels = channelRegistry.channels;
    leading = {
      use: channelRegistry.use,
      /** The chats by the ids that they have now: a group that became a supergroup has another. */
      current: () => whereChatsAre(ground.current(), channels()),
      remind() {
        reminders.refresh();
        escalations.refresh();
      },
    };
    const mine = leading;
    term.signal.addEventListener('abort', () => void (leading = leading === mine ? undefined : leading), {
      once: true,
    });
    const { proposeAgain } = tracker.lead(term, own);

    /**
     * Our watches may not have brought what the leader before posted, so it is read before anything is posted. Notices
     * come first, because one whose members are unknown would be let go.
     */
    let isCaughtUp = false;
    async function catchUp(): Promise<void> {
      while (!isCaughtUp && !term.signal.aborted)
        try {
          await noticeFeed.catchUp();
          await ground.fixes.feed.catchUp();
          isCaughtUp = true;
        } catch (error) {
          log.debug({ reason: messageOf(error) }, 'what was posted could not be read, trying again');
          await clock.sleep(catchUpAgainMs, term.signal);
        }
    }
    const ownNotices = { ...notices, isComplete: () => isCaughtUp && notices.isComplete() };

    // Remediations become messages.
    const confirms = createConfirms({ clock, signal: term.signal });
    const outbox = createOutbox({
      api: own,
      clock,
      log,
      current,
      channels,
      fixes,
      otherFix: ground.fixes.store.get,
      notices: ownNotices,
      namespace: ownNamespace,
      timeZone,
      confirms,
      isHeard: ground.fixes.feed.isHeard,
      onNotice: (result, { channel, form }) => metrics.notices.inc({ channel, form, result }),
      signal: term.signal,
    });
    const reminders = createReminders({
      api: own,
      clock,
      log,
      current,
      channels,
      fixes,
      notices: ownNotices,
      namespace: ownNamespace,
      isMuted: isMutedNow,
      signal: term.signal,
    });
    const escalations = createEscalations({
      api: own,
      clock,
      log,
      current,
      channels,
      fixes,
      notices: ownNotices,
      namespace: ownNamespace,
      isMuted: isMutedNow,
      signal: term.signal,
    });
    const selfWatch = createSelfWatch({
      api: own,
      clock,
      log,
      current,
      channels,
      notices: ownNotices,
      namespace: ownNamespace,
      sights: watchRegistry.sights,
      refusal: () => ground.reloads?.refusal(),
      shared: () => foreignPresses.signs(),
      watches: () => current().namespaces.include,
      onBlindness: (what) => metrics.blindness.inc({ what }),
    });

    // Street 2: presses and commands become decisions.
    const tests = createTestCards({ api: own, notices: ownNotices, clock, namespace: ownNamespace });
    const subjectAccess = createSubjectAccess(own);
    const approvals = createApprovals({
      api: own,
      clock,
      log,
      current,
      timeZone,
      ownNamespace,
      fixByUid: fixes.get,
      noticeAt: outbox.noticeAt,
      noticesWith: notices.withKey,
      confirms,
      subjectAccess,
      prepare: createTargetReader(own),
      proposeAgain,
      onDecision: (channel, result) => metrics.decisions.inc({ channel, result }),
    });
    const foreignPresses = createForeignPresses({ clock, channels, audit: approvals.audit });
    const { onCommand, commands } = createCommands({
      clock,
      current,
      timeZone,
      ownNamespace,
      fixes: fixes.all,
      noticeAt: outbox.noticeAt,
      noticesWith: notices.withKey,
      confirms,
      handle: approvals.handle,
      audit: approvals.audit,
      mutes,
      tests,
      subjectAccess,
      status: () =>
        Object.entries(readiness.report().checks).map(
          ([name, { ok, detail }]) => `${ok ? '' : 'NOT OK: '}${name}: ${detail}`,
        ),
    });
    const onPress = createPages({
      api: own,
      clock,
      current,
      timeZone,
      ownNamespace,
      confirms,
      posted: outbox.posted,
      tests,
      onPress: approvals.onPress,
      audit: approvals.audit,
    });

    const budget = createAnswerBudget({ clock, current });
    const handlers: Handlers = {
      onPress: async (press) => budget.ofPress(press, await onPress(press)),
      onCommand: async (command) => budget.ofCommand(command, await onCommand(command)),
      commands,
    };

    // Everything is made: now it is connected, and the channels begin.
    ground.fixes.store.subscribe(hearing(isOurs, outbox.listeners.fixes), term.signal);
    ground.fixes.store.subscribe(hearing<Remediation>(isOurs, reminders.listener), term.signal);
    notices.subscribe(outbox.listeners.notices, term.signal);
    notices.subscribe(reminders.listener, term.signal);
    ground.fixes.store.subscribe(hearing<Remediation>(isOurs, escalations.listener), term.signal);
    notices.subscribe(escalations.listener, term.signal);
    notices.subscribe(selfWatch.listener, term.signal);
    // A press made while we were down must find its card: nothing is received before everything is listed.
    const caughtUp = catchUp().then(() => {
      outbox.refresh();
      reminders.refresh();
      escalations.refresh();
    });
    const listed = Promise.all([ground.fixes.feed.listed, noticeFeed.listed, caughtUp]);
    channelRegistry.start(handlers, listed);
    channelRegistry.use(configured);

    /** A message that is on its way when we stop is recorded: otherwise the next leader would post it again. */
    const sendToTheEnd = (): Promise<void> => stopped(term.signal).then(outbox.idle);
    const talkToTheEnd = (): Promise<void> => stopped(term.signal).then(channelRegistry.ended);

    return [
      talkToTheEnd(),
      selfWatch.run(term.signal),
      runHeartbeat(
        {
          clock,
          log,
          settings: () => current().heartbeat,
          isWell: () => seesAll(watchRegistry.sights(), clock.now()),
          ping: ground.ping ?? ping,
          count: (result) => metrics.heartbeats.inc({ result }),
        },
        term.signal,
      ),
      sendToTheEnd(),
    ];
  }

  /** An incident that no signal mentions any more, or a message whose Notice is gone, would otherwise stay as it is for ever. */
  async function resync(): Promise<void> {
    await mutes.load();
    leading?.remind();
    tracker.refresh();
    const isOpen = (uid: string): boolean => {
      const fix = fixes.get(uid);
      return fix !== undefined && !isCleared(fix);
    };
    await noticeFeed.recheck(({ spec }) => spec.members.some(({ uid }) => isOpen(uid)));
  }

  function follow(): Promise<void>[] {
    ground.fixes.store.subscribe(hearing(isOurs, tracker.listener));
    /** Mutes and history are known, or could not be read, before anything is looked at: a restart must not forget them. */
    const pastIsKnown = Promise.all([mutes.load(), ground.historyIsKnown]).then(() => undefined);
    watchRegistry.open('notices', ownNamespace, noticeFeed.watches[0]!);
    for (const [name, one] of Object.entries(source.ofCluster())) watchRegistry.open(name, undefined, one, pastIsKnown);
    adjustSignalWatches(ground, source, { when: 'start', after: pastIsKnown });
    ground.reloads?.subscribe(({ before, now, channels: theirs }) => {
      configured = theirs;
      leading?.use(theirs);
      tracker.reconfigure();
      if (noticesOtherwise(before, now)) adjustSignalWatches(ground, source, { when: 'later' });
    });
    return [everyMinute({ clock, log, signal }, resync)];
  }

  return { follow, lead };
}
