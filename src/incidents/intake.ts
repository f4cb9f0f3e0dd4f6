import type { Config } from '../config/schema.ts';
import type { OwnerResolver, Root } from '../kube/owners.ts';
import { levelOf } from '../kube/outage.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createQueue } from '../lib/queue.ts';
import { classOf } from '../signals/classes.ts';
import { filterOutcome, type Named, type Rules } from '../signals/filter.ts';
import { identityOf, type Signal, SignalOutcome } from '../signals/signal.ts';
import type { Episodes } from './episodes.ts';
import { fold, type Incident, type SeenSignal } from './incident.ts';
import { incidentKey, isClusterScoped } from './key.ts';
import type { LedgerSubject, Ledger } from './ledger.ts';

/** Empty for cluster-scoped objects, although their Events have a namespace. */
export const spaceOf = ({ namespace, object }: Signal): string => (isClusterScoped(object.kind) ? '' : namespace);

/** Judged by the config alone, without knowing the owner: most noise of a busy cluster never costs a request. */
const outcomeFor = (
  config: Config,
  signal: Signal,
  { kind, name }: { kind: string; name: string },
  ownNamespace: string,
): SignalOutcome =>
  filterOutcome(config, { class: signal.class, namespace: spaceOf(signal), kind, name }, ownNamespace);

/** The incident that a signal is part of. */
export interface IncidentPlace {
  key: string;
  namespace: string;
  object: Root;
}

export type Judged =
  { outcome: typeof SignalOutcome.kept; place: IncidentPlace } | { outcome: Exclude<SignalOutcome, 'Kept'> };

/**
 * Pure. The signal is part of an incident, or is dropped with the reason. If there is a shared cause, the incident is
 * the cause's; but somebody who ignores a workload does not want it reported through a shared cause either. `root` is
 * undefined when the owner is unknown.
 */
export function judgeSignal(config: Config, signal: Signal, root: Root | undefined, ownNamespace: string): Judged {
  const place = placeOf(signal, root, ownNamespace);
  if (!place) return { outcome: SignalOutcome.ownerUnknown };
  for (const one of [place.object, ...(root ? [root] : [])]) {
    const outcome = outcomeFor(config, signal, one, ownNamespace);
    if (outcome !== SignalOutcome.kept) return { outcome };
  }
  return { outcome: SignalOutcome.kept, place };
}

/** Pure. The incident that it would be part of, before any filter. */
function placeOf(signal: Signal, root: Root | undefined, ownNamespace: string): IncidentPlace | undefined {
  const object = signal.cause ? { ...signal.cause, uid: '' } : root;
  if (!object) return undefined;
  const namespace = isClusterScoped(object.kind) ? ownNamespace : signal.namespace;
  return { key: incidentKey(namespace, object), namespace, object };
}

interface Asleep {
  incident: Incident;
  /** The objects that the mute was for, if not the incident itself: the workload behind a shared cause. */
  subjects: readonly Named[];
}

/** More than anybody mutes. Above it, the oldest is removed. */
const mostAsleep = 1_000;

/**
 * Incidents that somebody muted: not recorded, but not forgotten either. A workload that stays broken sends no new
 * signal when the mute ends.
 */
export function createMuted() {
  const asleep = new Map<string, Asleep>(); // by key

  function put(key: string, one: Asleep): void {
    asleep.set(key, one);
    const [oldest] = asleep.keys();
    if (oldest !== undefined && asleep.size > mostAsleep) asleep.delete(oldest);
  }

  return {
    /** Adds a muted signal, with the names that the mute may match. */
    add(now: SeenSignal, subjects: readonly Named[]): void {
      put(now.key, { incident: fold(asleep.get(now.key)?.incident, now), subjects });
    },
    /** Keeps an incident that was muted before it was recorded. */
    keep: (incident: Incident): void => put(incident.key, { incident, subjects: [] }),
    /**
     * Returns the incidents that no mute matches any more, as far as can be known here. Each is then judged like any
     * other.
     */
    wake(config: Config, ownNamespace: string): Incident[] {
      const isMuted = (one: Named): boolean => filterOutcome(config, one, ownNamespace) === SignalOutcome.muted;
      const awake = [...asleep.values()].filter(({ subjects }) => !subjects.some(isMuted));
      for (const { incident } of awake) asleep.delete(incident.key);
      return awake.map(({ incident }) => ({ ...incident, atStart: false }));
    },
  };
}
type Muted = ReturnType<typeof createMuted>;

interface IntakeDeps {
  episodes: Episodes;
  clock: Clock;
  log: Log;
  rules(): Rules;
  ownNamespace: string;
  owners: OwnerResolver;
  ledger: Ledger;
  muted: Muted;
  onIncident(key: string): void;
  signal: AbortSignal;
}

/** The same observation, with how often it came before it could be handled. */
export interface Pile {
  signal: Signal;
  times: number;
}

/** The newest signal counts. But one that was news stays news, even if a list repeats it. */
export function piled(before: Pile | undefined, { signal, times }: Pile): Pile {
  if (!before) return { signal, times };
  const { listed, atStart, ...rest } = signal;
  const isListed = listed === true && before.signal.listed === true;
  const wasAtStart = atStart === true || before.signal.atStart === true;
  return {
    signal: { ...rest, ...(isListed && { listed: true }), ...(wasAtStart && { atStart: true }) },
    times: before.times + times,
  };
}

const mostKnown = 8;
const mostAsking = 250;

/** Turns signals into incidents. A signal whose owner cannot be read now is kept and tried again, never lost. */
export function createIntake(deps: IntakeDeps) {
  const { episodes, clock, log, rules, ownNamespace, owners, ledger, muted, onIncident } = deps;
  const pending = new Map<string, Pile>();
  const queueOf = (concurrency: number) =>
    createQueue({
      clock,
      signal: deps.signal,
      concurrency,
      handle: take,
      onError: (of, error, _, failures) =>
        log[levelOf(error, failures)]({ of, err: messageOf(error) }, 'owner could not be read, trying again'),
    });
  const queue = queueOf(mostKnown);
  /** Whether these objects exist must be asked. Many wait together, so that one list answers them all. */
  const askingQueue = queueOf(mostAsking);

  /** A list repeats what was counted and recorded before. That is not news, whenever we happen to start. */
  const isKnownAlready = (s: Signal, key: string): boolean => s.listed === true && episodes.holderOf(key) !== undefined;

  function offer(pile: Pile): void {
    const { signal: s, times } = pile;
    const outcome = outcomeFor(rules(), s, s.object, ownNamespace);
    if (outcome === SignalOutcome.namespaceNotSelected || outcome === SignalOutcome.classDisabled)
      return ledger.ended(outcome, aboutOf(s, s.object, ownNamespace), times);
    const of = identityOf(s);
    pending.set(of, piled(pending.get(of), pile));
    (owners.mustAsk(spaceOf(s), s.object) ? askingQueue : queue).add(of);
  }

  async function take(of: string): Promise<undefined> {
    const waiting = pending.get(of)?.signal;
    if (!waiting) return;
    const root = await owners.rootOf(spaceOf(waiting), waiting.object);
    const found = pending.get(of);
    if (!found) return; // the other queue has taken it
    const { signal: s, times } = found;
    pending.delete(of);
    const about = aboutOf(s, root ?? s.object, ownNamespace);
    const judged = judgeSignal(rules(), s, root, ownNamespace);
    const rowOf = (failureClass: string) => classOf(failureClass, rules());
    const seenAt = (place: IncidentPlace): SeenSignal => ({
      ...place,
      signal: s,
      row: rowOf(s.class),
      nowMs: clock.now(),
      times,
    });
    if (judged.outcome !== SignalOutcome.kept) {
      const place = judged.outcome === SignalOutcome.muted ? placeOf(s, root, ownNamespace) : undefined;
      if (place && !episodes.holderOf(place.key)) muted.add(seenAt(place), namedIn(s, [place.object, root]));
      return void ledger.ended(judged.outcome, about, times);
    }
    const { key } = judged.place;
    const isRecorded = episodes.holderOf(key) !== undefined;
    if (!isKnownAlready(s, key))
      episodes.incidents.set(key, fold(episodes.incidentOf(key, rowOf), seenAt(judged.place)));
    const whole = key === about.workload ? about : { ...about, incident: key };
    if (isRecorded) ledger.ended(SignalOutcome.repeated, whole, times);
    else ledger.waits(key, whole, times);
    onIncident(key);
  }

  return { offer };
}

const namedIn = (s: Signal, some: readonly (Root | undefined)[]): Named[] =>
  some.flatMap((one) => (one ? [{ class: s.class, namespace: spaceOf(s), kind: one.kind, name: one.name }] : []));

export const aboutOf = (
  s: Signal,
  { kind, name }: { kind: string; name: string },
  ownNamespace: string,
): LedgerSubject => ({
  workload: incidentKey(isClusterScoped(kind) ? ownNamespace : s.namespace, { kind, name }),
  class: s.class,
  reason: s.reason,
});
