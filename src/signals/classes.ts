import type { Config } from '../config/schema.ts';
import type { Severity } from '../kube/remediation.ts';

export interface FailureClass {
  severity: Severity;
  /** How long it must have been seen before anyone is told, from our own first observation. */
  forMs: number;
  /** The higher one names the incident when several are seen of one workload. */
  specificity: number;
}

const table: Readonly<Record<string, FailureClass>> = {
  QuotaExceeded: { severity: 'critical', forMs: 10_000, specificity: 90 },
  CrashLoop: { severity: 'critical', forMs: 30_000, specificity: 50 },
};

/** The table's row with what the config changes of it. */
export function classOf(name: string, config: Config): FailureClass {
  const row = table[name] ?? { severity: 'warning', forMs: 120_000, specificity: 0 };
  const own = config.classes[name];
  return { ...row, severity: own?.severity ?? row.severity, forMs: own?.for ?? row.forMs };
}
