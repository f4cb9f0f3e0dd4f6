import {
  acknowledgedUntilMs,
  conditionOf,
  isBroken,
  phaseOf,
  type Remediation,
  severityOf,
  snoozedUntil,
} from '../../kube/remediation.ts';

/** How long an answer keeps everybody quiet: long enough to mend it, too short to forget it. */
export const answerMs = 7_200_000;

/** Finds the Remediation that this one replaces or repeats. */
type Before = (fix: Remediation) => Remediation | undefined;

const nobody: Before = () => undefined;

const timeOf = (fix: Remediation, condition: string): number =>
  Date.parse(conditionOf(fix, condition)?.lastTransitionTime ?? '');

/**
 * When the fix that was decided on came to nothing: it failed, or it was approved and never taken up. Answers from before
 * that count no more.
 */
export function failedAtMs(fix: Remediation): number | undefined {
  const phase = phaseOf(fix);
  const isLost = phase === 'Expired' && fix.spec.approval.state === 'Approved';
  const atMs = phase === 'Failed' || isLost ? timeOf(fix, phase) : Number.NaN;
  return Number.isFinite(atMs) ? atMs : undefined;
}

/** When nobody had decided in time. */
export function expiredAtMs(fix: Remediation): number | undefined {
  const atMs = phaseOf(fix) === 'Expired' ? timeOf(fix, 'Expired') : Number.NaN;
  return Number.isFinite(atMs) ? atMs : undefined;
}

/** The controller's time, because `at` may have been written by anybody who may decide. */
function decidedAtMs(fix: Remediation): number | undefined {
  const { state, at } = fix.spec.approval;
  if (state === 'Pending') return undefined;
  const atMs = Date.parse(conditionOf(fix, state)?.lastTransitionTime ?? at ?? '');
  return Number.isFinite(atMs) ? atMs : undefined;
}

function acknowledgement(fix: Remediation, sinceMs: number): number | undefined {
  const untilMs = acknowledgedUntilMs(fix);
  if (untilMs === undefined) return undefined;
  // Somebody acknowledged it with kubectl, and the watcher has not added the end yet.
  if (!Number.isFinite(untilMs)) return sinceMs === Number.NEGATIVE_INFINITY ? Number.POSITIVE_INFINITY : undefined;
  return untilMs - answerMs >= sinceMs ? untilMs : undefined;
}

/** The end of its snooze, past or future. */
export function snoozeEndMs({ metadata }: Remediation): number | undefined {
  const untilMs = Date.parse(metadata.annotations?.[snoozedUntil] ?? '');
  return Number.isFinite(untilMs) ? untilMs : undefined;
}

/**
 * Pure. Until when the last answer keeps it quiet, past or future; undefined if nobody has answered it, or not since its
 * fix failed. An answer to what it replaces counts as well.
 */
export function quietUntilMs(fix: Remediation, before: Before = nobody): number | undefined {
  const failedMs = failedAtMs(fix);
  const decidedMs = failedMs === undefined ? decidedAtMs(fix) : undefined;
  const ends = [
    decidedMs === undefined ? undefined : decidedMs + answerMs,
    acknowledgement(fix, failedMs ?? Number.NEGATIVE_INFINITY),
    snoozeEndMs(fix),
  ];
  const replaced = failedMs === undefined ? before(fix) : undefined;
  if (replaced) ends.push(quietUntilMs(replaced, before));
  const known = ends.filter((end) => end !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** Pure. Broken, and no answer counts at this moment. */
export const isUnanswered = (fix: Remediation, nowMs: number, before?: Before): boolean =>
  isBroken(fix) && !((quietUntilMs(fix, before) ?? Number.NEGATIVE_INFINITY) > nowMs);

/** Pure. Somebody has to be woken for it. */
export const isCriticalAndUnanswered = (fix: Remediation, nowMs: number, before?: Before): boolean =>
  severityOf(fix) === 'critical' && isUnanswered(fix, nowMs, before);

/**
 * Pure. Since when nobody has answered it: since it was posted (`startMs`), since its fix failed, or since the last answer
 * ended.
 */
export const unansweredSinceMs = (fix: Remediation, startMs: number, before?: Before): number =>
  Math.max(startMs, failedAtMs(fix) ?? startMs, quietUntilMs(fix, before) ?? startMs);
