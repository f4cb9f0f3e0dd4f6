import type { Answer, Command } from '../../channels/channel.ts';
import type { Approver } from '../../config/schema.ts';
import { iso } from '../../lib/clock.ts';
import { parseDuration } from '../../lib/duration.ts';
import { messageOf } from '../../lib/errors.ts';
import { covers, isLiteral } from '../../lib/glob.ts';
import { entriesOf } from '../../notices/people.ts';
import { timesIn } from '../../notices/times.ts';
import { type CommandRow, type Hall, longestMs, shortestMs } from '../hall.ts';
import { refuse, type Refusal } from '../rules.ts';
import { note, shown } from './look.ts';

const isGlob = /^[a-z0-9*?][a-z0-9*?.-]{0,62}(\/[a-z0-9*?.-]{1,190})?$/;

export const mute: CommandRow = {
  name: 'mute',
  takes: '[GLOB 1h | GLOB off]',
  does: 'notice nothing there for a while; without more: what is muted',
  async run(command, words, hall) {
    const [glob, long = '1h'] = words;
    if (!glob) return list(hall);
    const forMs = long === 'off' ? 0 : parseDuration(long);
    const wrong = !isGlob.test(glob) || forMs === undefined || words.length > 2;
    if (wrong) return hall.audit(command, refuse('NotUnderstood', 'So: /mute shop-* 1h, /mute shop/checkout 30m, /mute shop-* off')); // prettier-ignore
    if (forMs !== 0 && (forMs < shortestMs || forMs > longestMs))
      return hall.audit(command, refuse('NotUnderstood', 'Between 1m and 7d, please: /mute shop-* 1h'));
    const refusal = await mayNot(command, glob, hall);
    return refusal ? hall.audit(command, refusal) : set(command, glob, forMs, hall);
  },
};

async function set(command: Command, glob: string, forMs: number, hall: Hall): Promise<Answer> {
  const nowMs = hall.clock.now();
  try {
    await hall.mutes.set({ glob, until: iso(nowMs + forMs), by: command.by });
  } catch (error) {
    return hall.audit(
      command,
      refuse('NotRecorded', `It could not be written down: ${messageOf(error)}`.slice(0, 190)),
    );
  }
  const until = timesIn(hall.timeZone, nowMs).minuteZoned(nowMs + forMs);
  const say = forMs === 0 ? `${glob} is no longer muted.` : `${glob} is muted until ${until}.`;
  return hall.audit(command, { ok: true, decision: forMs === 0 ? 'Unmuted' : 'Muted', say });
}

function list({ mutes, clock, timeZone }: Hall): Answer {
  const times = timesIn(timeZone, clock.now());
  const lines = mutes.active().map(({ glob, until }) => `${glob} until ${times.minuteZoned(until)}`);
  return lines.length > 0 ? shown(note('Muted', lines)) : { say: 'Nothing is muted.', alert: false };
}

/** Who may decide everywhere that it covers may silence it. */
async function mayNot(command: Command, glob: string, hall: Hall): Promise<Refusal | undefined> {
  if (command.channel === 'console') return undefined;
  const entries = entriesOf(hall.current(), command.channel, command.by);
  if (entries.length === 0) return refuse('NotAnApprover', "You are not on the approvers' list.");
  const namespace = glob.split('/')[0]!;
  const entry = entries.find((one) => mayMuteAllOf(one, namespace));
  if (!entry) return refuse('NotAllowedHere', `You are not on the approvers' list for all of ${namespace}.`);
  if (entry.kubernetesUser === undefined) return undefined;
  const isAllowed = await hall.subjectAccess(entry, isLiteral(namespace) ? namespace : '');
  return isAllowed ? undefined : refuse('RefusedByRbac', `Kubernetes does not let ${entry.kubernetesUser} approve in ${namespace}.`); // prettier-ignore
}

const mayMuteAllOf = ({ namespaces }: Approver, wanted: string): boolean =>
  namespaces === undefined || namespaces.some((glob) => covers(glob, wanted));
