import {
  conditionOf,
  expiresAtMs,
  isCleared,
  isProposedByProgram,
  isRehearsalUnclear,
  nothingToUndo,
  type Remediation,
  snoozedUntilMs,
  undoIntro,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { redact } from '../../lib/redact.ts';
import { encodePress, verbIn } from '../payload.ts';
import { startOf } from '../plan/waiting.ts';
import { canBeApproved, type CardContext, isPending } from './card-context.ts';
import { decidedAt, endedAt, isUnattended, mayBeProposedAgain, shownPhase, wasInterrupted } from './head.ts';
import type { Button, Line, CardRow } from './message.ts';
import { actionWords, affectedNames, isQuota, isShared, placeOf, whatIsBroken } from './subject.ts';
import { timesIn } from './times.ts';

/** Lines that say who is on it and until when it is silent. */
export function attentionLines(
  fix: Remediation,
  { nameOf, nowMs, timeZone }: Pick<CardContext, 'nameOf' | 'nowMs' | 'timeZone'>,
): string[] {
  const who = whoIsOnIt(fix);
  const untilMs = snoozedUntilMs(fix, nowMs);
  const until = untilMs === undefined ? '' : `ilent until ${timesIn(timeZone, nowMs).minuteZoned(untilMs)}`;
  if (who) return [`${nameOf(who)} is on it${until && ` · s${until}`}`];
  return until ? [`S${until}`] : [];
}

/** Buttons for an incident that is broken and not being fixed, whether or not there is a decision to make. */
const attentionButtons = (fix: Remediation): Button[] => [
  { label: "I'm on it", data: encodePress('k', fix) },
  { label: 'Details', data: encodePress('d', fix) },
  { label: 'Snooze 1h', data: encodePress('z', fix) },
];

const decides: readonly string[] = ['a', 'r', 'c', 'b', 'g'];

/** The buttons of one card among several: those that decide, or else Details. A phone has no room for more. */
export function buttonsInShort(rows: readonly Button[][]): Button[][] {
  const having = (verbs: readonly string[]): Button[][] =>
    rows.map((row) => row.filter(({ data }) => verbs.includes(verbIn(data)))).filter((row) => row.length > 0);
  const deciding = having(decides);
  return deciding.length > 0 ? deciding : having(['d']);
}

/** The line below the headline: the place, the first sighting, the number of sightings. */
export function subtitleOf(fix: Remediation, context: CardContext): string {
  const { object, firstSeen } = fix.spec.incident;
  const from = startOf(fix) === undefined ? 'since' : 'since before'; // nobody saw it break
  const since = `${from} ${timesIn(context.timeZone, context.nowMs).atZoned(firstSeen)}`;
  const count = fix.status?.sightings?.count ?? 1;
  const kind = isShared(fix) ? [] : [object.kind];
  const where = saysWhere(fix) ? [context.cluster] : [placeOf(fix), context.cluster, ...kind];
  return [...where, since, ...(count > 1 ? [`seen ${count} times`] : []), ...(isShared(fix) ? [affected(fix)] : [])]
    .filter(Boolean)
    .join(' · ');
}

/** The headline of a quota that still blocks pods already names the namespace. */
const saysWhere = (fix: Remediation): boolean => isQuota(fix) && ['Proposed', 'Noticed'].includes(shownPhase(fix));

function affected(fix: Remediation): string {
  const names = affectedNames(fix);
  const others = names.length > 6 ? ` and ${names.length - 5} others` : '';
  return `${names.slice(0, others ? 5 : 6).join(', ')}${others}`;
}

/** Changed, Why, Fix, Risk: in the order in which a person asks. */
export function rowsOf(fix: Remediation, context: CardContext): CardRow[] {
  const say = timesIn(context.timeZone, context.nowMs).localised;
  const { context: facts, diagnosis } = fix.spec;
  const words = actionWords(fix);
  const rows: CardRow[] = [
    { label: 'Changed', lines: facts.changed.map(say) },
    { label: 'Why', lines: diagnosis ? [say(diagnosis)] : [] },
    {
      label: 'Seen',
      lines: facts.evidence.map(say),
      fold: facts.evidence.length > 3 || isLong(facts.evidence.join('\n')),
    },
  ];
  if (words) {
    const diff = fix.status?.preview?.diff ?? '';
    const lines = isLong(diff) ? [] : diffLines(fix);
    rows.push({ label: 'Fix', lines: [words.summary, ...lines, ...rehearsal(fix, context)] });
    if (isLong(diff)) rows.push({ label: 'Exactly', lines: diffLines(fix), fold: true });
    rows.push({ label: 'Risk', lines: riskLines(fix, say) });
  }
  return rows.filter(({ lines }) => lines.length > 0);
}

/** More than a phone shows at a glance. Such a row is folded where the vendor supports that. */
const isLong = (text: string): boolean => text.length > 600 || text.trimEnd().split('\n').length > 10;

/** The command that undoes the fix is for copying, so it is not reworded. */
function riskLines(fix: Remediation, say: (text: string) => string): Line[] {
  const { rationale } = fix.spec;
  const at = rationale.indexOf(`${undoIntro}\n`);
  const words = (text: string): string[] => say(text).split('\n').filter(Boolean);
  if (at < 0) return words(rationale);
  const end = at + undoIntro.length;
  const command = rationale.slice(end).trim();
  return [...words(rationale.slice(0, end)), ...commandLines(command, printing(fix, 'spec.rationale'))];
}

/** True if the command holds only names, whatever a container is called: set image deploy/web auth=shop/auth:1.41 */
const isOfNames = (command: string): boolean => /^kubectl -n \S+ set image \S+ [\w.-]+=\S+$/.test(command);

/** A command that may hold a secret is not shown: kubectl prints it for those who may read it. */
const commandLines = (command: string, orElse: string): Line[] =>
  isOfNames(command) || redact(command) === command
    ? [{ command, orElse }]
    : ['a command with something in it that is not for a chat; this prints it:', { command: orElse, orElse }];

const printing = ({ metadata }: Remediation, field: string): string =>
  `kubectl -n ${metadata.namespace} get fix ${metadata.name} -o jsonpath='{.${field}}'`;

/** The Fix row while the fix is under way. */
export function fixRow(fix: Remediation): CardRow[] {
  const words = actionWords(fix);
  return words ? [{ label: 'Fix', lines: [words.summary, ...diffLines(fix)] }] : [];
}

export const diffLines = (fix: Remediation): Line[] =>
  fix.status?.preview?.diff ? [{ code: redact(fix.status.preview.diff.trimEnd()) }] : [];

/** Above this the channels begin to cut what a card has, to fit their limits. */
const mostShownWhole = { diff: 1_000, card: 2_500 };

/**
 * Whether each vendor shows the whole diff on this card. A long card is cut to fit, and then nobody can say what of the
 * diff is left.
 */
export function showsWholeDiff(fix: Remediation, context: CardContext): boolean {
  const diff = fix.status?.preview?.diff ?? '';
  const text = rowsOf(fix, context).flatMap(({ lines }) => lines.map(textOf));
  return diff.length <= mostShownWhole.diff && text.join('\n').length <= mostShownWhole.card;
}

const textOf = (line: Line): string =>
  typeof line === 'string' ? line : 'code' in line ? line.code : 'tap' in line ? line.words : line.command;

function rehearsal(fix: Remediation, context: CardContext): Line[] {
  const times = timesIn(context.timeZone, context.nowMs);
  const rehearsed = conditionOf(fix, 'Rehearsed');
  const confirmed = conditionOf(fix, 'Confirmed');
  if (rehearsed?.status === 'False') return [`rehearsal failed: ${times.localised(rehearsed.message)}`];
  if (!rehearsed || !fix.status?.preview) return ['rehearsing the fix on the API server'];
  const accepted = `rehearsed on the API server ${times.at(fix.status.preview.at)}: accepted`;
  if (confirmed?.status === 'False') return [accepted, `not confirmed: ${times.localised(confirmed.message)}`];
  return confirmed ? [accepted] : [accepted, 'the controller is checking it'];
}

/** The footer says who is on it and until when it can be decided. */
export const footerOf = (fix: Remediation, context: CardContext): Line[] => [
  ...attentionLines(fix, context),
  ...decisionLines(fix, context),
];

function decisionLines(fix: Remediation, context: CardContext): Line[] {
  const times = timesIn(context.timeZone, context.nowMs);
  if (!fix.spec.action)
    return [`No fix offered: ${times.localised(fix.spec.rationale || 'nothing safe is known for this')}`];
  const until = times.minuteZoned(expiresAtMs(fix));
  if (!isPending(fix, context.nowMs)) return [`The time to approve was over at ${until}; nothing was changed`];
  if (!context.allowed) return [`${fix.spec.action.type} is switched off in the configuration; nothing was changed`];
  const obstacle = obstacleTo(fix);
  if (obstacle) return [obstacle];
  if (!canBeApproved(fix, context.nowMs)) return [`Open until ${until}`];
  if (!context.approvable)
    return [`Nobody is listed to approve in ${fix.metadata.namespace}; kubectl can, until ${until}`];
  const asked = confirmingNow(fix, context);
  if (asked) return [`${asked.name} is asked once more, until ${times.atZoned(asked.untilMs)}`];
  return [`Approve until ${until}`];
}

/**
 * Why nobody can approve, for good or for now. With kubectl, people may approve what another person proposed, because
 * the approval is then their own decision; so the text says "here".
 */
function obstacleTo(fix: Remediation): string | undefined {
  if (!actionWords(fix)?.known) return 'Another version of tapfix proposed this; this one cannot do it';
  if (isRehearsalUnclear(fix)) return 'It cannot be approved yet: the rehearsal is tried again';
  if (conditionOf(fix, 'Rehearsed')?.status === 'False') return 'It cannot be approved; nothing was changed';
  if (conditionOf(fix, 'Confirmed')?.status === 'False')
    return `It cannot be approved${isProposedByProgram(fix) ? '' : ' here'}; nothing was changed`;
  return undefined;
}

export function confirmingNow(fix: Remediation, context: CardContext) {
  const asked = context.confirming;
  const wanted = context.confirm.includes(fix.spec.action?.type ?? '');
  const open = context.allowed && canBeApproved(fix, context.nowMs);
  return asked && wanted && asked.untilMs > context.nowMs && open ? asked : undefined;
}

/** Only buttons that can act. There are none where nobody is listed as an approver. */
export function buttonsOf(fix: Remediation, context: CardContext): Button[][] {
  if (!context.approvable) return [];
  return confirmingNow(fix, context)
    ? decisionButtons(fix, context)
    : [...decisionButtons(fix, context), attentionButtons(fix)];
}

function decisionButtons(fix: Remediation, context: CardContext): Button[][] {
  const words = actionWords(fix);
  if (!words || !isPending(fix, context.nowMs)) return [];
  if (confirmingNow(fix, context)) {
    return [
      [{ label: `Yes, ${words.consequence}`, data: encodePress('c', fix) }],
      [{ label: 'Back', data: encodePress('b', fix) }],
    ];
  }
  const reject = { label: 'Reject', data: encodePress('r', fix) };
  if (!context.allowed || !canBeApproved(fix, context.nowMs)) return [[reject]];
  return [[{ label: `Approve ${words.verb}`, data: encodePress('a', fix) }, reject]];
}

/** Proposes the fix again from a fresh reading. The person who presses it gets an answer if nothing can be offered. */
export function againButton(fix: Remediation, context: CardContext): Button[][] {
  if (!context.approvable || !mayBeProposedAgain(fix)) return [];
  return [[{ label: 'Propose again', data: encodePress('g', fix) }]];
}

/** The last lines of a card that is over: the timeline, or that it is still broken, or how to undo the fix. */
export function epilogue(fix: Remediation, context: CardContext): Line[] {
  const phase = shownPhase(fix);
  if (phase === 'Recovered') return [timeline(fix, context)];
  if (phase === 'Expired' && isUnattended(fix)) return [`Not over yet: ${whatIsBroken(fix)}`];
  const { undo, appliedAt } = fix.status?.execution ?? {};
  const isGone = conditionOf(fix, 'IncidentCleared')?.reason === 'Gone' && !isQuota(fix);
  const mayBeChanged = appliedAt !== undefined || wasInterrupted(fix);
  if (phase !== 'Failed' || !undo || isGone || !mayBeChanged) return [];
  const nothing = nothingToUndo(undo);
  if (nothing) return [nothing];
  return [putItBack(fix), ...commandLines(undo, printing(fix, 'status.execution.undo'))];
}

/** If the workload is healthy again, undoing the fix may bring the failure back, so the text says so. */
function putItBack(fix: Remediation): string {
  if (fix.status?.execution?.appliedAt === undefined) return 'If it was changed after all, put it back with';
  return isCleared(fix) ? `The ${actionWords(fix)?.verb} is still in place; to reverse it` : 'Put it back with';
}

const vendors: Readonly<Record<string, string>> = {
  telegram: 'Telegram',
  slack: 'Slack',
  console: 'console',
  kubernetes: 'Kubernetes',
};

function timeline(fix: Remediation, context: CardContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const { by, via } = fix.spec.approval;
  const at = decidedAt(fix);
  const who = `${by ? ` by ${context.nameOf(by)}` : ''}${via ? ` (${vendors[via] ?? via})` : ''}`;
  const appliedAt = fix.status?.execution?.appliedAt;
  return [
    `${times.atZoned(fix.spec.incident.firstSeen)} seen`,
    ...(at ? [`${times.at(at)} approved${who}`] : []),
    ...(appliedAt ? [`${times.at(appliedAt)} applied`] : []),
    `${times.at(endedAt(fix))} recovered`,
  ].join(' · ');
}
