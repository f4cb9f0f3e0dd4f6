import {
  conditionOf,
  expiresAtMs,
  healthyTimeIn,
  isBroken,
  isCleared,
  isProposedByProgram,
  isRehearsalUnclear,
  isTrue,
  nothingToUndo,
  rationaleParts,
  type Remediation,
  shortIdOf,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { redact } from '../../lib/redact.ts';
import { capitalised, middleCut } from '../../lib/text.ts';
import { encodePress } from '../payload.ts';
import { cardLines, cutHeadline, fitting, type WantedLines, withinBudget } from './budget.ts';
import { canBeApproved, type CardContext, isPending } from './card-context.ts';
import { causeOf, factsOf, whoSuffers } from './cause.ts';
import { diffBesideFix, fixLines, fixWords, whyNoFix } from './fix-words.ts';
import {
  decided,
  decidedAt,
  endedAt,
  headOf,
  isOverInChat,
  mayBeProposedAgain,
  needsSomebody,
  shownPhase,
  wasInterrupted,
} from './head.ts';
import type { Button, Card, Line } from './message.ts';
import { actionWords, isQuota, isShared, placeOf, shortName } from './subject.ts';
import { type Times, timesIn } from './times.ts';

/** The order in which lines get their room: what a lock screen shows, what forbids a decision, then the rest. */
const rank = { first: 0, place: 1, obstacle: 2, attention: 3, diff: 4, rest: 5, next: 6 } as const;

/** One Remediation: what is broken, why, what the fix does; where, and until when; then what else has room. */
export function composeCard(fix: Remediation, context: CardContext): Card {
  const { dot, headline: whole } = headOf(fix, context);
  const isAsked = ['Proposed', 'Noticed'].includes(shownPhase(fix));
  const headline = cutHeadline(whole, isAsked ? 2 : 4);
  const footer = withinBudget(headline, isAsked ? proposedLines(fix, context) : laterLines(fix, context));
  return { dot, headline, rows: [], footer, buttons: buttonsOf(fix, context) };
}

function proposedLines(fix: Remediation, context: CardContext): WantedLines[] {
  const times = timesIn(context.timeZone, context.nowMs);
  const cause = causeOf(fix, times);
  const causeLine = fitting(cause.lines);
  const fixLine = fitting(fixLines(fix, times));
  const facts = factsOf(fix, times).filter((fact) => fact !== causeLine);
  const diff = diffBesideFix(fix).join('\n');
  return [
    { lines: [causeLine], most: 2, rank: rank.first },
    { lines: [fixLine], most: 2, rank: rank.first },
    { lines: [placeLine(fix, context)], most: 2, rank: rank.place },
    ...decisionLines(fix, context).map((line) => ({ lines: [line], most: 3, rank: rank.obstacle })),
    ...attentionLines(fix, context).map((line) => ({ lines: [line], most: 2, rank: rank.attention })),
    ...(diff ? [{ lines: [{ code: diff }], most: cardLines, rank: rank.diff }] : []),
    ...restLines(fix, facts, fixLine, times).map((line) => ({ lines: [line], most: 3, rank: rank.rest })),
    ...(fix.spec.action
      ? []
      : [{ lines: [`Next: ${describeCommand(fix)}`], isWhole: true as const, most: 2, rank: rank.next }]),
  ];
}

/** More that helps to decide: the rest of the diagnosis, whom it affects, and why there is no fix or this one. */
function restLines(fix: Remediation, facts: readonly string[], fixLine: string, times: Times): string[] {
  if (!fix.spec.action) {
    const reasons = whyNoFix(fix, times).filter((reason) => !fixLine.endsWith(`: ${reason}`));
    const suffering = isShared(fix) && !isQuota(fix) ? whoSuffers(fix, times) : undefined;
    return [...(suffering ? [suffering] : []), ...facts, ...reasons.map(capitalised)];
  }
  const [reason = ''] = times.localised(rationaleParts(fix).why).split(/;|\.(?:\s|$)/);
  const isShown = reason === '' || (healthyTimeIn(fix) !== undefined && fixLine.includes('healthy'));
  const writer = isQuota(fix) ? quotaWriter(fix) : '';
  return [...facts.map((fact, index) => (index === 0 ? `${fact}${writer}` : fact)), ...(isShown ? [] : [reason])];
}

/** " · writer: gitops-bot", from what was recorded as changed. */
function quotaWriter({ spec }: Remediation): string {
  const [, writer] = spec.context.changed.flatMap((text) => / ResourceQuota created by (.+)$/.exec(text) ?? []);
  return writer ? ` · writer: ${redact(writer)}` : '';
}

/** The command that shows more of it, and changes nothing. */
export function describeCommand({ metadata: { namespace }, spec }: Remediation): string {
  const { kind, name } = spec.incident.object;
  const inside = namespace ? `kubectl -n ${namespace}` : 'kubectl';
  return `${inside} describe ${kind.toLowerCase()} ${name}`;
}

/** "shop · prod-eu · #3f9a1c · until 03:42" */
function placeLine(fix: Remediation, context: CardContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const isNamed = isQuota(fix) && needsSomebody(fix); // its headline has the namespace
  const [place, cluster] = [isNamed ? '' : shortName(placeOf(fix)), middleCut(context.cluster, 24)];
  const until = times.minute(expiresAtMs(fix));
  const canEnd = fix.spec.action && shownPhase(fix) === 'Proposed';
  const end = canEnd ? `${isPending(fix, context.nowMs) ? 'until' : 'expired'} ${until}` : '';
  return [place, cluster, shortIdOf(fix), end].filter(Boolean).join(' · ');
}

/** Lines that say who is on it and until when it is silent. */
export function attentionLines(
  fix: Remediation,
  { nameOf, nowMs, timeZone }: Pick<CardContext, 'nameOf' | 'nowMs' | 'timeZone'>,
): string[] {
  const who = whoIsOnIt(fix);
  const untilMs = snoozedUntilMs(fix, nowMs);
  const until = untilMs === undefined ? '' : `ilent until ${timesIn(timeZone, nowMs).minute(untilMs)}`;
  if (who) return [`${redact(nameOf(who))} is on it${until && ` · s${until}`}`];
  return until ? [`S${until}`] : [];
}

/** Why nobody can decide now, or that somebody is asked once more; empty if the buttons say it all. */
function decisionLines(fix: Remediation, context: CardContext): string[] {
  if (!fix.spec.action) return [];
  if (!isPending(fix, context.nowMs)) return ['Nothing was changed'];
  if (!context.allowed) return [`${fix.spec.action.type} is switched off in the configuration`];
  const obstacle = obstacleTo(fix, context);
  if (obstacle) return [obstacle];
  if (!context.approvable)
    return [`Nobody is listed to approve in ${shortName(fix.metadata.namespace ?? '')}; kubectl can`];
  const asked = confirmingNow(fix, context);
  const until = asked && timesIn(context.timeZone, context.nowMs).at(asked.untilMs);
  return asked ? [`${redact(asked.name)} is asked once more, until ${until}`] : [];
}

/**
 * Why nobody can approve, for good or for now. With kubectl, people may approve what another person proposed, because
 * the approval is then their own decision; so the text says "here".
 */
function obstacleTo(fix: Remediation, context: CardContext): string | undefined {
  const { localised } = timesIn(context.timeZone, context.nowMs);
  const [rehearsed, confirmed] = [conditionOf(fix, 'Rehearsed'), conditionOf(fix, 'Confirmed')];
  if (!actionWords(fix)?.known) return 'Another version of tapfix proposed this; this one cannot do it';
  if (isRehearsalUnclear(fix)) return `The dry run is tried again: ${localised(rehearsed?.message ?? '')}`;
  if (rehearsed?.status === 'False')
    return `It cannot be approved, the dry run failed: ${localised(rehearsed.message)}`;
  if (confirmed?.status === 'False') {
    const here = isProposedByProgram(fix) ? '' : ' here';
    return `It cannot be approved${here}, not confirmed: ${localised(confirmed.message)}`;
  }
  if (!rehearsed || !fix.status?.preview) return 'The dry run is under way';
  return isTrue(fix, 'Confirmed') ? undefined : 'The controller is checking it';
}

export function confirmingNow(fix: Remediation, context: CardContext) {
  const asked = context.confirming;
  const wanted = context.confirm.includes(fix.spec.action?.type ?? '');
  const open = context.allowed && canBeApproved(fix, context.nowMs);
  return asked && wanted && asked.untilMs > context.nowMs && open ? asked : undefined;
}

/**
 * Whether the card shows all that an approval would change: the Fix line says it, or the diff has room. If it does not,
 * the diff must be shown before an approval counts.
 */
export function showsWholeDiff(fix: Remediation, context: CardContext): boolean {
  const diff = diffBesideFix(fix).join('\n');
  return diff === '' || composeCard(fix, context).footer.some((line) => typeof line !== 'string' && 'code' in line);
}

/** Once it is decided, or over: where it is, who did what when, and how to undo it. */
function laterLines(fix: Remediation, context: CardContext): WantedLines[] {
  const place = { lines: [placeLine(fix, context)], most: 2, rank: rank.place };
  const isOver = isOverInChat(fix) && !isBroken(fix);
  const past = isOver ? [{ lines: [timeline(fix, context)], most: 4, rank: rank.first }] : [];
  const who = needsSomebody(fix) ? attentionLines(fix, context) : [];
  return [
    ...past,
    place,
    ...who.map((line) => ({ lines: [line], most: 2, rank: rank.attention })),
    {
      lines: undoLines(fix),
      most: 4,
      rank: rank.rest,
      orElse: isOver ? stillInPlace(fix) : 'How to undo it is in Details',
    },
  ];
}

/** How to undo a fix that did not help. */
function undoLines(fix: Remediation): Line[] {
  const { undo, appliedAt } = fix.status?.execution ?? {};
  const isGone = conditionOf(fix, 'IncidentCleared')?.reason === 'Gone' && !isQuota(fix);
  const mayBeChanged = appliedAt !== undefined || wasInterrupted(fix);
  if (shownPhase(fix) !== 'Failed' || !undo || isGone || !mayBeChanged) return [];
  const nothing = nothingToUndo(undo);
  if (nothing) return [nothing];
  return [introOf(fix), ...commandLines(undo, printing(fix, 'status.execution.undo'))];
}

/** If the workload is healthy again, undoing the fix may bring the failure back, so the text says so. */
function introOf(fix: Remediation): string {
  if (fix.status?.execution?.appliedAt === undefined) return 'To undo, if it was changed after all:';
  return isCleared(fix) ? `${stillInPlace(fix)}. To undo:` : 'To undo:';
}

const stillInPlace = (fix: Remediation): string => `The ${fixWords(fix).noun} is still in place`;

/** True if the command holds only names, whatever a container is called: set image deploy/web auth=shop/auth:1.41 */
const isOfNames = (command: string): boolean => /^kubectl -n \S+ set image \S+ [\w.-]+=\S+$/.test(command);

/** A command that may hold a secret is not shown: kubectl prints it for those who may read it. */
export const commandLines = (command: string, orElse: string): Line[] =>
  isOfNames(command) || redact(command) === command
    ? [{ command, orElse }]
    : ['a command with something in it that is not for a chat; this prints it:', { command: orElse, orElse }];

const printing = ({ metadata }: Remediation, field: string): string =>
  `kubectl -n ${metadata.namespace} get fix ${metadata.name} -o jsonpath='{.${field}}'`;

/** The command that undoes the fix: as it was recorded when it was applied, or else when it was proposed. */
export function howToUndo(fix: Remediation): Line[] {
  const { undo } = fix.status?.execution ?? {};
  const proposed = rationaleParts(fix).undo;
  if (undo) {
    const nothing = nothingToUndo(undo);
    return nothing ? [nothing] : ['with', ...commandLines(undo, printing(fix, 'status.execution.undo'))];
  }
  return proposed ? ['with', ...commandLines(proposed, printing(fix, 'spec.rationale'))] : [];
}

/** "03:12:05 CET first seen · 03:14:10 approved by Ada (Slack) · 03:14:12 applied · 03:14:53 healthy" */
function timeline(fix: Remediation, context: CardContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const { state } = fix.spec.approval;
  const [at, cleared] = [decidedAt(fix), conditionOf(fix, 'IncidentCleared')];
  const { appliedAt } = fix.status?.execution ?? {};
  const phase = shownPhase(fix);
  const end = phase === 'Recovered' || phase === 'Resolved' ? conditionOf(fix, phase) : cleared;
  const endWord = { Gone: 'gone', NoLongerSeen: 'no longer seen', Ended: 'ended' }[end?.reason ?? ''] ?? 'healthy';
  const endMs = Date.parse((phase === 'Recovered' ? endedAt(fix) : end?.lastTransitionTime) ?? '');
  return [
    `${times.atZoned(fix.spec.incident.firstSeen)} first seen`,
    ...(state !== 'Pending' && at ? [`${times.at(at)} ${decided(fix, context)}`] : []),
    ...(phase === 'Expired' && state === 'Pending' ? [`${times.minute(expiresAtMs(fix))} no decision`] : []),
    ...(appliedAt ? [`${times.at(appliedAt)} applied`] : []),
    ...(Number.isFinite(endMs) ? [`${times.at(endMs)} ${endWord}`] : []),
  ].join(' · ');
}

/** Only buttons that can act. There are none where nobody is listed as an approver. */
function buttonsOf(fix: Remediation, context: CardContext): Button[][] {
  if (!context.approvable || !needsSomebody(fix)) return [];
  if (confirmingNow(fix, context)) return decisionButtons(fix, context);
  const attention = [
    { label: "I'm on it", data: encodePress('k', fix) },
    { label: 'Snooze 1h', data: encodePress('z', fix) },
    { label: 'Details', data: encodePress('d', fix) },
  ];
  if (!mayBeProposedAgain(fix)) return [...decisionButtons(fix, context), attention];
  const [mine, ...others] = attention;
  return [[...decisionButtons(fix, context).flat(), mine!], others];
}

/** The buttons that decide about a proposal, or ask for another one. */
export function decisionButtons(fix: Remediation, context: CardContext): Button[][] {
  if (!context.approvable) return [];
  if (mayBeProposedAgain(fix)) return [[{ label: 'Propose again', data: encodePress('g', fix) }]];
  if (!isPending(fix, context.nowMs)) return [];
  const { button, does, yes = does } = fixWords(fix);
  if (confirmingNow(fix, context))
    return [
      [
        { label: `Yes, ${yes}`, data: encodePress('c', fix) },
        { label: 'Back', data: encodePress('b', fix) },
      ],
    ];
  const reject = { label: 'Reject', data: encodePress('r', fix) };
  if (!context.allowed || !canBeApproved(fix, context.nowMs)) return [[reject]];
  return [[{ label: button, data: encodePress('a', fix) }, reject]];
}
