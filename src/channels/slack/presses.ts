import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Answer, Handlers } from '../channel.ts';
import type { Answers } from './answers.ts';
import { deedIn, type Deed } from './deeds.ts';
import type { Envelope } from './socket.ts';

/** Slack tells the presser after three seconds that nobody listens. */
const ackWithinMs = 2_000;
/** More presses than a socket's end can make Slack repeat. */
const mostRemembered = 1_000;
const lastAnswersMs = 2_000;

export interface PressesDeps {
  answers: Answers;
  clock: Clock;
  log: Log;
}

export interface Presses {
  receive(envelope: Envelope, handlers: Handlers): void;
  /** No more are taken; those under way are decided and answered, if that does not take long. */
  end(): Promise<void>;
}

/** Each press and each command is decided once, however often and on however many sockets it arrives. */
export function createPresses({ answers, clock, log }: PressesDeps): Presses {
  const decisions = new Map<string, Promise<void>>();
  const underWay = new Set<Promise<void>>();
  let isOver = false;

  function receive(envelope: Envelope, handlers: Handlers): void {
    if (isOver) return; // not acknowledged: whoever pressed is told so by Slack
    const work = handle(envelope, handlers).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  /** Acknowledged when it is decided: were we killed before, Slack would tell the presser. But never late. */
  async function handle(envelope: Envelope, handlers: Handlers): Promise<void> {
    const found = deedIn(envelope);
    const decided = found && (decisions.get(found.key) ?? begin(found, handlers));
    const done = new AbortController();
    if (decided) await Promise.race([decided, clock.sleep(ackWithinMs, done.signal)]);
    done.abort();
    try {
      await envelope.ack();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'press not acknowledged');
    }
  }

  function begin(deed: Deed, handlers: Handlers): Promise<void> {
    const answer = decide(deed, handlers);
    const answered = answer.then((said) => answers.to(deed, said)).finally(() => underWay.delete(answered));
    underWay.add(answered);
    const decided = answer.then(() => undefined);
    decisions.set(deed.key, decided);
    for (const oldest of decisions.keys()) if (decisions.size > mostRemembered) decisions.delete(oldest);
    return decided;
  }

  async function decide({ press, command }: Deed, { onPress, onCommand }: Handlers): Promise<Answer> {
    try {
      return await (press ? onPress(press) : onCommand(command));
    } catch (error) {
      const reason = messageOf(error);
      if (press) log.error({ reason }, 'press not handled');
      else log.error({ reason }, 'command not handled');
      return { say: 'Something went wrong in tapfix; nothing was decided. Try again.', alert: true };
    }
  }

  return {
    receive,
    async end() {
      isOver = true;
      const said = new AbortController();
      const all = Promise.allSettled(underWay).then(() => said.abort());
      await Promise.race([all, clock.sleep(lastAnswersMs, said.signal)]);
    },
  };
}
