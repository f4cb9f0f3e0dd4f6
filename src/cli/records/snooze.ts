import { longestMs, shortestMs } from '../../approvals/find-fix.ts';
import { snoozedUntil } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { UserError } from '../../lib/errors.ts';
import { timesIn } from '../../notices/cards/times.ts';
import { type ClusterOptions, type Session, whoIsAsking } from '../cluster-session.ts';
import { mustNeedSomebody } from './ack.ts';
import { annotate } from './decision.ts';
import { findRecord } from './find-record.ts';

export interface SnoozeOptions extends ClusterOptions {
  name: string;
  /** "1h", or "off". */
  duration: string;
}

/** Pure. 0 for "off". Throws a sentence for anything that is no such time. */
export function quietMs(text: string, example: string): number {
  if (text === 'off') return 0;
  const ms = parseDuration(text);
  if (ms === undefined) throw new UserError(`${JSON.stringify(text)} is no time such as 30m, 1h or 1d: ${example}`, 2);
  if (ms < shortestMs || ms > longestMs) throw new UserError(`between 1m and 7d, please: ${example}`, 2);
  return ms;
}

/** `tapfix snooze`: no sound about it for a while. Its message is still edited. */
export async function runSnooze({ name, duration }: SnoozeOptions, session: Session): Promise<number> {
  const forMs = quietMs(duration, `tapfix snooze ${name} 1h`);
  const fix = await findRecord(name, session);
  mustNeedSomebody(fix);
  const user = await whoIsAsking(session);
  const { clock, timeZone, io } = session;
  const nowMs = clock.now();
  await annotate(fix, { [snoozedUntil]: forMs === 0 ? null : iso(nowMs + forMs) }, user, session);
  const { namespace, name: own } = fix.metadata;
  const until = timesIn(timeZone, nowMs).minuteZoned(nowMs + forMs);
  io.print(forMs === 0 ? `${namespace}/${own} is no longer snoozed.` : `${namespace}/${own} is silent until ${until}.`);
  return 0;
}
