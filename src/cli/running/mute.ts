import { isGlob } from '../../approvals/commands.ts';
import { isForbidden } from '../../kube/api.ts';
import { createMutes, mutesName } from '../../kube/mutes.ts';
import { iso } from '../../lib/clock.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { timesIn } from '../../notices/cards/times.ts';
import { type ClusterOptions, type Session, whoIsAsking } from '../cluster-session.ts';
import { quietMs } from '../records/snooze.ts';
import { muteText, readMutes } from './status.ts';

export interface MuteOptions extends ClusterOptions {
  /** Absent: what is muted is listed. */
  glob?: string;
  /** "1h", or "off". */
  duration: string;
}

/** `tapfix mute`: nothing is noticed there for a while. The watcher reads it within a minute. */
export async function runMute({ glob, duration }: MuteOptions, session: Session): Promise<number> {
  const { api, clock, io, ownNamespace: namespace, timeZone } = session;
  const nowMs = clock.now();
  if (glob === undefined) {
    const { mutes, problem } = await readMutes(api, namespace, nowMs);
    if (problem) throw new UserError(`what is muted is ${problem}`);
    io.print(
      mutes.length === 0 ? 'Nothing is muted.' : mutes.map((mute) => muteText(mute, nowMs, timeZone)).join('\n'),
    );
    return 0;
  }
  if (!isGlob.test(glob))
    throw new UserError(`${JSON.stringify(glob)} is no pattern such as "shop-*" or "shop/checkout*"`, 2);
  const forMs = quietMs(duration, `tapfix mute "${glob}" 1h, or off`);
  const user = await whoIsAsking(session);
  const mutes = createMutes({ api, clock, log: createLog({ level: 'silent' }), namespace });
  try {
    await mutes.set({ glob, until: iso(nowMs + forMs), ...(user !== undefined && { by: user }) });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const right = `that takes the rights to get and patch the ConfigMap ${mutesName} in namespace ${namespace}; in chat an approver may do it`;
    throw new UserError(`you may not mute: ${messageOf(error)}\n${right}`, 1, error);
  }
  const until = timesIn(timeZone, nowMs).minuteZoned(nowMs + forMs);
  io.print(forMs === 0 ? `${glob} is no longer muted.` : `${glob} is muted until ${until}.`);
  return 0;
}
