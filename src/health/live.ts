/** What a fresh reading of an incident's target says. Pure: see diagnosis/ for who reads. */
export interface LiveHealth {
  /** By every rule for its class; for a shared cause, of every workload it touches. */
  healthy: boolean;
  /** One clause, when it is not. */
  why: string;
  ready: number;
  desired: number;
  /** The failure classes that are true of it at this reading. What cannot be confirmed is not among them. */
  troubles: readonly string[];
  /** Of troubles that come and go with every rollout: how long the part that has had it longest has had it. */
  lastingMs?: Readonly<Record<string, number>>;
  /** Of a quota: whom it refused would be let in now. */
  hasRoom: boolean;
  /** Of all its pods together. */
  restarts: number;
  /** Of containers that have ended: how long a crash loop lets a pod look fine. */
  longestUptimeMs: number;
  /** "Deployment/api": the workloads a shared cause touches. */
  affected: string[];
  /** It came to its end otherwise than healthy, in words: a Job that failed for good. */
  ended?: string;
  /** The target itself is gone (or is another object of the same name). */
  gone: boolean;
}
