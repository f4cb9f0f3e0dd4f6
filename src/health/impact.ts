import { moreSevere, type Severity } from '../kube/remediation.ts';
import type { LiveHealth } from './trouble.ts';

/** It wants pods, and none of them is ready: nobody is served. */
export const isDown = ({ ready, desired }: Pick<LiveHealth, 'ready' | 'desired'>): boolean =>
  desired > 0 && ready === 0;

/** The severity that the configuration, or our own table, gives a class of failure. */
export interface ClassSeverity {
  severity: Severity;
  /** The operator chose it in the configuration. Then no impact raises it. */
  isSeverityFixed?: boolean;
}

/**
 * Pure. How severe it is now. A class has a severity of its own, which is the floor; a workload that has no pod ready is
 * critical whatever the class, and so is a cause that takes down one of the workloads it affects. What wants no pods
 * (a Node, a failed Job, an autoscaler) has only the floor. It never falls within an episode: a workload that has one
 * pod back for a moment is as bad as it was.
 */
export function severityNow(
  { severity, isSeverityFixed = false }: ClassSeverity,
  live: Pick<LiveHealth, 'ready' | 'desired' | 'hasOneDown'>,
  before: Severity = 'info',
): Severity {
  if (isSeverityFixed) return severity;
  const impact: Severity = (live.hasOneDown ?? isDown(live)) ? 'critical' : 'info';
  return moreSevere(moreSevere(severity, impact), before);
}
