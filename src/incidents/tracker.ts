import type { Config } from '../config/schema.ts';
import type { HealthSubject } from '../diagnosis/health.ts';
import type { LiveHealth } from '../health/live.ts';
import { holdStable, sinceLastSignal, type Stable } from '../health/stability.ts';
import { type Api, isConflict, isForbidden, type KubeObject } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { Change } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import { createQueue, type Outcome } from '../lib/queue.ts';
import type { Derived, Subject } from '../proposals/derive.ts';
import { remediationBody, remediationSpec } from '../proposals/record.ts';
import { classOf } from '../signals/classes.ts';
import { identityOf, type Signal, SignalOutcome } from '../signals/signal.ts';
import { adopted, createBook } from './book.ts';
import { decideCleared, decideUntold, type Facts } from './decide.ts';
import { type Incident, renewed } from './incident.ts';
import { createIntake } from './intake.ts';
import { numberOf, remediationName } from './key.ts';
import type { OwnerResolver, Root } from './owner.ts';
import { sightingsDue, sightingsOf, writeCleared, writeSightings } from './sightings.ts';

export interface TrackerDeps {
  api: Pick<Api, 'get' | 'create' | 'patch'>;
  clock: Clock;
  log: Log;
  current(): Config;
  ownNamespace: string;
  owners: OwnerResolver;
  readHealth(subject: HealthSubject, nowMs: number): Promise<LiveHealth>;
  derive(subject: Subject, nowMs: number): Promise<Derived | undefined>;
  /** The user that our requests carry: a Remediation names it. */
  identity: string;
  count(outcome: SignalOutcome, failureClass: string): void;
  /** For counting. */
  onRecorded?(failureClass: string): void;
  signal: AbortSignal;
}

export interface Tracker {
  onSignal(signal: Signal): void;
  onFixes(list: Remediation[]): void;
  onFix(change: Change<Remediation>): void;
}

export const ignoreAnnotation = 'tapfix.dev/ignore';
const hasIgnore = (object: KubeObject | null | undefined): boolean =>
  object?.metadata.annotations?.[ignoreAnnotation] === 'true';

async function everyOne<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (!(await holds(item))) return false;
  return true;
}

const outcomes = {
  gone: SignalOutcome.targetGone,
  healed: SignalOutcome.healedBeforeTold,
  untrue: SignalOutcome.noLongerTrue,
} as const;

/** What all readings of an episode together say. */
interface Run {
  stable: Stable | undefined;
  longestUptimeMs: number;
}

/** With rights in a few namespaces only, the namespace itself may not be readable: then its annotations say nothing. */
const unlessForbidden = (error: unknown): null => {
  if (isForbidden(error)) return null;
  throw error;
};

/** Waits out an incident's patience, reads the live state again, records what is still broken, and sees it to its end. */
export function createTracker(deps: TrackerDeps): Tracker {
  const { api, clock, log, current, ownNamespace, signal } = deps;
  const book = createBook();
  const runs = new Map<string, Run>(); // by key
  const writtenAt = new Map<string, number>(); // sightings, by the Remediation's uid
  const early = new Map<string, Signal>(); // one of each, however long the first list takes
  let isAdopted = false;

  const queue = createQueue({
    clock,
    signal,
    concurrency: 8,
    handle: pass,
    onError: (key, error, retryInMs) => log.warn({ key, err: messageOf(error), retryInMs }, 'incident pass failed'),
  });
  const intake = createIntake({ ...deps, book, onIncident: (key) => queue.add(key) });

  async function pass(key: string): Promise<Outcome> {
    const holder = book.holderOf(key);
    const incident = book.incidents.get(key);
    const nowMs = clock.now();
    if (holder) return watchHolder(key, holder, nowMs);
    if (!incident) return undefined;
    return nowMs < incident.dueMs ? { againInMs: incident.dueMs - nowMs } : judgeUntold(incident, nowMs);
  }

  /** A fresh reading, and since when all of them have been good. */
  async function look(key: string, failureClass: string, subject: HealthSubject, nowMs: number): Promise<Facts> {
    const before = runs.get(key);
    const live = await deps.readHealth(subject, nowMs).catch((error: unknown) => {
      if (before) runs.set(key, { ...before, stable: undefined }); // what could not be read was not seen to be healthy
      throw error;
    });
    const held = holdStable(before?.stable, live, nowMs);
    // What is gone gives no signals: those of its key are another's, of the same name.
    const stable = live.gone ? held : sinceLastSignal(held, book.incidents.get(key)?.lastSeenMs);
    const longestUptimeMs = Math.max(before?.longestUptimeMs ?? 0, live.longestUptimeMs);
    runs.set(key, { stable, longestUptimeMs });
    return { class: failureClass, live, stable, longestUptimeMs, config: current(), nowMs };
  }

  async function judgeUntold(seen: Incident, nowMs: number): Promise<Outcome> {
    const object = await withUid(seen);
    const facts = await look(seen.key, seen.class, { namespace: seen.namespace, object }, nowMs);
    const step = decideUntold({ ...facts, lastSeenMs: seen.lastSeenMs });
    if (step.do === 'wait') return { againInMs: step.ms };
    if (step.do === 'forget') return forget(seen, outcomes[step.because]);
    const whyNot = await whyNotTold(seen.namespace, object, facts.live.affected);
    return whyNot ? forget(seen, whyNot) : tell({ ...seen, object }, facts);
  }

  /** An event names a quota, or an owner by its pods' names, without a uid: the live one is what it means. */
  async function withUid({ namespace, object }: Incident): Promise<Root> {
    if (object.uid || !isKnownKind(object.kind)) return object;
    const live = await api.get<KubeObject>({ kind: object.kind, namespace, name: object.name });
    return { ...object, uid: live?.metadata.uid ?? '' };
  }

  async function whyNotTold(
    namespace: string,
    { kind, name }: Root,
    affected: readonly string[],
  ): Promise<SignalOutcome | undefined> {
    const space = await api.get<KubeObject>({ kind: 'Namespace', name: namespace }).catch(unlessForbidden);
    if (space === undefined || space?.metadata.deletionTimestamp) return SignalOutcome.namespaceTerminating;
    const isIgnored =
      hasIgnore(space) ||
      (await isIgnoredByItself(namespace, `${kind}/${name}`)) ||
      (affected.length > 0 && (await everyOne(affected, (workload) => isIgnoredByItself(namespace, workload))));
    return isIgnored ? SignalOutcome.ignoredByAnnotation : undefined;
  }

  async function isIgnoredByItself(namespace: string, workload: string): Promise<boolean> {
    const [kind = '', name = ''] = workload.split('/');
    return isKnownKind(kind) && hasIgnore(await api.get<KubeObject>({ kind, namespace, name }));
  }

  function forget({ key, class: failureClass }: Incident, outcome: SignalOutcome): undefined {
    book.incidents.delete(key);
    runs.delete(key);
    deps.count(outcome, failureClass);
    log.info({ key, class: failureClass, outcome }, 'incident not told');
  }

  async function tell(incident: Incident, { live, nowMs }: Facts): Promise<Outcome> {
    const { key, namespace, object } = incident;
    const derived = await deps.derive({ namespace, class: incident.class, object }, nowMs);
    if (!derived) return forget(incident, SignalOutcome.targetGone);
    const earlier = book.ofKey(key);
    const spec = remediationSpec({
      incident,
      derived,
      earlier,
      notifyOnly: isAlwaysOut(namespace, ownNamespace),
      proposedBy: deps.identity,
      config: current(),
      nowMs,
    });
    const name = remediationName(key, Math.max(0, ...earlier.map((fix) => numberOf(fix.metadata.name))) + 1);
    const fix = await createOrAdopt(namespace, name, remediationBody(namespace, name, spec));
    book.remember(fix);
    deps.onRecorded?.(incident.class);
    log.info({ key, class: incident.class, namespace, fix: name, action: spec.action?.type }, 'incident recorded');
    book.remember(await writeSightings(api, fix, sightingsOf(fix, incident, live)));
    writtenAt.set(fix.metadata.uid, nowMs);
    return { againInMs: 1_000 };
  }

  async function createOrAdopt(namespace: string, name: string, body: object): Promise<Remediation> {
    try {
      return await api.create<Remediation>({ kind: 'Remediation', namespace }, body);
    } catch (error) {
      const there = isConflict(error)
        ? await api.get<Remediation>({ kind: 'Remediation', namespace, name })
        : undefined;
      if (!there) throw error;
      return there;
    }
  }

  async function watchHolder(key: string, fix: Remediation, nowMs: number): Promise<Outcome> {
    const { uid, namespace = '' } = fix.metadata;
    const { class: failureClass, object } = fix.spec.incident;
    const affected = fix.status?.sightings?.affected ?? [];
    const facts = await look(key, failureClass, { namespace, object, affected }, nowMs);
    const next = sightingsOf(fix, book.incidents.get(key), facts.live);
    if (sightingsDue(fix, next, nowMs, writtenAt.get(uid))) {
      book.remember(await writeSightings(api, fix, next));
      writtenAt.set(uid, nowMs);
    }
    const { cleared, againInMs } = decideCleared({ ...facts, holder: fix });
    if (!cleared) return { againInMs };
    const ended = await writeCleared(api, fix, facts.live, nowMs);
    if (ended) book.remember(ended);
    runs.delete(key);
    writtenAt.delete(uid);
    log.info({ key, namespace, fix: fix.metadata.name }, 'incident cleared');
    if (facts.live.gone) await lookForAnother(key, fix, nowMs);
    return nextEpisode(key, facts.live.gone ? (facts.stable?.sinceMs ?? nowMs) : nowMs);
  }

  /** Somebody put another of the same name in its place: what was listed of that one was taken for known. */
  async function lookForAnother(key: string, fix: Remediation, nowMs: number): Promise<void> {
    const seen = book.incidents.get(key) ?? adopted(key, fix);
    const { kind, name } = seen.object;
    const live = isKnownKind(kind) ? await api.get<KubeObject>({ kind, namespace: seen.namespace, name }) : undefined;
    if (live) book.incidents.set(key, { ...seen, object: { kind, name, uid: live.metadata.uid }, lastSeenMs: nowMs });
  }

  /** A signal that came while the end was being written, or after the target was gone, belongs to what comes next. */
  function nextEpisode(key: string, overAtMs: number): Outcome {
    const last = book.incidents.get(key);
    book.incidents.delete(key);
    if (!last || last.lastSeenMs <= overAtMs) return undefined;
    book.incidents.set(key, renewed(last, classOf(last.class, current())));
    return { againInMs: 0 };
  }

  return {
    onSignal(seen) {
      // Until the Remediations were listed nobody knows which of these are already told.
      if (isAdopted) intake.offer(seen);
      else early.set(identityOf(seen), seen);
    },
    onFixes(list) {
      book.replace(list);
      for (const fix of book.open()) queue.add(fix.spec.incident.key);
      isAdopted = true;
      for (const seen of early.values()) intake.offer(seen);
      early.clear();
    },
    onFix(change) {
      const fix = change.type === 'gone' ? book.forget(change) : change.view;
      if (change.type === 'upsert') book.remember(change.view);
      if (fix) queue.addAfter(fix.spec.incident.key, 250);
    },
  };
}
