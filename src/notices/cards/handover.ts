import type { Mute } from '../../kube/mutes.ts';
import {
  conditionOf,
  phaseOf,
  type Remediation,
  shortIdOf,
  snoozedUntilMs,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import type { MessageContext } from './card-context.ts';
import { composeMessage } from './compose.ts';
import { decidedAt } from './head.ts';
import type { Card, CardRow, Message } from './message.ts';
import { fixWords } from './fix-words.ts';
import { placeOf, subjectOf } from './subject.ts';
import { timesIn } from './times.ts';

interface HandoverFacts {
  /** Every Remediation that the reader may know of. */
  fixes: readonly Remediation[];
  /** Those that are not cleared, in the order in which they are listed. */
  open: readonly Remediation[];
  mutes: readonly Mute[];
  sinceMs: number;
}

/** For whoever takes over: what is open, silent and muted until when, and whether the fixes since then held. */
export function composeHandover({ fixes, open, mutes, sinceMs }: HandoverFacts, context: MessageContext): Message {
  const times = timesIn(context.timeZone, context.nowMs);
  const snoozed = open.flatMap((fix) => {
    const untilMs = snoozedUntilMs(fix, context.nowMs);
    return untilMs === undefined ? [] : [`${nameIn(fix)} until ${times.minuteZoned(untilMs)}`];
  });
  const muted = mutes.map(({ glob, until, by }) => {
    const who = by === undefined ? '' : `, by ${context.nameOf(by)}`;
    return `${glob} until ${times.minuteZoned(until)}${who}`;
  });
  const applied = fixes.filter((fix) => appliedMs(fix) >= sinceMs).sort((a, b) => appliedMs(a) - appliedMs(b));
  const rows: CardRow[] = [
    {
      label: 'Open',
      lines: listOr(
        open.map((fix) => openLine(fix, context)),
        'nothing',
      ),
    },
    { label: 'Snoozed', lines: listOr(snoozed, 'nothing') },
    { label: 'Muted', lines: listOr(muted, 'nothing') },
    {
      label: 'Applied',
      lines: listOr(
        applied.map((fix) => appliedLine(fix, fixes, context)),
        'no fix',
      ),
    },
  ];
  const headline = `Handover: what was done since ${times.minuteZoned(sinceMs)}, and what is open now`;
  const card: Card = { dot: 'grey', headline, subtitle: context.cluster, rows, footer: [], buttons: [] };
  return { cards: [card], silent: true };
}

const listOr = (lines: string[], none: string): string[] => (lines.length > 0 ? lines : [none]);

/** "#3f9a1c shop/checkout" */
const nameIn = (fix: Remediation): string =>
  `${shortIdOf(fix)} ${[placeOf(fix), subjectOf(fix)].filter(Boolean).join('/')}`;

function openLine(fix: Remediation, context: MessageContext): string {
  const [card] = composeMessage([fix], context).cards;
  const who = whoIsOnIt(fix);
  const since = timesIn(context.timeZone, context.nowMs).minuteZoned(fix.spec.incident.firstSeen);
  const parts = [nameIn(fix), card?.headline, `since ${since}`, who && `${context.nameOf(who)} is on it`];
  return parts.filter(Boolean).join(' · ');
}

const msOf = (time: string | undefined): number => Date.parse(time ?? '');
const appliedMs = (fix: Remediation): number => msOf(fix.status?.execution?.appliedAt);

function appliedLine(fix: Remediation, all: readonly Remediation[], context: MessageContext): string {
  const times = timesIn(context.timeZone, context.nowMs);
  const { by } = fix.spec.approval;
  const who = by && decidedAt(fix) !== undefined ? `, approved by ${context.nameOf(by)}` : '';
  const when = times.minuteZoned(fix.status?.execution?.appliedAt);
  return `${nameIn(fix)}: ${fixWords(fix).noun} at ${when}${who}; ${whetherItHeld(fix, all, times.minuteZoned)}`;
}

/** A fix held if its workload became healthy and has no later incident. */
function whetherItHeld(
  fix: Remediation,
  all: readonly Remediation[],
  at: (time: string | undefined) => string,
): string {
  const recovered = conditionOf(fix, 'Recovered')?.lastTransitionTime;
  if (phaseOf(fix) === 'Failed') return 'it did not help';
  if (phaseOf(fix) !== 'Recovered') return 'it is still being watched';
  const again = all.find(
    ({ metadata, spec }) =>
      spec.incident.key === fix.spec.incident.key && msOf(metadata.creationTimestamp) > msOf(recovered),
  );
  return again ? `it broke again at ${at(again.spec.incident.firstSeen)}` : `healthy since ${at(recovered)}, it held`;
}
