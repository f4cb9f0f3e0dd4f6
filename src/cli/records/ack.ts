import { acknowledgedBy, type Remediation, whoIsOnIt } from '../../kube/remediation.ts';
import { UserError } from '../../lib/errors.ts';
import { isSettled, isUnattended } from '../../notices/cards/head.ts';
import { type ClusterOptions, type Session, whoIsAsking } from '../cluster-session.ts';
import { annotate } from './decision.ts';
import { findRecord } from './find-record.ts';

export interface AckOptions extends ClusterOptions {
  name: string;
}

/** `tapfix ack`: everybody sees who is on it, and nobody is reminded any more. */
export async function runAck({ name }: AckOptions, session: Session): Promise<number> {
  const fix = await findRecord(name, session);
  mustNeedSomebody(fix);
  const user = await whoIsAsking(session);
  if (user === undefined) throw new UserError('the API server does not say who you are, so it cannot be recorded');
  const before = whoIsOnIt(fix);
  if (before === user) throw new UserError(`you are on ${name} already`);
  await annotate(fix, { [acknowledgedBy]: user }, user, session);
  session.io.print(
    `You are on ${fix.metadata.namespace}/${fix.metadata.name}${before ? `; you took it over from ${before}` : '; nobody is reminded any more'}.`,
  );
  return 0;
}

/** Nobody has to attend to what is settled. One that failed or expired is not over for people. */
export function mustNeedSomebody(fix: Remediation): void {
  if (isSettled(fix) && !isUnattended(fix))
    throw new UserError(`${fix.metadata.namespace}/${fix.metadata.name} is over; there is nothing to do any more`);
}
