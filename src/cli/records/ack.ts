import {
  acknowledgedBy,
  acknowledgedUntil,
  acknowledgedUntilMs,
  isBroken,
  type Remediation,
  whoIsOnIt,
} from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { UserError } from '../../lib/errors.ts';
import { answerMs } from '../../notices/plan/answer.ts';
import { type ClusterOptions, type Session, whoIsAsking } from '../cluster-session.ts';
import { annotate } from './decision.ts';
import { findRecord } from './find-record.ts';

export interface AckOptions extends ClusterOptions {
  name: string;
}

/** `tapfix ack`: everybody sees who is on it, and nobody is reminded for two hours. */
export async function runAck({ name }: AckOptions, session: Session): Promise<number> {
  const fix = await findRecord(name, session);
  mustNeedSomebody(fix);
  const user = await whoIsAsking(session);
  if (user === undefined) throw new UserError('the API server does not say who you are, so it cannot be recorded');
  const before = whoIsOnIt(fix);
  const nowMs = session.clock.now();
  if (before === user && (acknowledgedUntilMs(fix) ?? 0) > nowMs) throw new UserError(`you are on ${name} already`);
  const annotations = { [acknowledgedBy]: user, [acknowledgedUntil]: iso(nowMs + answerMs) };
  await annotate(fix, annotations, user, session);
  const also = before && before !== user ? `you took it over from ${before}` : 'nobody is reminded for two hours';
  session.io.print(`You are on ${fix.metadata.namespace}/${fix.metadata.name}; ${also}.`);
  return 0;
}

/** Whatever became of the proposal, somebody is needed as long as it is broken. */
export function mustNeedSomebody(fix: Remediation): void {
  if (!isBroken(fix))
    throw new UserError(`${fix.metadata.namespace}/${fix.metadata.name} is over; there is nothing to do any more`);
}
