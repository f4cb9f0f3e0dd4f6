import {
  conditionOf,
  expiresAtMs,
  isCleared,
  madeItWorse,
  type Phase,
  phaseOf,
  type Remediation,
  severityOf,
  severityRank,
  switchedOff,
} from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { unreachable } from '../../lib/errors.ts';
import { redact } from '../../lib/redact.ts';
import type { CardContext } from './card-context.ts';
import type { Dot } from './message.ts';
import {
  actionWords,
  affectedInWords,
  affectedNames,
  isQuota,
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

export const isOverInChat = (fix: Remediation): boolean =>
  ['Recovered', 'Rejected', 'Expired', 'Failed', 'Resolved', 'Superseded'].includes(shownPhase(fix));

/** Nobody has to look at it any more. A failure is over for the controller, not for people. */
export const isSettled = (fix: Remediation): boolean =>
  isOverInChat(fix) && (shownPhase(fix) !== 'Failed' || isCleared(fix));

/** It is not certain that anything was changed, because somebody else changed the object as well. */
export const wasInterrupted = (fix: Remediation): boolean =>
  fix.status?.execution?.startedAt !== undefined && conditionOf(fix, 'Failed')?.reason === 'Interrupted';

/** Nobody decided, or the fix failed, and it is still broken. */
export const isUnattended = (fix: Remediation): boolean =>
  ['Expired', 'Failed'].includes(shownPhase(fix)) && !isCleared(fix);

/** It may be proposed once more: nobody decided, or it failed, and it is still broken. */
export const mayBeProposedAgain = (fix: Remediation): boolean => fix.spec.action !== undefined && isUnattended(fix);

export function headOf(fix: Remediation, context: CardContext): Head {
  const phase = shownPhase(fix);
  const name = subjectOf(fix);
  const noun = actionWords(fix)?.verb ?? 'fix';
  const times = timesIn(context.timeZone, context.nowMs);
  const decided = decidedBy(fix, context);
  switch (phase) {
    case 'Proposed':
    case 'Noticed':
      return { dot: severityOf(fix) === 'critical' ? 'red' : 'orange', headline: whatIsBroken(fix) };
    case 'Approved':
      return { dot: 'yellow', headline: `${name}: ${noun} approved${decided}, about to be applied` };
    case 'Applying':
      return { dot: 'yellow', headline: `${name}: ${noun} approved${decided}, applying` };
    case 'Applied': {
      const applied = times.at(fix.status?.execution?.appliedAt ?? endedAt(fix));
      return { dot: 'blue', headline: `${withReadiness(`${name}: ${noun} applied ${applied}`, fix)}, watching` };
    }
    case 'Recovered':
      return { dot: 'green', headline: recovered(fix) };
    case 'Failed':
      return { dot: isCleared(fix) ? 'grey' : 'red', headline: failed(fix, name, noun, context) };
    case 'Rejected':
      return { dot: 'grey', headline: `${name}: ${noun} rejected${decided}${quotedNote(fix)}` };
    case 'Expired':
      return { dot: 'grey', headline: `${name}: ${expired(fix, decided, context)}` };
    case 'Resolved':
      return { dot: 'grey', headline: resolved(fix, context) };
    case 'Superseded':
      return { dot: 'grey', headline: `${name}: a newer proposal replaced this one ${times.at(endedAt(fix))}` };
    default:
      return unreachable(phase);
  }
}

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

/** " by Ada 03:14:10" */
function decidedBy(fix: Remediation, context: CardContext): string {
  const { by } = fix.spec.approval;
  const at = decidedAt(fix);
  const when = at ? ` ${timesIn(context.timeZone, context.nowMs).at(at)}` : '';
  return `${by ? ` by ${context.nameOf(by)}` : ''}${when}`;
}

const quotedNote = (fix: Remediation): string =>
  fix.spec.approval.note ? ` ("${redact(fix.spec.approval.note)}")` : '';

const spokenBetween = (from: string | undefined, to: string | undefined): string => {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isFinite(ms) ? spokenDuration(ms) : '';
};

/** If not all are ready, the watcher's count is older than the controller's reading, which found it healthy. */
function isAllReady(fix: Remediation): boolean {
  const { ready = 0, desired = 0 } = fix.status?.sightings ?? {};
  return ready >= desired;
}

function recovered(fix: Remediation): string {
  const { appliedAt, stableSeconds } = fix.status?.execution ?? {};
  const who =
    isQuota(fix) && affectedNames(fix).length > 0 ? `${affectedInWords(fix)} behind ${subjectOf(fix)}` : subjectOf(fix);
  const took = spokenBetween(appliedAt, endedAt(fix));
  const isOff = conditionOf(fix, 'Recovered')?.reason === switchedOff;
  const words = `${who}${isOff ? ': switched off as asked' : ' recovered'}${took ? ` in ${took}` : ''}`;
  const text = isAllReady(fix) && !isOff ? withReadiness(words, fix) : words;
  return stableSeconds ? `${text}, held ${spokenDuration(stableSeconds * 1000)}` : text;
}

/** An approval made in time can still have no effect, if the controller was away. That differs from no decision. */
function expired(fix: Remediation, decided: string, context: CardContext): string {
  const until = timesIn(context.timeZone, context.nowMs).minute(expiresAtMs(fix));
  const since = isCleared(fix) ? `; ${sinceThen(fix, context)}` : '';
  if (fix.spec.approval.state !== 'Approved') return `nobody decided until ${until}, nothing was changed${since}`;
  const isLate = Date.parse(fix.spec.approval.at ?? '') >= expiresAtMs(fix);
  const why = isLate ? `after it had expired at ${until}` : `but not taken up until ${until}`;
  return `approved${decided}, ${why}; nothing was changed${since}`;
}

/** The state of the incident after nobody decided, or after the fix failed. */
function sinceThen(fix: Remediation, context: CardContext): string {
  const { reason, message, lastTransitionTime } = conditionOf(fix, 'IncidentCleared') ?? {};
  const since = timesIn(context.timeZone, context.nowMs).at(lastTransitionTime);
  if (reason === 'Gone' && !isQuota(fix)) return `no longer there since ${since}`;
  if (reason === 'Ended') return `${redact(message ?? '')} ${since}`;
  return isQuota(fix) ? `nobody is refused any more since ${since}` : `${wellAgain(fix)} since ${since}`;
}

function failed(fix: Remediation, name: string, noun: string, context: CardContext): string {
  const { appliedAt } = fix.status?.execution ?? {};
  const failure = conditionOf(fix, 'Failed');
  const times = timesIn(context.timeZone, context.nowMs);
  const why = failure?.message ? `: ${times.localised(failure.message)}` : '';
  if (appliedAt && isCleared(fix)) return `${name}: the ${noun} did not help in time; ${sinceThen(fix, context)}`;
  if (appliedAt) {
    const took = spokenBetween(appliedAt, failure?.lastTransitionTime);
    const worse = madeItWorse(fix);
    if (worse)
      return `${name}: the ${noun} made it worse, ${worse.after} ready${took ? ` after ${took}` : ''}, ${worse.before} before`;
    return `${withReadiness(`${name}: the ${noun} did not help`, fix)}${took ? ` after ${took}` : ''}`;
  }
  if (wasInterrupted(fix)) return `${name}: the ${noun} was interrupted${why}`;
  return `${name}: the ${noun} was not applied${why}`;
}

/** The words for "healthy" for objects that are not workloads. */
const wells: Readonly<Record<string, string>> = {
  Node: 'is ready again',
  StorageClass: 'is there by now',
  PersistentVolumeClaim: 'has its volume by now',
  HorizontalPodAutoscaler: 'can scale again',
};
const isAnythingElse = ({ spec }: Remediation): boolean => Object.hasOwn(wells, spec.incident.object.kind);
const wellAgain = ({ spec }: Remediation): string => wells[spec.incident.object.kind] ?? 'healthy again';

/** The end, if it did not become healthy. The condition adds "nothing was changed", which is cut off here. */
export const howItEnded = (fix: Remediation): string =>
  redact(conditionOf(fix, 'Resolved')?.message ?? '').replace(/, nothing was changed$/, '');

/**
 * The reason on the card of an incident that the configuration no longer includes (unwatched.ts). No stored Remediation
 * has it.
 */
export const unwatchedReason = 'Left';

/** The card claims nothing that we did not see: a class without readable state is "no longer seen", never "healthy". */
function resolved(fix: Remediation, context: CardContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const at = times.at(endedAt(fix));
  const subject = subjectOf(fix);
  if (conditionOf(fix, 'Resolved')?.reason === unwatchedReason)
    return `${subject}: ${conditionOf(fix, 'Resolved')?.message}`;
  if (conditionOf(fix, 'Resolved')?.reason === 'NoLongerSeen') return `${subject}: no longer seen ${at}`;
  if (isQuota(fix)) return `${subject} blocks nothing any more ${at}, nothing was changed`;
  if (conditionOf(fix, 'Resolved')?.reason === 'Ended')
    return `${subject}: ${howItEnded(fix)} ${at}, nothing was changed`;
  if (conditionOf(fix, 'Resolved')?.reason === 'Gone')
    return `${subject} is no longer there ${at}, nothing was changed by tapfix`;
  if (fix.spec.approval.state === 'Approved') return `${subject} was already healthy at ${at}, nothing was changed`;
  return isAnythingElse(fix)
    ? `${subject} ${wellAgain(fix)} ${at}, nothing was changed by tapfix`
    : `${subject} healthy again by itself ${at}, nothing was changed`;
}

/** Broken, and nobody works on it: it waits for a decision or for somebody to look. */
export const needsSomebody = (fix: Remediation): boolean =>
  ['Proposed', 'Noticed'].includes(shownPhase(fix)) || isUnattended(fix);

/** Decided, and not over. */
export const isUnderWay = (fix: Remediation): boolean => !needsSomebody(fix) && !isSettled(fix);

/** "still failing". A rejected one is not known to be healthy, so then the words are "still open". */
export const stillOpen = (all: readonly Remediation[]): string =>
  `still ${all.some((fix) => shownPhase(fix) === 'Rejected' && !isCleared(fix)) ? 'open' : 'failing'}`;

/** Cards with a button come before those without. */
const waitsForDecision = (fix: Remediation): boolean => shownPhase(fix) === 'Proposed';

const standing = (fix: Remediation): number => (needsSomebody(fix) ? 0 : isUnderWay(fix) ? 1 : 2);

const rank = (fix: Remediation): readonly (number | string)[] => [
  standing(fix),
  severityRank(fix),
  waitsForDecision(fix) ? 0 : 1,
  fix.spec.incident.firstSeen,
  fix.metadata.uid,
];

function compare(a: Remediation, b: Remediation): number {
  const others = rank(b);
  for (const [index, own] of rank(a).entries()) {
    if (own !== others[index]) return own < others[index]! ? -1 : 1;
  }
  return 0;
}

/**
 * Those that need somebody come first; then by severity, decidable before not decidable, then by age. Settled ones are
 * last.
 */
export const inOrder = (members: readonly Remediation[]): Remediation[] => [...members].sort(compare);
