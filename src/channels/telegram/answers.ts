import type { Api } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { cut } from '../../lib/text.ts';
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

/** Says to people what became of what they did. They never throw: an answer that cannot be given is a line in the log. */
export interface TelegramAnswers {
  toPress(id: string, press: Press | undefined, answer: Answer): Promise<void>;
  toCommand(command: Command, message: number, answer: Answer): Promise<void>;
}

/** Longest text above the chat: https://core.telegram.org/bots/api#answercallbackquery */
const maxAnswer = 200;
/** A refusal is said nowhere else, and saying it twice does no harm. */
const mostTries = 3;
const longestPauseMs = 3_000;

export function createAnswers({ api, post, edit, log, clock }: TelegramAnswersDeps): TelegramAnswers {
  function giveUp(what: 'press' | 'command', why: { reason: string; tries: number }): void {
    if (what === 'press') log.warn(why, 'press not answered');
    else log.warn(why, 'command not answered');
  }

  /** What is thrown here is for the outbox: again and when, or never. */
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

  /** The button shows a spinner until it is answered. One pressed too long ago cannot be, and needs not. */
  async function toPress(id: string, press: Press | undefined, answer: Answer): Promise<void> {
    const { say, alert, show, inPlace } = answer;
    const text = { ...(say && { text: cut(say, maxAnswer) }), show_alert: alert };
    await patiently('press', () => unlessStale(async () => (await api()).answerCallbackQuery(id, text)));
    if (!press || !show) return;
    const { place, message } = press;
    await patiently('press', () => (inPlace ? edit(place, message, show) : post(place, quiet(show), message)));
  }

  function toCommand({ place }: Command, message: number, { say, show }: Answer): Promise<void> {
    return patiently('command', () => post(place, quiet(show ?? plainly(say)), String(message)));
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
