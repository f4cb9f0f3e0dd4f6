import { GrammyError, HttpError } from 'grammy';
import { RetryLater, UserError } from '../../lib/errors.ts';
import { ChatMoved, NotSent } from '../channel.ts';

/** A problem with Telegram, in words that may be logged: the library's own errors can hold the token. */
export interface TelegramTrouble {
  kind:
    | 'NoToken'
    | 'TokenRefused'
    | 'SecondPoller'
    | 'TooFast'
    | 'NoSuchChat'
    | 'Refused'
    | 'ServerError'
    | 'Garbage'
    | 'Unreachable';
  say: string;
  /** How long to wait before a retry, by the vendor or by our default; undefined if a retry would not help. */
  retryMs?: number;
}

export class NoToken extends Error {
  override readonly name = 'NoToken';
}

const otherwiseMs = 5_000;
const tokenRetryMs = 30_000;

export function troubleOf(error: unknown): TelegramTrouble {
  if (error instanceof NoToken) {
    return {
      kind: 'NoToken',
      say: 'no Telegram bot token: set TELEGRAM_BOT_TOKEN or TELEGRAM_BOT_TOKEN_FILE',
      retryMs: tokenRetryMs,
    };
  }
  // A token file that exists but cannot be read.
  if (error instanceof UserError) return { kind: 'NoToken', say: error.message, retryMs: tokenRetryMs };
  if (error instanceof HttpError) return ofNetwork(error);
  if (!(error instanceof GrammyError) || typeof error.error_code !== 'number') {
    return { kind: 'Garbage', say: 'Telegram answered with something that is not its API', retryMs: otherwiseMs };
  }
  const said = `${error.error_code} ${error.description}`;
  switch (error.error_code) {
    case 401:
    case 404: // a text that does not even look like a token
      return { kind: 'TokenRefused', say: `Telegram refused the bot token (${said})`, retryMs: tokenRetryMs };
    case 409:
      return { kind: 'SecondPoller', say: `somebody else receives this bot's updates (${said})`, retryMs: otherwiseMs };
    case 429: {
      const seconds = error.parameters?.retry_after ?? 5;
      return { kind: 'TooFast', say: `Telegram asks to wait ${seconds} s`, retryMs: seconds * 1000 };
    }
    default:
      if (isAboutTheChat(error)) return { kind: 'NoSuchChat', say: `Telegram refused the message (${said})` };
      return error.error_code >= 500
        ? { kind: 'ServerError', say: `Telegram has a problem (${said})`, retryMs: otherwiseMs }
        : { kind: 'Refused', say: `Telegram refused the message (${said})` };
  }
}

/** How long Telegram asks to wait, if it does. */
export const waitAskedMs = (error: unknown): number | undefined => {
  if (!(error instanceof GrammyError)) return undefined;
  const { kind, retryMs } = troubleOf(error);
  return kind === 'TooFast' ? retryMs : undefined;
};

/** The bot was removed, blocked, or may not write, or there is no such chat. */
const isAboutTheChat = ({ error_code, description }: GrammyError): boolean =>
  error_code === 403 ||
  (error_code === 400 && /chat not found|CHAT_WRITE_FORBIDDEN|not enough rights/i.test(description));

/** The same for a call about one chat, with advice on what to do. */
export function troubleIn(chat: string, error: unknown): TelegramTrouble {
  const found = troubleOf(error);
  if (found.kind !== 'NoSuchChat') return found;
  const say = `tapfix cannot write to ${chat}: ${wayInto(chat)}, or check its id in channels.telegram; ${found.say}`;
  return { ...found, say };
}

/** A private chat has the person's id, which is positive: https://core.telegram.org/bots/api#chat */
const wayInto = (chat: string): string =>
  chat.startsWith('-') ? 'add the bot to that chat' : 'press Start in the chat with the bot';

/** A page instead of JSON is not the network's fault, but grammY uses the same error for both. */
function ofNetwork({ error }: HttpError): TelegramTrouble {
  const cause = error as { code?: string; type?: string; name?: string } | undefined;
  if (cause?.type === 'invalid-json') {
    return { kind: 'Garbage', say: 'Telegram answered with something that is not its API', retryMs: otherwiseMs };
  }
  // For a call that timed out, grammY has only a plain Error.
  const name = cause?.name === 'Error' ? undefined : cause?.name;
  return {
    kind: 'Unreachable',
    say: `Telegram cannot be reached (${cause?.code ?? name ?? 'no answer'})`,
    retryMs: otherwiseMs,
  };
}

/** For the outbox: retry later, or never. The vendor's own error stays in this file. */
export function asOutboxError(error: unknown, chat?: string): Error {
  if (error instanceof RangeError || error instanceof ChatMoved || error instanceof NotSent) return error;
  const { say, retryMs } = chat === undefined ? troubleOf(error) : troubleIn(chat, error);
  return retryMs === undefined ? new Error(say) : new RetryLater(say, retryMs);
}

const refusedBecause = (error: unknown, pattern: RegExp): boolean =>
  error instanceof GrammyError && error.error_code === 400 && pattern.test(error.description);

export const isNotModified = (error: unknown): boolean => refusedBecause(error, /message is not modified/i);
export const isGone = (error: unknown): boolean =>
  refusedBecause(error, /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i);
/** The message is in a group that has become a supergroup. */
export const isLeftBehind = (error: unknown): boolean => refusedBecause(error, /upgraded to a supergroup/i);
/** The topic was deleted or closed, or it is the first one of a forum, which has no number. */
export const isTopicGone = (error: unknown): boolean =>
  refusedBecause(error, /message thread not found|TOPIC_(CLOSED|DELETED)/i);
export const isBadMarkup = (error: unknown): boolean => refusedBecause(error, /can't parse entities/i);
export const isStalePress = (error: unknown): boolean => refusedBecause(error, /query is too old|query ID is invalid/i);
