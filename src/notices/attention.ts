import { snoozedUntilMs, whoIsOnIt } from '../kube/attention.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { CardContext } from './context.ts';
import type { Button } from './message.ts';
import { encodePress, verbIn } from './payload.ts';
import { timesIn } from './times.ts';

/** Who is on it, and until when it is silent. */
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

/** For what is broken and not being fixed, whether or not anything can be decided. */
export const attentionButtons = (fix: Remediation): Button[] => [
  { label: "I'm on it", data: encodePress('k', fix) },
  { label: 'Details', data: encodePress('d', fix) },
  { label: 'Snooze 1h', data: encodePress('z', fix) },
];

const decides: readonly string[] = ['a', 'r', 'c', 'b', 'g'];

/** One of several: what can be decided, or else what there is to know; a phone has no room for more. */
export function buttonsInShort(rows: readonly Button[][]): Button[][] {
  const having = (verbs: readonly string[]): Button[][] =>
    rows.map((row) => row.filter(({ data }) => verbs.includes(verbIn(data)))).filter((row) => row.length > 0);
  const deciding = having(decides);
  return deciding.length > 0 ? deciding : having(['d']);
}
