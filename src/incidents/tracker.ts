import type { Config } from '../config/schema.ts';
import { isWatched } from '../config/selection.ts';
import type { HealthSubject } from '../diagnosis/health.ts';
import type { LiveHealth } from '../health/trouble.ts';
import type { Api } from '../kube/api.ts';
import { levelOf } from '../kube/outage.ts';
import type { OwnerResolver } from '../kube/owners.ts';
import type { Term } from '../kube/lease.ts';
import { isBeingFixed, type Remediation } from '../kube/remediation.ts';
import type { Listener, StoreReader } from '../kube/store.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createQueue, type Outcome, type Queue } from '../lib/queue.ts';
import type { Derived, Subject } from '../proposals/derive.ts';
import type { Rules } from '../signals/filter.ts';
import { identityOf, type Signal, SignalOutcome } from '../signals/signal.ts';
import { createEpisodes } from './episodes.ts';
import { reconfigured } from './incident.ts';
import { createIntake, createMuted, type Pile, piled } from './intake.ts';
import type { Ledger } from './ledger.ts';
import { createOpen } from './open.ts';
import { createPending, sharedCauseOf } from './pending.ts';
import { createProposeAgain, type ProposeAgain } from './propose-again.ts';
import { createReadings, type Readings } from './readings.ts';
import { createRecorder } from './recorder.ts';
import { createSightingsWriter } from './sightings.ts';

export interface TrackerDeps {
  /** The Remediations that are ours. */
  fixes: StoreReader<Remediation>;
  /** Puts the server's answer to a write of ours into the store. */
  putFix(fix: Remediation): void;
  clock: Clock;
  log: Log;
  /** The configuration in force. */
  current(): Config;
  /** The globs that are muted now. */
  muted?(): readonly string[];
  ownNamespace: string;
  owners: OwnerResolver;
  readHealth(subject: HealthSubject, nowMs: number): Promise<LiveHealth>;
  derive(subject: Subject, nowMs: number): Promise<Derived | undefined>;
  /** Whether a card shows something else than what would be done now. */
  hasTargetChanged(fix: Remediation): Promise<boolean>;
  /** The user of our requests. A Remediation names it as its proposer. */
  identity: string;
  ledger: Ledger;
  /** For counting. */
  onRecorded?(failureClass: string): void;
  signal: AbortSignal;
}

/** The leader's part: it records incidents and follows them to their end. */
export interface LeadingTracker {
  /** Proposes again what nobody decided in time, or what failed. */
  proposeAgain: ProposeAgain;
}

export interface Tracker {
  onSignal(signal: Signal): void;
  /** Receives the changes of Remediations from the store. */
  listener: Listener<Remediation>;
  /** From now on, until the term ends, incidents are recorded. `api` refuses to write when it is over. */
  lead(term: Pick<Term, 'signal' | 'isTakeover'>, api: Pick<Api, 'get' | 'create' | 'patch'>): LeadingTracker;
  /** Every open incident is read again, whatever it waits for. A follower forgets what its leader did not record. */
  refresh(): void;
  /** The configuration changed: incidents that are not recorded yet are judged by it. */
  reconfigure(): void;
}

/** Signals come in bursts; a burst leads to one reading. */
const burstMs = 250;
/** Some bursts never end: an incident that was just read is not read again for each signal. */
const apartMs = 2_000;

/** A follower keeps what its leader has not recorded for so long after its patience. */
const unrecordedMs = 10 * 60_000;

/** The parts of the leader. */
interface Leading {
  queue: Queue;
  readings: Readings;
  open: ReturnType<typeof createOpen>;
}

/**
 * Waits until an incident's patience is over, reads the live state again, records what is still broken, and follows it
 * to its end. A follower only waits, so that nothing waits once more when it becomes the leader.
 */
export function createTracker(deps: TrackerDeps): Tracker {
  const { clock, log, current, ownNamespace, ledger, signal } = deps;
  const rules = (): Rules => ({ ...current(), muted: deps.muted?.() ?? [] });
  const episodes = createEpisodes(deps.fixes, deps.putFix);
  const early = new Map<string, Pile>(); // one of each, however long the first list takes
  const lookedAt = new Map<string, number>(); // keys that will be looked at again
  let isAdopted = false;
  let leading: Leading | undefined;
  const muted = createMuted();
  const intake = createIntake({
    clock,
    log,
    rules,
    ownNamespace,
    owners: deps.owners,
    ledger,
    episodes,
    muted,
    onIncident: lookInTime,
    signal,
  });

  /** A thousand signals of one incident lead to one reading: when its patience is over, or a moment from now. */
  function lookInTime(key: string): void {
    if (!leading) return;
    const { dueMs = 0, count = 0 } = episodes.incidents.get(key) ?? {};
    const holder = episodes.holderOf(key);
    const soonestMs =
      (lookedAt.get(key) ?? Number.NEGATIVE_INFINITY) + Math.max(apartMs, holder ? leading.open.paceMs(holder) : 0);
    leading.queue.addAfter(key, Math.max(Math.max(dueMs, soonestMs) - clock.now(), count > 1 ? burstMs : 0));
  }

  function lead(term: Pick<Term, 'signal' | 'isTakeover'>, api: Pick<Api, 'get' | 'create' | 'patch'>): LeadingTracker {
    const readings = createReadings({ episodes, current, readHealth: deps.readHealth });
    const sightings = createSightingsWriter({ api, clock, current, episodes });
    const recorder = createRecorder({
      api,
      clock,
      log,
      current,
      ownNamespace,
      identity: deps.identity,
      derive: deps.derive,
      episodes,
      sightings,
      onRecorded: (failureClass) => deps.onRecorded?.(failureClass),
    });
    const pending = createPending({ api, log, ownNamespace, episodes, ledger, readings, recorder });
    const proposeAgain = createProposeAgain({ api, clock, current, episodes, readings, recorder });
    const open = createOpen({
      api,
      log,
      current,
      episodes,
      readings,
      sightings,
      recorder,
      hasTargetChanged: deps.hasTargetChanged,
      proposeAgain,
    });

    async function pass(key: string): Promise<Outcome> {
      lookedAt.set(key, clock.now());
      const next = await look(key);
      if (!next) lookedAt.delete(key);
      return next;
    }

    async function look(key: string): Promise<Outcome> {
      const holder = episodes.holderOf(key);
      const incident = episodes.incidents.get(key);
      const nowMs = clock.now();
      if (holder) {
        if (isAbandoned(holder)) return undefined;
        ledger.settle(key, SignalOutcome.repeated); // somebody else recorded it first
        return open.follow(key, holder, nowMs);
      }
      if (!incident) return undefined;
      if (nowMs < incident.dueMs) return { againInMs: incident.dueMs - nowMs };
      const next = await pending.judge(incident, nowMs);
      const nowHeld = episodes.holderOf(key);
      return next && nowHeld ? { againInMs: Math.max(next.againInMs, open.paceMs(nowHeld)) } : next;
    }

    const queue = createQueue({
      clock,
      signal: term.signal,
      concurrency: 16,
      // Incidents that are not recorded yet come first, however many are open.
      isUrgent: (key) => episodes.holderOf(key) === undefined,
      handle: pass,
      onError: (key, error, retryInMs, failures) =>
        log[levelOf(error, failures)]({ key, err: messageOf(error), retryInMs }, 'incident pass failed'),
    });
    const own = { queue, readings, open };
    leading = own;
    term.signal.addEventListener('abort', () => void (leading = leading === own ? undefined : leading), { once: true });
    if (isAdopted) refresh();
    for (const [key, incident] of episodes.incidents) {
      if (term.isTakeover) episodes.incidents.set(key, { ...incident, atStart: false });
      lookInTime(key);
    }
    return { proposeAgain };
  }

  /** Its namespace is no longer watched: it stays as it is, unless a fix is being applied there. */
  function isAbandoned(fix: Remediation): boolean {
    return !isWatched(current(), fix.metadata.namespace ?? '', ownNamespace) && !isBeingFixed(fix);
  }

  function refresh(): void {
    if (!leading) return forgetUnrecorded();
    for (const fix of episodes.open()) leading.queue.add(fix.spec.incident.key);
  }

  /** The leader looked at it and found nothing to record. A symptom is kept: it is recorded when its cause is over. */
  function forgetUnrecorded(): void {
    const open = episodes.open();
    for (const [key, incident] of episodes.incidents) {
      const isFresh = clock.now() < Math.max(incident.dueMs, incident.lastSeenMs) + unrecordedMs;
      if (isFresh || episodes.holderOf(key) || sharedCauseOf(incident, open, ownNamespace)) continue;
      episodes.incidents.delete(key);
      ledger.settle(key, SignalOutcome.noLongerTrue);
    }
  }

  /** A follower hears of what its leader records and clears. */
  function followLeader({ spec, status }: Remediation): void {
    const { key } = spec.incident;
    if (episodes.holderOf(key)) return ledger.settle(key, SignalOutcome.repeated);
    const { lastTransitionTime = '' } = status?.conditions?.find(({ type }) => type === 'IncidentCleared') ?? {};
    const { lastSeenMs = 0 } = episodes.incidents.get(key) ?? {};
    if (lastSeenMs <= Date.parse(lastTransitionTime)) episodes.incidents.delete(key);
  }

  return {
    onSignal(seen) {
      ledger.arrived();
      const pile = { signal: seen, times: 1 };
      // Before the Remediations are listed, it is unknown which of these are already recorded.
      if (isAdopted) intake.offer(pile);
      else early.set(identityOf(seen), piled(early.get(identityOf(seen)), pile));
    },
    listener: {
      onList() {
        for (const fix of episodes.open()) leading?.queue.add(fix.spec.incident.key);
        isAdopted = true;
        for (const pile of early.values()) intake.offer(pile);
        early.clear();
      },
      onChange(change) {
        const fix = change.type === 'gone' ? change.last : change.view;
        if (!fix) return;
        if (leading) leading.queue.addAfter(fix.spec.incident.key, Math.max(burstMs, leading.open.paceMs(fix)));
        else followLeader(fix);
      },
    },
    lead,
    refresh,
    reconfigure() {
      for (const incident of muted.wake(rules(), ownNamespace))
        if (!episodes.incidents.has(incident.key) && !episodes.holderOf(incident.key))
          episodes.incidents.set(incident.key, incident);
      for (const [key, incident] of episodes.incidents) {
        if (episodes.holderOf(key)) continue;
        const now = reconfigured(incident, rules(), ownNamespace);
        if (typeof now === 'string') {
          episodes.incidents.delete(key);
          leading?.readings.forget(key);
          ledger.settle(key, now);
          if (now === SignalOutcome.muted) muted.keep(incident);
        } else {
          episodes.incidents.set(key, now);
          leading?.queue.add(key);
        }
      }
    },
  };
}
