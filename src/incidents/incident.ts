import type { Config } from '../config/schema.ts';
import type { Root } from '../kube/owners.ts';
import { classOf, type FailureClass } from '../signals/classes.ts';
import { filterOutcome } from '../signals/filter.ts';
import { type Signal, SignalOutcome } from '../signals/signal.ts';
import { isClusterScoped } from './key.ts';

/** One of the failure classes that were seen in an incident. */
export interface SeenClass extends FailureClass {
  class: string;
  reason: string;
  message: string;
  firstMs: number;
  lastMs: number;
  /** The newest time that its signals give for when it happened. */
  saidAtMs?: number;
  /** When patience ends. */
  dueMs: number;
  count: number;
}

/** The trouble of one workload or shared cause, as this process has seen it. */
export interface Incident {
  key: string;
  namespace: string;
  object: Root;
  /**
   * Namespaces of the signals. For a cluster-scoped object (a Node) they show whether a watched namespace is affected.
   */
  seenIn: readonly string[];
  /** The most specific one first: it names the incident, the others are its symptoms. */
  seen: readonly [SeenClass, ...SeenClass[]];
  firstSeenMs: number;
  lastSeenMs: number;
  /** Nothing is posted before this time: the end of the shortest patience of all classes that were seen. */
  dueMs: number;
  count: number;
  /** It was broken before this process started. */
  atStart: boolean;
  /** Key of the shared cause that explains it. While that one is open, this incident is not recorded. */
  symptomOf?: string;
}

export interface SeenSignal {
  key: string;
  namespace: string;
  object: Root;
  signal: Signal;
  row: FailureClass;
  nowMs: number;
  times?: number;
}

/** Pure. The first signal after an episode has ended begins the next one, with all its patience. */
export function renewed(last: Incident): Incident {
  const atMs = last.lastSeenMs;
  const again = (one: SeenClass): SeenClass => ({ ...one, firstMs: atMs, dueMs: atMs + one.forMs, count: 1 });
  const [newest = last.seen[0]] = last.seen.filter(({ lastMs }) => lastMs === atMs);
  const one = again(newest);
  const { symptomOf: _, ...rest } = last;
  return { ...rest, seen: [one], firstSeenMs: atMs, dueMs: one.dueMs, count: 1, atStart: false };
}

/** Pure. The same incident with its whole patience starting again now. */
export function patientAgain(incident: Incident, nowMs: number): Incident {
  const later = (one: SeenClass): SeenClass => ({ ...one, dueMs: nowMs + one.forMs });
  const { symptomOf: _, ...rest } = incident;
  const [first, ...others] = incident.seen;
  return withSeen(rest, [later(first), ...others.map(later)]);
}

/**
 * Pure. The same incident of an object that is new under its name: its failures need all their patience, and signals of
 * the object that is gone prove nothing about a class that only signals can prove.
 */
export function recreated(incident: Incident, object: Root, nowMs: number): Incident {
  const unproven = (one: SeenClass): SeenClass => (one.readable ? one : { ...one, count: 0 });
  const [first, ...others] = incident.seen;
  const seen: Incident['seen'] = [unproven(first), ...others.map(unproven)];
  return patientAgain({ ...incident, object, seen, atStart: false }, nowMs);
}

/** Pure. Adds another signal of the same key: it is counted, and the most specific class names the incident. */
export function fold(before: Incident | undefined, now: SeenSignal): Incident {
  const { key, namespace, object, signal, nowMs, times = 1 } = now;
  const one = foldClass(
    before?.seen.find((it) => it.class === signal.class),
    now,
  );
  if (!before) {
    const { dueMs } = one;
    const atStart = signal.atStart === true;
    const seenIn = [signal.namespace];
    return {
      key,
      namespace,
      object,
      seenIn,
      seen: [one],
      firstSeenMs: nowMs,
      lastSeenMs: nowMs,
      dueMs,
      count: times,
      atStart,
    };
  }
  const seenIn = before.seenIn.includes(signal.namespace) ? before.seenIn : [...before.seenIn, signal.namespace];
  const counted = { ...before, seenIn, lastSeenMs: nowMs, count: before.count + times };
  const others = before.seen.filter((it) => it.class !== signal.class);
  // If two classes are equally specific, the one seen first keeps its place.
  const index = before.seen.findIndex((it) => it.class === signal.class);
  const all = index < 0 ? [...others, one] : before.seen.with(index, one);
  return withSeen({ ...counted, object: object.uid ? object : before.object }, all);
}

function foldClass(before: SeenClass | undefined, { signal, row, nowMs, times = 1 }: SeenSignal): SeenClass {
  const { class: name, reason, message } = signal;
  const saidAtMs = Math.max(before?.saidAtMs ?? 0, signal.saidAtMs ?? 0);
  const said = saidAtMs > 0 ? { saidAtMs } : {};
  if (!before)
    return {
      ...row,
      class: name,
      reason,
      message,
      firstMs: nowMs,
      lastMs: nowMs,
      dueMs: nowMs + row.forMs,
      count: times,
      ...said,
    };
  // Being still in a list is not a second sighting.
  return { ...before, ...said, ...(!signal.listed && { lastMs: nowMs, count: before.count + times }) };
}

/** Pure. The same with these classes, the most specific one first. */
export function withSeen(incident: Incident, all: readonly SeenClass[]): Incident {
  const [first = incident.seen[0], ...others] = all.toSorted((a, b) => b.specificity - a.specificity);
  const seen: Incident['seen'] = [first, ...others];
  return { ...incident, seen, dueMs: Math.min(...seen.map(({ dueMs }) => dueMs)) };
}

/**
 * Pure. Judges an incident that is not recorded yet by this configuration: with the new patience, or dropped with the
 * reason.
 */
export function reconfigured(
  incident: Incident,
  config: Config,
  ownNamespace: string,
): Incident | Exclude<SignalOutcome, 'Kept'> {
  const { kind, name } = incident.object;
  const spaces = isClusterScoped(kind) ? incident.seenIn : [incident.namespace];
  /** For a cluster-scoped object, one affected namespace that is still watched is enough. */
  const outcomeOf = (one: SeenClass): SignalOutcome => {
    const outcomes = spaces.map((namespace) =>
      filterOutcome(config, { class: one.class, namespace, kind, name }, ownNamespace),
    );
    return outcomes.find((outcome) => outcome === SignalOutcome.kept) ?? outcomes[0] ?? SignalOutcome.kept;
  };
  const kept = incident.seen.filter((one) => outcomeOf(one) === SignalOutcome.kept);
  if (kept.length === 0) return outcomeOf(incident.seen[0]) as Exclude<SignalOutcome, 'Kept'>;
  return withSeen(
    incident,
    kept.map((one) => {
      const row = classOf(one.class, config);
      return { ...one, ...row, dueMs: one.dueMs - one.forMs + row.forMs };
    }),
  );
}
