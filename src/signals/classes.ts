import type { Config } from '../config/schema.ts';
import type { ClassSeverity } from '../health/impact.ts';
import type { Severity } from '../kube/remediation.ts';

/** Its severity is the least that an incident of this class has (health/impact.ts). */
export interface FailureClass extends ClassSeverity {
  /** How long it must have been seen before anything is posted, from our own first observation. */
  forMs: number;
  /** When several classes are seen for one workload, the highest names the incident. */
  specificity: number;
  /**
   * Whether the live object shows if it is still true. If only events report it, nothing can be read again: such a
   * class needs a second sighting before it is posted, and ends as "no longer seen", never as "recovered".
   */
  readable: boolean;
}

const seconds = 1_000;
const minutes = 60_000;
const row = (severity: Severity, forMs: number, specificity: number): FailureClass => ({
  severity,
  forMs,
  specificity,
  readable: true,
});

/**
 * Every failure class. The more a class says about the cause, the higher its specificity: a lower one is often only a
 * symptom of the same failure.
 */
const table: Readonly<Record<string, FailureClass>> = {
  NodeDown: row('critical', 1 * minutes, 100),
  QuotaExceeded: row('critical', 10 * seconds, 90),
  CreateRejected: row('critical', 10 * seconds, 85),
  ConfigMissing: row('critical', 30 * seconds, 80),
  ImagePull: row('critical', 30 * seconds, 75),
  OOMKilled: row('critical', 0, 70),
  CrashLoop: row('critical', 30 * seconds, 60),
  StorageFailed: row('warning', 3 * minutes, 55),
  VolumeStuck: row('warning', 3 * minutes, 50),
  SandboxFailed: row('warning', 2 * minutes, 45),
  Unschedulable: row('warning', 2 * minutes, 40),
  ProbeFailing: row('warning', 2 * minutes, 30),
  RolloutStuck: row('warning', 0, 20),
  JobFailed: row('warning', 0, 15),
  Evicted: row('warning', 1 * minutes, 10),
  AutoscalerBlind: row('info', 5 * minutes, 5),
};

const unknown: FailureClass = { severity: 'warning', forMs: 2 * minutes, specificity: 0, readable: false };

/** The table's row, or the row for an operator's own event reason, with the changes that the config makes to it. */
export function classOf(name: string, config: Config): FailureClass {
  const known = Object.hasOwn(table, name) ? table[name]! : ownRow(name, config);
  const own = Object.hasOwn(config.classes, name) ? config.classes[name] : undefined;
  return {
    ...known,
    severity: own?.severity ?? known.severity,
    isSeverityFixed: own?.severity !== undefined,
    forMs: own?.for ?? known.forMs,
  };
}

function ownRow(name: string, { extraReasons }: Config): FailureClass {
  const extra = extraReasons.find((one) => one.class === name);
  return extra ? { ...unknown, severity: extra.severity, forMs: extra.for } : unknown;
}
