import {
  conditionOf,
  expiresAtMs,
  isBroken,
  madeItWorse,
  type Phase,
  phaseOf,
  type Remediation,
  severityRank,
  switchedOff,
} from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { unreachable } from '../../lib/errors.ts';
import { redact } from '../../lib/redact.ts';
import { naturalOrder } from '../../lib/text.ts';
import type { CardContext } from './card-context.ts';
import { fixWords } from './fix-words.ts';
import type { Dot } from './message.ts';
import {
  affectedInWords,
  affectedNames,
  isQuota,
  placeOf,
  subjectFirst,
  subjectOf,
  whatIsBroken,
  withReadiness,
} from './subject.ts';
import { timesIn } from './times.ts';

interface Head {
  dot: Dot;
  headline: string;
}

/** A chat writes spec.approval first, then the controller changes the phase. The card must not wait for that. */
export function shownPhase(fix: Remediation): Phase {
  const phase = phaseOf(fix);
  if (phase !== '' && phase !== 'Proposed') return phase;
  if (!fix.spec.action) return 'Noticed';
  const { state } = fix.spec.approval;
  return state === 'Pending' ? 'Proposed' : state;
}

/** The proposal is over. What it was about may still be broken. */
export const isOverInChat = (fix: Remediation): boolean =>
  ['Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded'].includes(shownPhase(fix));

/** Nobody has to look at it any more: the proposal is over, and so is what it was about. */
export const isSettled = (fix: Remediation): boolean => isOverInChat(fix) && !isBroken(fix);

/** It is not certain that anything was changed, because somebody else changed the object as well. */
export const wasInterrupted = (fix: Remediation): boolean =>
  fix.status?.execution?.startedAt !== undefined && conditionOf(fix, 'Failed')?.reason === 'Interrupted';

/** Nobody decided, or the fix failed, and it is still broken. A rejection is an answer. */
export const isUnattended = (fix: Remediation): boolean =>
  ['Expired', 'Failed'].includes(shownPhase(fix)) && isBroken(fix);

/** It may be proposed once more: nothing was changed, and it is still broken. A fix that did not help is not repeated. */
export const mayBeProposedAgain = (fix: Remediation): boolean =>
  fix.spec.action !== undefined && isUnattended(fix) && fix.status?.execution?.appliedAt === undefined;

/** The dot and the sentence of a card. In a list of several namespaces `name` has the namespace as well. */
export function headOf(fix: Remediation, context: CardContext, name = subjectFirst(fix)): Head {
  const phase = shownPhase(fix);
  switch (phase) {
    case 'Proposed':
    case 'Noticed':
      return { dot: 'red', headline: whatIsBroken(fix, { name }) }; // the controller resolves it once it is cleared
    case 'Approved':
      return { dot: 'yellow', headline: `${name}: about to ${fixWords(fix).does}, ${decided(fix, context)}` };
    case 'Applying':
      return { dot: 'yellow', headline: `${name}: ${fixWords(fix).doing}, ${decided(fix, context)}` };
    case 'Applied':
      return { dot: 'blue', headline: `${withReadiness(`${name}: ${fixWords(fix).done}`, fix)}, watching` };
    case 'Recovered':
      return { dot: 'green', headline: recovered(fix, name) };
    case 'Failed':
    case 'Rejected':
    case 'Expired':
      return isBroken(fix) ? { dot: 'red', headline: stillBroken(fix, name, context) } : overHead(fix, name, context);
    case 'Resolved':
      return { dot: 'grey', headline: resolved(fix, name) };
    case 'Superseded':
      return { dot: 'grey', headline: `${name}: a newer proposal replaced this one` };
    default:
      return unreachable(phase);
  }
}

/** It is over without us, as the watcher saw, whatever became of the proposal. */
const overHead = (fix: Remediation, name: string, context: CardContext): Head => ({
  dot: 'grey',
  headline: `${wellAgain(fix, name, 'IncidentCleared')}. ${whatWasDone(fix, context)}`,
});

/** When the shown phase began, from its condition. */
export const endedAt = (fix: Remediation): string | undefined => conditionOf(fix, shownPhase(fix))?.lastTransitionTime;

/**
 * A decision made with kubectl has no time of its own (the API server cannot stamp one). Then this is when the
 * controller saw it.
 */
export function decidedAt(fix: Remediation): string | undefined {
  const { at, state } = fix.spec.approval;
  return at ?? conditionOf(fix, state)?.lastTransitionTime;
}

const vendors: Readonly<Record<string, string>> = {
  telegram: 'Telegram',
  slack: 'Slack',
  console: 'console',
  kubernetes: 'Kubernetes',
};

/** "approved by Ada (Slack)": who it was, and where. */
export function decided({ spec: { approval } }: Remediation, { nameOf }: Pick<CardContext, 'nameOf'>): string {
  const { state, by, via = /^(telegram|slack):/.exec(by ?? '')?.[1] ?? 'kubernetes' } = approval;
  const where = Object.hasOwn(vendors, via) ? vendors[via] : redact(via);
  return `${state.toLowerCase()}${by ? ` by ${redact(nameOf(by))}` : ''} (${where})`;
}

const spokenBetween = (from: string | undefined, to: string | undefined): string => {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isFinite(ms) ? spokenDuration(ms) : '';
};

/** If not all are ready, the watcher's count is older than the reading that found it healthy. */
function withReadinessOfAll(text: string, fix: Remediation): string {
  const { ready = 0, desired = 0 } = fix.status?.sightings ?? {};
  return ready >= desired ? withReadiness(text, fix) : text;
}

function recovered(fix: Remediation, name: string): string {
  const { appliedAt, stableSeconds } = fix.status?.execution ?? {};
  const isMany = isQuota(fix) && affectedNames(fix).length > 0;
  const who = isMany ? `${affectedInWords(fix)} behind ${subjectOf(fix)}` : name;
  const took = spokenBetween(appliedAt, endedAt(fix));
  const isOff = conditionOf(fix, 'Recovered')?.reason === switchedOff;
  const are = isMany && affectedNames(fix).length > 1 ? 'are' : 'is';
  const words = `${who} ${are} ${isOff ? 'switched off as asked' : 'healthy again'}${took ? ` after ${took}` : ''}`;
  const text = isOff ? words : withReadinessOfAll(words, fix);
  return stableSeconds ? `${text}, stable for ${spokenDuration(stableSeconds * 1000)}` : text;
}

/** "checkout is still down, 0/3 ready", and what became of the proposal. */
function stillBroken(fix: Remediation, name: string, context: CardContext): string {
  const broken = whatIsBroken(fix, { still: true, name });
  const { appliedAt } = fix.status?.execution ?? {};
  // The controller's reading is newer than the watcher's count, which would contradict it.
  if (conditionOf(fix, 'Failed')?.reason === 'AlreadyHealthy') return `${name}: ${notApplied(fix, context)}`;
  if (shownPhase(fix) !== 'Failed' || !appliedAt) return `${broken}. ${whatBecameOf(fix, context)}`;
  const took = spokenBetween(appliedAt, conditionOf(fix, 'Failed')?.lastTransitionTime);
  const when = `${took ? `${took} after` : 'after'} the ${fixWords(fix).noun}`;
  const worse = madeItWorse(fix);
  return worse
    ? `${name} is worse: ${worse.after} ready ${when}, ${worse.before} before`
    : `${broken}${took ? ', ' : ' '}${when}`;
}

/** The end of a proposal that changed nothing, while what it is about is broken. */
function whatBecameOf(fix: Remediation, context: CardContext): string {
  const { state, by, note } = fix.spec.approval;
  const times = timesIn(context.timeZone, context.nowMs);
  if (shownPhase(fix) === 'Rejected') {
    const who = by ? ` by ${redact(context.nameOf(by))}` : '';
    return `Rejected${who}${note ? `: "${redact(note)}"` : ''}`;
  }
  if (shownPhase(fix) === 'Failed') return notApplied(fix, context);
  const until = times.minute(expiresAtMs(fix));
  if (state !== 'Approved') return `No decision by ${until}`;
  // An approval made in time can still have no effect, if the controller was away. That differs from no decision.
  const isLate = Date.parse(fix.spec.approval.at ?? '') >= expiresAtMs(fix);
  const who = `Approved${by ? ` by ${redact(context.nameOf(by))}` : ''}`;
  return isLate ? `${who} after it had expired at ${until}` : `${who}, but not taken up by ${until}`;
}

function notApplied(fix: Remediation, { timeZone, nowMs }: CardContext): string {
  const failure = conditionOf(fix, 'Failed');
  const why = failure?.message ? `: ${timesIn(timeZone, nowMs).localised(failure.message)}` : '';
  return `The ${fixWords(fix).noun} was ${wasInterrupted(fix) ? 'interrupted' : 'not applied'}${why}`;
}

/** Whether tapfix had changed something that is healthy again without its help. */
function whatWasDone(fix: Remediation, context: CardContext): string {
  if (shownPhase(fix) !== 'Failed') return 'Nothing was changed';
  if (fix.status?.execution?.appliedAt) return `The ${fixWords(fix).noun} did not help in time`;
  return notApplied(fix, context);
}

/** The words for "healthy" for objects that are not workloads. */
const wells: Readonly<Record<string, string>> = {
  Node: 'is ready again',
  StorageClass: 'is there now',
  PersistentVolumeClaim: 'has its volume now',
  HorizontalPodAutoscaler: 'can scale again',
  ResourceQuota: 'blocks nothing any more',
};

/** The end, if it did not become healthy. The condition adds "nothing was changed", which is cut off here. */
export const howItEnded = (fix: Remediation): string =>
  redact(conditionOf(fix, 'Resolved')?.message ?? '').replace(/, nothing was changed$/, '');

/** The card claims nothing that we did not see: a class without readable state is "no longer seen", never "healthy". */
function wellAgain(fix: Remediation, name: string, type: 'IncidentCleared' | 'Resolved'): string {
  const { kind } = fix.spec.incident.object;
  const { reason, message = '' } = conditionOf(fix, type) ?? {};
  if (reason === 'NoLongerSeen') return `${name}: no longer seen`;
  if (reason === 'Gone' && !isQuota(fix)) return `${name} is gone`;
  if (reason === 'Ended') return `${name}: ${redact(message).replace(/, nothing was changed$/, '')}`;
  if (Object.hasOwn(wells, kind)) return `${name} ${wells[kind]}`;
  return withReadinessOfAll(`${name} is healthy again`, fix);
}

/**
 * The reason on the card of an incident that the configuration no longer includes (unwatched.ts). No stored Remediation
 * has it.
 */
export const unwatchedReason = 'Left';

function resolved(fix: Remediation, name: string): string {
  const { reason, message } = conditionOf(fix, 'Resolved') ?? {};
  if (reason === unwatchedReason) return `${name}: ${message}`;
  const isByItself = !['NoLongerSeen', 'Gone', 'Ended'].includes(reason ?? '');
  if (fix.spec.approval.state === 'Approved' && isByItself) return `${name} was already healthy. Nothing was changed`;
  return `${wellAgain(fix, name, 'Resolved')}. ${reason === 'Gone' ? 'tapfix changed nothing' : 'Nothing was changed'}`;
}

/** Broken, and nothing is done about it: it waits for a decision or for somebody to look, whatever was decided before. */
export const needsSomebody = (fix: Remediation): boolean =>
  ['Proposed', 'Noticed'].includes(shownPhase(fix)) || (isOverInChat(fix) && isBroken(fix));

/** Decided, and not over. */
export const isUnderWay = (fix: Remediation): boolean => !needsSomebody(fix) && !isSettled(fix);

/** Cards with a button come before those without. */
const waitsForDecision = (fix: Remediation): boolean => shownPhase(fix) === 'Proposed';

const standing = (fix: Remediation): number => (needsSomebody(fix) ? 0 : isUnderWay(fix) ? 1 : 2);

const rank = (fix: Remediation): readonly number[] => [standing(fix), severityRank(fix), waitsForDecision(fix) ? 0 : 1];

/** By place and name as people count: "svc-2" before "svc-10". */
export function inNaturalOrder(a: Remediation, b: Remediation): number {
  const nameOf = (fix: Remediation): string => `${placeOf(fix)} ${fix.spec.incident.object.name}`;
  return naturalOrder(nameOf(a), nameOf(b)) || (a.metadata.uid < b.metadata.uid ? -1 : 1);
}

function compare(a: Remediation, b: Remediation): number {
  const others = rank(b);
  for (const [index, own] of rank(a).entries()) {
    if (own !== others[index]) return own - others[index]!;
  }
  return inNaturalOrder(a, b);
}

/**
 * Those that need somebody come first; then by severity, decidable before not decidable, then by name. Settled ones are
 * last.
 */
export const inOrder = (members: readonly Remediation[]): Remediation[] => [...members].sort(compare);
