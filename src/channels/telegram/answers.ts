import type { Api } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { cut, visible } from '../../lib/text.ts';
import type { Message } from '../../notices/cards/message.ts';
import { type Answer, type Command, NotSent, type Place, type Press, type Turn } from '../channel.ts';
import type { Pacer } from '../pacing.ts';
import { asOutboxError, isStalePress } from './failures.ts';

export interface TelegramAnswersDeps {
  api: () => Promise<Api>;
  pacer: Pick<Pacer, 'call'>;
  post(place: Place, message: Message, replyTo: string, turn: Turn): Promise<string>;
  edit(place: Place, id: string, message: Message, turn: Turn): Promise<void>;
  log: Log;
  clock: Clock;
}

/** Answers people's presses and commands. They never throw: an answer that cannot be sent is only logged. */
export interface TelegramAnswers {
  toPress(id: string, press: Press | undefined, answer: Answer): Promise<void>;
  toCommand(command: Command, message: number, answer: Answer): Promise<void>;
  /** Answers that still wait for their turn are not sent any more. */
  drop(): void;
}

/** The longest text above the chat: https://core.telegram.org/bots/api#answercallbackquery */
const maxAnswer = 200;
/** A refusal appears nowhere else, and sending it twice does no harm. */
const mostTries = 3;
const longestPauseMs = 3_000;

export function createAnswers({ api, pacer, post, edit, log, clock }: TelegramAnswersDeps): TelegramAnswers {
  let leaving = new AbortController();

  function giveUp(what: 'press' | 'command', why: { reason: string; tries: number }): void {
    if (what === 'press') log.warn(why, 'press not answered');
    else log.warn(why, 'command not answered');
  }

  /** Errors thrown here are made for the outbox: RetryLater, or final. */
  async function patiently(
    what: 'press' | 'command',
    call: () => Promise<unknown>,
    onUnseen?: () => void,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return void (await call());
      } catch (error) {
        if (!(error instanceof RetryLater) || error instanceof NotSent || tries === mostTries) {
          onUnseen?.();
          return giveUp(what, { reason: messageOf(error), tries });
        }
        await clock.sleep(Math.min(error.afterMs, longestPauseMs));
      }
    }
  }

  /** The button shows a spinner until it is answered. A press that is too old cannot be answered, and need not be. */
  async function toPress(id: string, press: Press | undefined, answer: Answer): Promise<void> {
    const { say, alert, show, inPlace, onUnseen } = answer;
    const text = { ...(say && { text: cut(visible(say), maxAnswer) }), show_alert: alert };
    const { signal } = leaving;
    await patiently('press', () =>
      unlessStale(async () => {
        const bot = await api();
        return pacer.call({ urgency: 'press', signal }, () => bot.answerCallbackQuery(id, text));
      }),
    );
    if (!press || !show) return;
    const { place, message } = press;
    const turn = { urgency: urgencyOf(answer), signal };
    await patiently(
      'press',
      () => (inPlace ? edit(place, message, show, turn) : post(place, quiet(show), message, turn)),
      onUnseen,
    );
  }

  async function toCommand({ place }: Command, message: number, answer: Answer): Promise<void> {
    const { say, show, onUnseen } = answer;
    if (!show && !say) return;
    const turn = { urgency: urgencyOf(answer), signal: leaving.signal };
    await patiently('command', () => post(place, quiet(show ?? plainly(say)), String(message), turn), onUnseen);
  }

  function drop(): void {
    leaving.abort();
    leaving = new AbortController();
  }

  return { toPress, toCommand, drop };
}

/** A question runs out in half a minute, so it cannot wait behind lists. */
const urgencyOf = ({ onUnseen }: Answer): 'press' | 'rest' => (onUnseen ? 'press' : 'rest');

const quiet = (message: Message): Message => ({ ...message, silent: true });

const plainly = (say: string): Message => ({ cards: [], rest: say, silent: true });

async function unlessStale(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isStalePress(error)) throw asOutboxError(error);
  }
}
