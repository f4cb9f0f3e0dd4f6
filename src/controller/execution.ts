import type { Plan } from '../actions/action.ts';
import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/live.ts';
import { windowMs } from '../health/stability.ts';
import type { Remediation, RemediationStatus } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';

const longestWindowSeconds = 600;

/** Pure: what Applying persists before anything is changed. */
export function beginExecution(
  fix: Remediation,
  { before, blocked, undo }: Plan,
  { longestUptimeMs, ready: readyBefore }: LiveHealth,
  { recovery }: Config,
  nowMs: number,
): NonNullable<RemediationStatus['execution']> {
  const window = windowMs(fix.spec.incident.class, recovery.stableFor, longestUptimeMs);
  const stableSeconds = Math.min(Math.ceil(window / 1000), longestWindowSeconds);
  return { startedAt: iso(nowMs), before, blocked, undo, stableSeconds, readyBefore };
}
