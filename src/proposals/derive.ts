import type { Config } from '../config/schema.ts';
import type { History } from '../health/history.ts';
import type { Reader } from '../kube/api.ts';
import type { ActionSpec } from '../kube/remediation.ts';

export interface Subject {
  namespace: string;
  class: string;
  object: { kind: string; name: string; uid: string };
}

/** What tapfix would say and do about a subject, from one reading of the live cluster. */
export interface Derived {
  diagnosis: string;
  changed: string[];
  evidence: string[];
  rationale: string;
  /** Absent: nothing safe to propose, `rationale` says why. */
  action?: ActionSpec;
}

export interface DeriveDeps {
  reader: Reader;
  history: History;
  config: Config;
  nowMs: number;
}

export declare function derive(subject: Subject, deps: DeriveDeps): Promise<Derived>;
