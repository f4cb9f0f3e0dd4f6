import type { Answer, Press } from '../channels/channel.ts';
import { whoIsOnIt } from '../kube/attention.ts';
import type { Remediation } from '../kube/remediation.ts';
import { counted } from '../lib/counted.ts';
import { needsSomebody } from '../notices/order.ts';
import { encodePress } from '../notices/payload.ts';

/** So many at once: the cluster has other things to do just then. */
const atOnce = 4;

/**
 * "I'm on it" for everything that a message tells of. Each is judged and written down as if it had been pressed alone;
 * the presser is answered as soon as the first is, and the others follow. Where somebody may not decide, nothing is said
 * in their name. undefined: there is nobody to be on.
 */
export async function acknowledgeAll(
  press: Press,
  members: readonly Remediation[],
  onPress: (press: Press) => Promise<Answer>,
): Promise<Answer | undefined> {
  const open = members.filter((fix) => needsSomebody(fix) && whoIsOnIt(fix) !== press.by);
  const say = (fix: Remediation): Promise<Answer> => onPress({ ...press, data: encodePress('k', fix) });
  const forbidden = new Set<string | undefined>(); // namespaces
  let refusal: Answer | undefined;
  for (const [index, fix] of open.entries()) {
    if (forbidden.has(fix.metadata.namespace)) continue;
    const answer = await say(fix);
    if (!answer.alert) {
      const left = open.slice(index + 1).filter(({ metadata }) => !forbidden.has(metadata.namespace));
      void inTurns(left, say);
      return {
        say: `You are on it: ${counted(left.length + 1, 'incident')}. Nobody is reminded any more.`,
        alert: false,
      };
    }
    refusal = answer;
    forbidden.add(fix.metadata.namespace);
  }
  return refusal;
}

async function inTurns(fixes: readonly Remediation[], say: (fix: Remediation) => Promise<unknown>): Promise<void> {
  const left = [...fixes];
  const worker = async (): Promise<void> => {
    for (let fix = left.shift(); fix; fix = left.shift()) await say(fix).catch(() => undefined);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
