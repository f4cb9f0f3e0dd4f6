import type { Severity } from '../kube/remediation.ts';
import type { FailureClass } from '../signals/classes.ts';
import type { Signal } from '../signals/signal.ts';
import type { Root } from './owner.ts';

/** What is wrong with one workload or shared cause, as this process has seen it. */
export interface Incident {
  key: string;
  namespace: string;
  object: Root;
  class: string;
  severity: Severity;
  specificity: number;
  reason: string;
  message: string;
  firstSeenMs: number;
  lastSeenMs: number;
  /** Patience ends here; until then nobody is told. */
  dueMs: number;
  count: number;
}

export interface Seen {
  key: string;
  object: Root;
  signal: Signal;
  row: FailureClass;
  nowMs: number;
}

/** Pure. The first signal after an episode has ended begins the next one, with all its patience. */
export const renewed = (last: Incident, { forMs, specificity }: FailureClass): Incident => ({
  ...last,
  specificity,
  firstSeenMs: last.lastSeenMs,
  dueMs: last.lastSeenMs + forMs,
  count: 1,
});

/** Pure. Another signal of the same key: counted, and the most specific class names it. */
export function fold(before: Incident | undefined, { key, object, signal, row, nowMs }: Seen): Incident {
  const named = {
    class: signal.class,
    severity: row.severity,
    specificity: row.specificity,
    reason: signal.reason,
    message: signal.message,
  };
  if (!before) {
    const firstSeenMs = nowMs;
    return {
      key,
      namespace: signal.namespace,
      object,
      ...named,
      firstSeenMs,
      lastSeenMs: nowMs,
      dueMs: nowMs + row.forMs,
      count: 1,
    };
  }
  const again = { ...before, lastSeenMs: nowMs, count: before.count + 1, object: object.uid ? object : before.object };
  if (row.specificity <= before.specificity) return again;
  return { ...again, ...named, dueMs: Math.min(before.dueMs, nowMs + row.forMs) };
}
