import type { Api } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { cut, visible } from '../../lib/text.ts';
import type { Message } from '../../notices/cards/message.ts';
import type { Answer, Command, Place, Press } from '../channel.ts';
import { asOutboxError, isStalePress } from './failures.ts';

export interface TelegramAnswersDeps {
  api: () => Promise<Api>;
  post(place: Place, message: Message, replyTo?: string): Promise<string>;
  edit(place: Place, id: string, message: Message): Promise<void>;
  log: Log;
  clock: Clock;
}

/** Answers people's presses and commands. They never throw: an answer that cannot be sent is only logged. */
export interface TelegramAnswers {
  toPress(id: string, press: Press | undefined, answer: Answer): Promise<void>;
  toCommand(command: Command, message: number, answer: Answer): Promise<void>;
}

/** The longest text above the chat: https://core.telegram.org/bots/api#answercallbackquery */
const maxAnswer = 200;
/** A refusal appears nowhere else, and sending it twice does no harm. */
const mostTries = 3;
const longestPauseMs = 3_000;

export function createAnswers({ api, post, edit, log, clock }: TelegramAnswersDeps): TelegramAnswers {
  function giveUp(what: 'press' | 'command', why: { reason: string; tries: number }): void {
    if (what === 'press') log.warn(why, 'press not answered');
    else log.warn(why, 'command not answered');
  }

  /** Errors thrown here are made for the outbox: RetryLater, or final. */
  async function patiently(what: 'press' | 'command', call: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return void (await call());
      } catch (error) {
        if (!(error instanceof RetryLater) || tries === mostTries)
          return giveUp(what, { reason: messageOf(error), tries });
        await clock.sleep(Math.min(error.afterMs, longestPauseMs));
      }
    }
  }

  /** The button shows a spinner until it is answered. A press that is too old cannot be answered, and need not be. */
  async function toPress(id: string, press: Press | undefined, answer: Answer): Promise<void> {
    const { say, alert, show, inPlace } = answer;
    const text = { ...(say && { text: cut(visible(say), maxAnswer) }), show_alert: alert };
    await patiently('press', () => unlessStale(async () => (await api()).answerCallbackQuery(id, text)));
    if (!press || !show) return;
    const { place, message } = press;
    await patiently('press', () => (inPlace ? edit(place, message, show) : post(place, quiet(show), message)));
  }

  async function toCommand({ place }: Command, message: number, { say, show }: Answer): Promise<void> {
    if (!show && !say) return;
    await patiently('command', () => post(place, quiet(show ?? plainly(say)), String(message)));
  }

  return { toPress, toCommand };
}

const quiet = (message: Message): Message => ({ ...message, silent: true });

const plainly = (say: string): Message => ({ cards: [], rest: say, silent: true });

async function unlessStale(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isStalePress(error)) throw asOutboxError(error);
  }
}
