import type { LiveHealth } from '../health/live.ts';
import { isCleared, phaseOf, type Remediation, type RemediationSpec } from '../kube/remediation.ts';
import { sameValue } from '../lib/hash.ts';
import { isTrueNow } from './decide.ts';
import type { Incident, SeenClass } from './incident.ts';

/** Nobody is shown another proposal for the same trouble sooner than this, whatever happens meanwhile. */
const shortestLifeMs = 60_000;

/** Of one episode. Who changes it ten times is at work on it, and needs no more proposals. */
export const mostOfAnEpisode = 10;

const undecided: readonly string[] = ['', 'Proposed', 'Noticed'];

/** Pure. Whether a successor may be made at all: nobody has decided, and it is not the newest of many. */
export const mayBeReplaced = (fix: Remediation, openOfKey: number, nowMs: number): boolean =>
  undecided.includes(phaseOf(fix)) &&
  fix.spec.approval.state === 'Pending' &&
  !isCleared(fix) &&
  openOfKey < mostOfAnEpisode &&
  nowMs - Date.parse(fix.metadata.creationTimestamp) >= shortestLifeMs;

/** What was told has not been true at any reading for so long: a moment between two tries does not take its name away. */
const untrueMs = 60_000;

/** Pure. Whether what was told is over, though something else is wrong. `sinceMs`: since when no reading has confirmed it. */
export const isToldOver = (sinceMs: number | undefined, nowMs: number): boolean =>
  sinceMs !== undefined && nowMs - sinceMs >= untrueMs;

/** They say how it ended, not why: what was told with its cause is not told again without. */
const outcomes: ReadonlySet<string> = new Set(['RolloutStuck', 'JobFailed', 'Evicted']);

/**
 * Pure. The class that now names it, of those that are true and whose patience is over: a more specific one than was
 * told, else the same; once that is over, the most specific of those that say why.
 */
export function classNow(
  fix: Remediation,
  { seen }: Incident,
  live: LiveHealth,
  { nowMs, isOver }: { nowMs: number; isOver: boolean },
): SeenClass | undefined {
  const told = seen.find((one) => one.class === fix.spec.incident.class);
  const ready = seen.filter((one) => one.dueMs <= nowMs && isTrueNow(one, live, nowMs));
  const better = ready.find((one) => told !== undefined && one.specificity > told.specificity);
  return (
    better ?? ready.find((one) => one === told) ?? (isOver ? ready.find((one) => !outcomes.has(one.class)) : undefined)
  );
}

/**
 * Pure. Another class, another action, or another target; never other words. That no action can be derived any more says
 * little: after a restart nobody remembers which revisions were healthy.
 */
export function isAnother(fix: Remediation, next: RemediationSpec, targetChanged: boolean): boolean {
  if (next.incident.class !== fix.spec.incident.class || targetChanged) return true;
  return next.action !== undefined && !sameValue(next.action, fix.spec.action);
}
