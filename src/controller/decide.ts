import type { ActionPlan, Prepared, ActionRefusal, Trace } from '../actions/action.ts';
import type { Config } from '../config/schema.ts';
import { isApproverIn } from '../config/selection.ts';
import { hasHeldFor, type Stable, windowMs } from '../health/stability.ts';
import { isStillTrue, type LiveHealth } from '../health/trouble.ts';
import { timeMs } from '../kube/raw.ts';
import {
  conditionOf,
  expiresAtMs,
  isAttested,
  isCleared,
  isOver,
  isProposedByProgram,
  isRehearsalUnclear,
  isTrue,
  noAnswer,
  type Phase,
  phaseOf,
  type Remediation,
  type RemediationStatus,
  seenCleared,
  switchedOff,
} from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { unreachable } from '../lib/errors.ts';
import { line } from '../lib/text.ts';
import { because, isWatchedLate, judgeRecovery, latePollMs, notHelped, pollMs, recoveryFacts } from './recovery.ts';

const longestWindowSeconds = 600;

/** Pure: what Applying persists before anything is changed. */
export function beginExecution(
  fix: Remediation,
  { before, blocked, undo }: ActionPlan,
  { longestUptimeMs, ready: readyBefore }: LiveHealth,
  { recovery }: Config,
  nowMs: number,
): NonNullable<RemediationStatus['execution']> {
  const window = windowMs(fix.spec.incident.class, recovery.stableFor, longestUptimeMs);
  const stableSeconds = Math.min(Math.ceil(window / 1000), longestWindowSeconds);
  return { startedAt: iso(nowMs), before, blocked, undo, stableSeconds, readyBefore };
}

/** Everything that a pass knows. A fact that the phase has no rule about is not read and stays undefined. */
export interface ControlFacts {
  fix: Remediation;
  nowMs: number;
  config: Config;
  /** The user of our own credentials. */
  self?: string;
  /** The name of the Remediation that follows this one. */
  successor?: string;
  /** Why nothing may be changed in this namespace. */
  guard?: ActionRefusal;
  /** The name of another Remediation that is being applied to the same target. */
  busy?: string;
  /** How long a failure of this class must have lasted before a chat's approval of its fix is carried out. */
  patienceMs?: number;
  live?: LiveHealth;
  prepared?: Prepared;
  trace?: Trace;
  /** Tries of this process that ended without a clear answer. */
  attempts?: number;
  /** The error of the last try. */
  lastError?: string;
  stable?: Stable;
  /** The last time at which as many were ready as before the fix. */
  asManyAtMs?: number;
  /** How many were ready before the fix, among those that the fix is for. */
  readyBefore?: number;
}

interface Move {
  do: 'move';
  phase: Phase;
  reason: string;
  message: string;
  execution?: RemediationStatus['execution'];
}

export type ControlStep =
  | { do: 'nothing' }
  | { do: 'wait'; untilMs: number }
  /** Make the preview, and check that we would propose the same. */
  | { do: 'rehearse' }
  /** Persist a phase. Nothing in the cluster is changed. */
  | Move
  /** Persist when we first saw that the episode is over. */
  | { do: 'note cleared' }
  /** Perform the fix, which Applying announced. */
  | { do: 'act' }
  /** The fix is in place: nudge the waiting owners, as long as that makes sense, then Applied. */
  | { do: 'finish'; nudge: boolean };

const move = (phase: Phase, reason: string, message: string): Move => ({ do: 'move', phase, reason, message });
const failed = (reason: string, message: string): Move => move('Failed', reason, message);
const wait = (untilMs: number): ControlStep => ({ do: 'wait', untilMs });
const nothing: ControlStep = { do: 'nothing' };

export const interrupted = 'the target was changed otherwise in the meantime; tapfix leaves it alone';

/**
 * An approval that could not be acted on for this long is history (we were down, the target was busy, or the failure
 * was not there).
 */
const longestApprovedMs = 10 * 60_000;

/**
 * How long we wait for a chat user to appear in our own configuration: the kubelet brings a changed one to each pod at
 * its own time.
 */
const longestUnlistedMs = 3 * 60_000;

/** An execution that could not be finished for this long is not resumed. */
const longestApplyingMs = 10 * 60_000;

/** Tries without a clear answer before an untouched target is left alone. */
const mostAttempts = 10;

/**
 * Every rule of the controller.
 *
 *   '' -> Proposed -> Approved -> Applying -> Applied -> Recovered
 *    |       |           |           |           |           ^
 *    |       |           |           +-----------+-> Failed -+ (within 30 minutes, if it was applied)
 *    |       |           +-> Failed, Resolved
 *    |       +-> Rejected, Expired, Resolved, Superseded
 *    +-> Noticed -> Resolved, Superseded
 */
export function decide(facts: ControlFacts, judge = judgeRecovery): ControlStep {
  const { fix } = facts;
  if (fix.metadata.deletionTimestamp) return nothing;
  if (isNewlyCleared(fix)) return { do: 'note cleared' };
  const phase = phaseOf(fix);
  switch (phase) {
    case '':
      return fix.spec.action
        ? move('Proposed', 'Proposed', 'waiting for a decision')
        : move('Noticed', 'NothingSafeToPropose', 'no fix is offered');
    case 'Noticed':
      return overtaken(facts) ?? nothing;
    case 'Proposed':
      return proposed(facts);
    case 'Approved':
      return approved(facts);
    case 'Applying':
      return applying(facts);
    case 'Applied':
      return applied(facts, judge);
    case 'Failed':
      return isWatchedLate(fix, facts.nowMs) && !facts.successor ? failedLate(facts, judge) : nothing;
    case 'Recovered':
    case 'Rejected':
    case 'Expired':
    case 'Resolved':
    case 'Superseded':
      return nothing;
    default:
      return unreachable(phase);
  }
}

/** It is over in every way, and its retention does not count yet: an older version did not record when. */
export const isNewlyCleared = (fix: Remediation): boolean => isOver(fix) && isCleared(fix) && !isTrue(fix, seenCleared);

/** The incident cleared, or a newer proposal replaced this one, while nobody had decided. */
function overtaken({ fix, successor }: ControlFacts): ControlStep | undefined {
  const { reason = '', message = '' } = conditionOf(fix, 'IncidentCleared') ?? {};
  if (isCleared(fix) && ['Gone', 'Ended'].includes(reason))
    return move('Resolved', reason, `${message}, nothing was changed`);
  if (isCleared(fix) && reason === 'NoLongerSeen') return move('Resolved', reason, message);
  if (isCleared(fix)) return move('Resolved', 'HealthyAgain', 'healthy again by itself, nothing was changed');
  if (successor) return move('Superseded', 'Superseded', `replaced by ${successor}`);
  return undefined;
}

/** It is rehearsed and checked once, before anyone is asked. */
export const needsRehearsal = (fix: Remediation): boolean =>
  !conditionOf(fix, 'Rehearsed') || isRehearsalUnclear(fix) || !conditionOf(fix, 'Confirmed');

function proposed(facts: ControlFacts): ControlStep {
  const { fix, nowMs } = facts;
  const { state, by, note } = fix.spec.approval;
  const untilMs = expiresAtMs(fix);
  if (state === 'Rejected') {
    return move('Rejected', 'Rejected', `rejected by ${by ?? 'somebody'}${note ? `: ${note}` : ''}`);
  }
  if (nowMs >= untilMs) {
    const late = state === 'Approved' ? `the approval by ${by ?? 'somebody'} came too late` : 'no decision in time';
    return move('Expired', state === 'Approved' ? 'TooLate' : 'Expired', `${late}, nothing was changed`);
  }
  const gone = overtaken(facts);
  if (gone) return gone;
  // Before any rehearsal: an approval is in time when it is first seen, however long a rehearsal then takes.
  if (state === 'Approved') return move('Approved', 'Approved', `approved by ${by ?? 'somebody'}`);
  return needsRehearsal(fix) ? { do: 'rehearse' } : wait(untilMs);
}

function approved(facts: ControlFacts): ControlStep {
  const { fix, config, guard, live, prepared, busy, nowMs } = facts;
  if (guard) return failed(guard.reason, guard.say);
  const approvedAtMs = timeMs(conditionOf(fix, 'Approved')?.lastTransitionTime);
  const unlisted = notListed(facts, approvedAtMs);
  if (unlisted) return unlisted;
  // A healthy target is watched until it has held for the window, and is then Resolved. Patience does not use up the
  // approval.
  const patienceMs = isAttested(fix.spec.approval.by) ? (facts.patienceMs ?? 0) : 0;
  if (nowMs > approvedAtMs + patienceMs + longestApprovedMs && !live?.healthy) {
    const within = `it could not be applied within ${spokenDuration(longestApprovedMs)} of the approval`;
    return failed('TooLate', `${within}${because(live)}; nothing was changed`);
  }
  if (needsRehearsal(fix)) return { do: 'rehearse' };
  const type = fix.spec.action?.type ?? 'nothing';
  if (needsConfirmation(facts, approvedAtMs) && !isTrue(fix, 'Confirmed')) {
    return failed('NotConfirmed', conditionOf(fix, 'Confirmed')?.message ?? 'the fix could not be confirmed');
  }
  if (!config.actions.allow.includes(type)) return failed('NotAllowed', `${type} is not allowed by the configuration`);
  if (!isTrue(fix, 'Rehearsed')) {
    return failed('RehearsalFailed', conditionOf(fix, 'Rehearsed')?.message ?? 'the rehearsal failed');
  }
  if (live?.healthy) return healed(facts);
  if (!live) return nothing;
  if (!prepared) return wait(nowMs + pollMs);
  if (!prepared.ok) return failed(prepared.reason, prepared.say);
  if (prepared.targetHash !== fix.status?.preview?.targetHash) {
    return failed('TargetChanged', 'the target has changed since this was shown; nothing was changed');
  }
  // Wait, because this may hold only for a moment: between two tries of a ReplicaSet the quota has room, or nothing
  // crashes right now.
  if (busy || !isStillWrong(facts, live) || nowMs < troubledSinceMs(facts, live) + patienceMs)
    return wait(nowMs + pollMs);
  return {
    do: 'move',
    phase: 'Applying',
    reason: 'Applying',
    message: 'the fix is being applied',
    execution: beginExecution(fix, prepared, { ...live, ready: facts.readyBefore ?? live.ready }, config, nowMs),
  };
}

/**
 * The watcher says that a chat user approved. What we can know ourselves is whether our own configuration lists that user
 * for this namespace, and has a channel of that kind.
 */
function notListed({ fix, config, nowMs }: ControlFacts, approvedAtMs: number): ControlStep | undefined {
  const { by = '' } = fix.spec.approval;
  const { namespace = '' } = fix.metadata;
  if (!isAttested(by) || isApproverIn(config, by, namespace)) return undefined;
  const untilMs = approvedAtMs + longestUnlistedMs;
  if (nowMs < untilMs) return wait(Math.min(untilMs, nowMs + pollMs)); // the configuration may have changed by then
  const who = `${by} is not an approver for ${namespace} in the controller's configuration`;
  return failed('NotAnApprover', `${who}; nothing was changed`);
}

/**
 * Since when it has had this trouble, by the times in the objects' own status. A trouble that has no time of its own
 * counts from the first sign of it in their status, or from our own first look at the proposal, whichever is earlier.
 */
function troubledSinceMs({ fix, nowMs }: ControlFacts, { lastingMs, brokenSinceMs = nowMs }: LiveHealth): number {
  const lasting = lastingMs?.[fix.spec.incident.class] ?? Number.POSITIVE_INFINITY;
  if (Number.isFinite(lasting)) return nowMs - lasting;
  const { lastTransitionTime } = conditionOf(fix, 'Proposed') ?? conditionOf(fix, 'Approved') ?? {};
  return Math.min(timeMs(lastTransitionTime), brokenSinceMs);
}

/**
 * A program proposes a fix for one class of failure, and that class must be wrong now. A person who proposes has looked
 * at it, so it is enough that it is not healthy.
 */
const isStillWrong = ({ fix, self }: ControlFacts, live: LiveHealth): boolean =>
  isProposedByProgram(fix, self) ? isStillTrue(fix.spec.incident.class, live) : !live.hasRoom;

/**
 * A Kubernetes user may approve a fix that another user proposed and tapfix would not: it is their own decision. For an
 * approval that the watcher reports for a chat user, for a program's proposal, and for a fix that nobody had been shown
 * yet, tapfix must derive the same fix itself.
 */
function needsConfirmation({ fix, self }: ControlFacts, approvedAtMs: number): boolean {
  const { by } = fix.spec.approval;
  const wasShown = timeMs(fix.status?.preview?.at) < approvedAtMs;
  return isAttested(by) || !by || isProposedByProgram(fix, self) || !wasShown;
}

function hasHeld({ fix, live, stable, config, nowMs }: ControlFacts): boolean {
  const window = windowMs(fix.spec.incident.class, config.recovery.stableFor, live?.longestUptimeMs ?? 0);
  return hasHeldFor(stable, window, nowMs);
}

/**
 * A crash loop looks fine between two crashes. So it counts as healed only if it has held for the window, and is
 * watched until then.
 */
function healed(facts: ControlFacts): ControlStep {
  const { fix, live, nowMs } = facts;
  if (!hasHeld(facts)) return wait(nowMs + pollMs);
  if (live?.gone) return move('Resolved', 'Gone', 'it is no longer there, nothing was changed');
  if (live?.ended) return move('Resolved', 'Ended', `${live.ended}, nothing was changed`);
  const how = fix.spec.incident.class === 'QuotaExceeded' ? 'nobody is refused any more' : 'already healthy';
  return move('Resolved', 'AlreadyHealthy', `${how}, nothing changed`);
}

const startedAtMs = ({ status }: Remediation): number => timeMs(status?.execution?.startedAt);

/** Longer than an uninterrupted execution takes, so the target may have changed by now. */
export const wasInterrupted = (fix: Remediation, nowMs: number): boolean => nowMs > startedAtMs(fix) + 60_000;

function applying(facts: ControlFacts): ControlStep {
  switch (facts.trace) {
    case 'ours':
      return { do: 'finish', nudge: isWorthANudge(facts) };
    case 'untouched':
      return whyNotAnyMore(facts) ?? { do: 'act' };
    case 'other':
      return failed('Interrupted', interrupted);
    default:
      return nothing;
  }
}

/** The waiting owners retry by themselves, only later. That is no reason to stay in Applying for ever. */
const isWorthANudge = ({ fix, attempts = 0, nowMs }: ControlFacts): boolean =>
  attempts < mostAttempts && nowMs <= startedAtMs(fix) + longestApplyingMs;

/** The approval was for an earlier moment. Nothing was changed yet, so it is safe to stop here. */
function whyNotAnyMore(facts: ControlFacts): ControlStep | undefined {
  const { fix, guard, config, live, attempts = 0, lastError = '', nowMs } = facts;
  const type = fix.spec.action?.type ?? 'nothing';
  if (guard) return failed(guard.reason, guard.say);
  if (!config.actions.allow.includes(type)) return failed('NotAllowed', `${type} is not allowed by the configuration`);
  if (nowMs > startedAtMs(fix) + longestApplyingMs)
    return failed(
      'TooLate',
      `it could not be applied within ${spokenDuration(longestApplyingMs)}; nothing was changed`,
    );
  if (live?.healthy)
    return hasHeld(facts)
      ? failed('AlreadyHealthy', 'already healthy by now; nothing was changed')
      : wait(nowMs + pollMs);
  if (attempts < mostAttempts) return undefined;
  const why = lastError && `: ${line(lastError, 512)}`;
  return failed(noAnswer, `the API server did not take the change after ${attempts} tries${why}; nothing was changed`);
}

function applied(facts: ControlFacts, judge: typeof judgeRecovery): ControlStep {
  const about = recoveryFacts(facts.fix, facts);
  switch (judge(about)) {
    case 'recovered':
      return recovered(facts, about.windowMs);
    case 'out of time':
      return { ...failed('NotRecovered', ''), ...notHelped(facts.fix, facts) };
    case 'not yet':
      return wait(facts.nowMs + pollMs);
    default:
      return nothing;
  }
}

/** A target that was to be switched off has ended, and is not called healthy. */
function recovered({ fix, live }: ControlFacts, windowMs: number): ControlStep {
  const held = `${live?.ended ?? 'healthy again'}, held ${spokenDuration(windowMs)}`;
  const step = move('Recovered', live?.ended ? switchedOff : 'Recovered', held);
  const stableSeconds = Math.ceil(windowMs / 1000);
  // It was seen to live longer than before the fix, so it had to hold longer than planned.
  return stableSeconds > (fix.status?.execution?.stableSeconds ?? 0) ? { ...step, execution: { stableSeconds } } : step;
}

function failedLate(facts: ControlFacts, judge: typeof judgeRecovery): ControlStep {
  const about = recoveryFacts(facts.fix, facts);
  return judge(about) === 'recovered' ? recovered(facts, about.windowMs) : wait(facts.nowMs + latePollMs);
}
