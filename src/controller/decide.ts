import type { ActionPlan, Prepared, ActionRefusal, Trace } from '../actions/action.ts';
import type { Config } from '../config/schema.ts';
import { hasHeldFor, type Stable, windowMs } from '../health/stability.ts';
import { isStillTrue, type LiveHealth } from '../health/trouble.ts';
import { timeMs } from '../kube/raw.ts';
import {
  conditionOf,
  expiresAtMs,
  isAttested,
  isCleared,
  isProposedByProgram,
  isRehearsalUnclear,
  isTrue,
  noAnswer,
  type Phase,
  phaseOf,
  type Remediation,
  type RemediationStatus,
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

/** All that a pass knows. What a phase has no rule about is not read and stays undefined. */
export interface ControlFacts {
  fix: Remediation;
  nowMs: number;
  config: Config;
  /** Who we are ourselves. */
  self?: string;
  /** The name of the Remediation that follows this one. */
  successor?: string;
  /** Why nothing may be changed in this namespace. */
  guard?: ActionRefusal;
  /** The name of another Remediation that is at work on the same target. */
  busy?: string;
  live?: LiveHealth;
  prepared?: Prepared;
  trace?: Trace;
  /** Tries of this process that ended without a clear answer. */
  attempts?: number;
  /** What came of the last of them. */
  lastError?: string;
  stable?: Stable;
  /** When as many as before the fix were last ready. */
  asManyAtMs?: number;
  /** How many of what the fix is for are ready before it. */
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
  /** Preview and the check that we would propose the same. */
  | { do: 'rehearse' }
  /** Persist a phase. Nothing of the cluster's is changed. */
  | Move
  /** Perform the fix, which Applying announced. */
  | { do: 'act' }
  /** The fix is in place: nudge who waits, as long as that makes sense, then Applied. */
  | { do: 'finish'; nudge: boolean };

const move = (phase: Phase, reason: string, message: string): Move => ({ do: 'move', phase, reason, message });
const failed = (reason: string, message: string): Move => move('Failed', reason, message);
const wait = (untilMs: number): ControlStep => ({ do: 'wait', untilMs });
const nothing: ControlStep = { do: 'nothing' };

export const interrupted = 'the target was changed otherwise in the meantime; tapfix leaves it alone';

/** An approval that could not be acted on for this long (we were down, the target was busy, it was not true) is history. */
const longestApprovedMs = 10 * 60_000;

/** An execution that could not be finished for this long is not taken up again. */
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

/** The world moved on while nobody had decided. */
function overtaken({ fix, successor }: ControlFacts): ControlStep | undefined {
  const { reason = '', message = '' } = conditionOf(fix, 'IncidentCleared') ?? {};
  if (isCleared(fix) && ['Gone', 'Ended'].includes(reason))
    return move('Resolved', reason, `${message}, nothing was changed`);
  if (isCleared(fix) && reason === 'NoLongerSeen') return move('Resolved', reason, message);
  if (isCleared(fix)) return move('Resolved', 'HealthyAgain', 'healthy again by itself, nothing was changed');
  if (successor) return move('Superseded', 'Superseded', `replaced by ${successor}`);
  return undefined;
}

/** Rehearsed and checked once, before anyone is asked. */
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
    const late = state === 'Approved' ? `the approval by ${by ?? 'somebody'} came too late` : 'nobody decided in time';
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
  // What is healthy is watched until that has held: it comes to its own end.
  if (nowMs > approvedAtMs + longestApprovedMs && !live?.healthy) {
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
  // Not at this moment: between two tries of a ReplicaSet the quota has room, or nothing crashes just now.
  if (busy || !isStillWrong(facts, live)) return wait(nowMs + pollMs);
  return {
    do: 'move',
    phase: 'Applying',
    reason: 'Applying',
    message: 'the fix is being applied',
    execution: beginExecution(fix, prepared, { ...live, ready: facts.readyBefore ?? live.ready }, config, nowMs),
  };
}

/**
 * What a program proposed is for one kind of failure, and that must be what is wrong now. A person who proposes has
 * looked: that it is not healthy is enough.
 */
const isStillWrong = ({ fix, self }: ControlFacts, live: LiveHealth): boolean =>
  isProposedByProgram(fix, self) ? isStillTrue(fix.spec.incident.class, live) : !live.hasRoom;

/**
 * A Kubernetes user may approve what another one proposed and tapfix would not: it is their own word. What the watcher
 * says of a chat user, what a program proposed, and what nobody had been shown yet, tapfix must come to by itself.
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

/** A crash loop looks fine between two crashes: only what has held for the window is healed, and until then it is watched. */
function healed(facts: ControlFacts): ControlStep {
  const { fix, live, nowMs } = facts;
  if (!hasHeld(facts)) return wait(nowMs + pollMs);
  if (live?.gone) return move('Resolved', 'Gone', 'it is no longer there, nothing was changed');
  if (live?.ended) return move('Resolved', 'Ended', `${live.ended}, nothing was changed`);
  const how = fix.spec.incident.class === 'QuotaExceeded' ? 'nobody is refused any more' : 'already healthy';
  return move('Resolved', 'AlreadyHealthy', `${how}, nothing changed`);
}

const startedAtMs = ({ status }: Remediation): number => timeMs(status?.execution?.startedAt);

/** Longer than an uninterrupted execution takes: the world may be another one by now. */
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

/** Who waits retries by itself, only later: no reason to call it "applying" for ever. */
const isWorthANudge = ({ fix, attempts = 0, nowMs }: ControlFacts): boolean =>
  attempts < mostAttempts && nowMs <= startedAtMs(fix) + longestApplyingMs;

/** The approval was for then. Nothing was changed yet, so leaving it at that is safe. */
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

/** What was to be switched off has ended, and is not called healthy. */
function recovered({ fix, live }: ControlFacts, windowMs: number): ControlStep {
  const held = `${live?.ended ?? 'healthy again'}, held ${spokenDuration(windowMs)}`;
  const step = move('Recovered', live?.ended ? switchedOff : 'Recovered', held);
  const stableSeconds = Math.ceil(windowMs / 1000);
  // It was seen to live longer than before the fix, so it had to hold longer than was foreseen.
  return stableSeconds > (fix.status?.execution?.stableSeconds ?? 0) ? { ...step, execution: { stableSeconds } } : step;
}

function failedLate(facts: ControlFacts, judge: typeof judgeRecovery): ControlStep {
  const about = recoveryFacts(facts.fix, facts);
  return judge(about) === 'recovered' ? recovered(facts, about.windowMs) : wait(facts.nowMs + latePollMs);
}
