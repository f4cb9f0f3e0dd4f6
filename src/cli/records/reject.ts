import { iso } from '../../lib/clock.ts';
import { line } from '../../lib/text.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { decide, deciderOf, mustBeDecidable } from './decision.ts';
import { findRecord } from './find-record.ts';

export interface RejectOptions extends ClusterOptions {
  name: string;
  reason: string;
}

/** As much as the resource holds. */
const longestNote = 512;

/** `tapfix reject`: leaves it as it is, and records why. */
export async function runReject({ name, reason }: RejectOptions, session: Session): Promise<number> {
  const fix = await findRecord(name, session);
  const decider = await deciderOf(session);
  mustBeDecidable(fix, 'Rejected', decider, session);
  const note = line(reason, longestNote);
  const by = decider.user === undefined ? {} : { by: decider.user };
  const approval = {
    state: 'Rejected',
    ...by,
    at: iso(session.clock.now()),
    via: 'cli',
    ...(note && { note }),
  } as const;
  await decide(fix, approval, decider, session);
  session.io.print(`Rejected ${fix.metadata.namespace}/${fix.metadata.name}; nothing is changed.`);
  return 0;
}
