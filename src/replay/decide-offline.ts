import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { decidePending, silenceMs } from '../incidents/decide.ts';
import { type Incident, patientAgain, type SeenClass } from '../incidents/incident.ts';
import { classNow, mayBeReplaced } from '../incidents/open.ts';
import { sharedCauseOf } from '../incidents/pending.ts';
import type { Remediation } from '../kube/remediation.ts';
import { classOf } from '../signals/classes.ts';
import { SignalOutcome } from '../signals/signal.ts';

/** Replaces the fresh reading of a live object. */
interface Future {
  /** Records that the same failure of the same incident was seen at that time. */
  put(key: string, failureClass: string, atMs: number): void;
  read(key: string, seen: readonly SeenClass[], nowMs: number): LiveHealth;
}

/**
 * There is no cluster to read again, but a recording knows what came next. A failure counts as still true at a moment
 * if the recording has the same failure of the same incident at that moment, or within the next quarter of an hour
 * (three times its patience, if that is longer). That is as long as a failure counts that only events report.
 */
export function createFuture(): Future {
  const times = new Map<string, number[]>(); // ascending
  const of = (key: string, failureClass: string): string => `${key} ${failureClass}`;

  function isSeenAgain(key: string, { class: failureClass, forMs }: SeenClass, nowMs: number): boolean {
    const next = nextFrom(times.get(of(key, failureClass)) ?? [], nowMs);
    return next !== undefined && next - nowMs < silenceMs(forMs);
  }

  return {
    put(key, failureClass, atMs) {
      const own = times.get(of(key, failureClass)) ?? [];
      own.push(atMs);
      times.set(of(key, failureClass), own);
    },
    read(key, seen, nowMs) {
      const troubles = seen.filter((one) => isSeenAgain(key, one, nowMs)).map((one) => one.class);
      const lastingMs = Object.fromEntries(seen.map((one) => [one.class, nowMs - one.firstMs]));
      return {
        healthy: troubles.length === 0,
        why: '',
        troubles,
        lastingMs,
        ready: 0,
        desired: 0,
        hasRoom: false,
        restarts: 0,
        longestUptimeMs: 0,
        affected: [],
        gone: false,
      };
    },
  };
}

/** The first time that is not earlier than `fromMs`. */
function nextFrom(ascending: readonly number[], fromMs: number): number | undefined {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle]! < fromMs) low = middle + 1;
    else high = middle;
  }
  return ascending[low];
}

/* Pure. The tracker's steps for one incident, with a recording instead of the cluster. */

/** The state of a key. */
export interface Open {
  incident: Incident;
  /** The workloads that it affects, if it is a shared cause. */
  affected: Set<string>;
  /** Present once it was recorded. */
  fix?: Remediation;
}

interface OfflineFacts {
  live: LiveHealth;
  /** Recorded Remediations of shared causes that are not over. */
  openCauses: readonly Remediation[];
  /** tapfix's own namespace. */
  ownNamespace: string;
  config: Config;
  nowMs: number;
  /** When the recording ends; what came after it is unknown. */
  untilMs: number;
}

export type OfflineStep =
  | { do: 'wait'; untilMs: number; incident?: Incident }
  | { do: 'tell'; as: SeenClass }
  | { do: 'explain'; incident: Incident; untilMs: number }
  | { do: 'forget'; outcome: SignalOutcome };

const outcomes = {
  gone: SignalOutcome.targetGone,
  healed: SignalOutcome.healedBeforeTold,
  untrue: SignalOutcome.noLongerTrue,
  unseen: SignalOutcome.noLongerSeen,
} as const;

const symptomMs = 30_000;
const never = Number.POSITIVE_INFINITY;

/** It was recorded, and then not seen for so long that it would be "no longer seen". */
export const isOver = ({ incident, fix }: Open, config: Config, nowMs: number): boolean =>
  fix !== undefined && nowMs - incident.lastSeenMs >= silenceMs(classOf(fix.spec.incident.class, config).forMs);

export function nextStep({ incident, fix }: Open, facts: OfflineFacts): OfflineStep {
  return fix ? stepOfOpen(fix, incident, facts) : stepOfPending(incident, facts);
}

/** Not seen again, within the recording, for long enough to mean something. */
const isSilent = ({ lastMs, forMs }: SeenClass, untilMs: number): boolean => untilMs - lastMs >= silenceMs(forMs);

function stepOfPending(
  incident: Incident,
  { live, openCauses, ownNamespace, config, nowMs, untilMs }: OfflineFacts,
): OfflineStep {
  if (nowMs < incident.dueMs) return { do: 'wait', untilMs: incident.dueMs };
  const cause = sharedCauseOf(incident, openCauses, ownNamespace);
  if (cause) {
    const symptomOf = cause.spec.incident.key;
    return { do: 'explain', incident: { ...incident, symptomOf }, untilMs: nowMs + symptomMs };
  }
  if (incident.symptomOf) {
    const patient = patientAgain(incident, nowMs);
    return { do: 'wait', untilMs: patient.dueMs, incident: patient };
  }
  const { seen, lastSeenMs } = incident;
  const stable = live.healthy ? { sinceMs: lastSeenMs, restarts: 0, readAtMs: nowMs } : undefined;
  const step = decidePending({
    class: seen[0].class,
    longestUptimeMs: 0,
    live,
    stable,
    config,
    nowMs,
    seen,
    lastSeenMs,
  });
  if (step.do === 'wait') return { do: 'wait', untilMs: nowMs + Math.max(step.ms, 1) };
  if (step.do === 'forget' && !seen.every((one) => isSilent(one, untilMs))) return { do: 'wait', untilMs: never };
  return step.do === 'tell' ? step : { do: 'forget', outcome: outcomes[step.because] };
}

/**
 * The incident is recorded, but another class may name it by now: then the same message is edited. A class that is not
 * true here was not seen again for a quarter of an hour, so this is not just a moment between two tries.
 */
function stepOfOpen(fix: Remediation, incident: Incident, { live, nowMs, untilMs }: OfflineFacts): OfflineStep {
  const recorded = incident.seen.find((one) => one.class === fix.spec.incident.class);
  const as = classNow(fix, incident, live, { nowMs, isOver: recorded !== undefined && isSilent(recorded, untilMs) });
  const later = incident.seen.filter(({ dueMs }) => dueMs > nowMs).map(({ dueMs }) => dueMs);
  if (!as || as.class === fix.spec.incident.class) return { do: 'wait', untilMs: Math.min(never, ...later) };
  return mayBeReplaced(fix, 1, nowMs) ? { do: 'tell', as } : { do: 'wait', untilMs: nowMs + 1_000 };
}
