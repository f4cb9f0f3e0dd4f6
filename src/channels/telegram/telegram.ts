import { Api } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Message } from '../../notices/cards/message.ts';
import { type Channel, type ChannelHealth, ChatMoved, type Place, type Turn } from '../channel.ts';
import { type ChatRates, createPacer } from '../pacing.ts';
import { createAnswers } from './answers.ts';
import { createChats } from './chats.ts';
import {
  asOutboxError,
  isBadMarkup,
  isGone,
  isLeftBehind,
  isNotModified,
  isTopicGone,
  NoToken,
  waitAskedMs,
} from './failures.ts';
import { createPoller } from './poll.ts';
import { allCode, plainText, renderTelegram } from './render.ts';

export interface TelegramDeps {
  /** Read again for every call, so that a rotated token is used at once. */
  token: () => Promise<string | undefined>;
  apiRoot: string;
  /** The chats in the current configuration. New ones are checked at once, not only when there is something to post. */
  chats: () => readonly string[];
  log: Log;
  clock: Clock;
  /** A call without an answer is given up after this time, which is longer than a poll. */
  callTimeoutSeconds?: number;
}

/** The library's default of 500 s would hold a message back for minutes. */
const usualTimeoutSeconds = 45;

/**
 * "Avoid sending more than one message per second" in a chat, "not more than 20 messages per minute" in a group, "about
 * 30 messages per second" in all: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this.
 * Telegram does not say whether edits count as messages; here they do. Of a group's 20 eight are kept for alerts, so all
 * else gets 12: six in any half a minute, so that nobody who turns pages waits long for one of them.
 */
const botRate = { calls: 30, inMs: 1_000 };
const chatRates: ChatRates = { apartMs: 1_000, pauseMs: waitAskedMs };
const groupRates: ChatRates = {
  ...chatRates,
  most: { calls: 20, inMs: 60_000 },
  rest: { calls: 6, inMs: 30_000 },
};
/** A private chat has the number of the person. */
const isGroup = (chat: string): boolean => !/^\d/.test(chat);

/** Telegram as a channel. Only grammY's Api is used, because its polling cannot be interrupted or supervised. */
export function createTelegram({ token, apiRoot, chats: own, log, clock, ...deps }: TelegramDeps): Channel {
  const { callTimeoutSeconds = usualTimeoutSeconds } = deps;
  const chats = createChats(log, own);
  const pacer = createPacer({ clock, bot: botRate });
  const [groups, people] = [pacer.chats(groupRates), pacer.chats(chatRates)];
  const inChat = <T>(chat: string, turn: Turn, call: () => Promise<T>): Promise<T> =>
    (isGroup(chat) ? groups : people).call(chat, turn, call);
  let client: { token: string; api: Api } | undefined;

  async function api(): Promise<Api> {
    const now = (await token())?.trim();
    if (!now) throw new NoToken('no Telegram bot token');
    if (client?.token !== now) {
      const options = { apiRoot: apiRoot.replace(/\/+$/, ''), timeoutSeconds: callTimeoutSeconds };
      client = { token: now, api: new Api(now, options) };
    }
    return client.api;
  }
  const answers = createAnswers({ api, pacer, post: postWhereItIs, edit, log, clock });
  const poller = createPoller({ api, pacer, answers, chats, own, log, clock });

  async function post(place: Place, message: Message, replyTo?: string, turn: Turn = {}): Promise<string> {
    const { html, keyboard } = renderTelegram(message);
    const options = { ...base(message), ...reply(replyTo), reply_markup: keyboard };
    const plain = plainText(message);
    // After a timeout nobody knows whether it arrived. It is retried later, and may then be there twice.
    return about(place.chat, turn, async (paced, bot) => {
      const send = (topic: object) =>
        withoutMarkupIfRefused(
          () => paced(() => bot.sendMessage(place.chat, html, { ...options, ...topic, parse_mode: 'HTML' })),
          () => paced(() => bot.sendMessage(place.chat, plain, { ...options, ...topic, ...allCode(plain) })),
        );
      const sent = await send(thread(place)).catch((error: unknown) => {
        if (!isTopicGone(error)) throw error;
        chats.withoutTopic(place);
        return send({});
      });
      return String(sent.message_id);
    });
  }

  /**
   * An answer follows the people into the new chat. The message it answers stays in the old chat, and the same id is
   * another message in the new one.
   */
  async function postWhereItIs(place: Place, message: Message, replyTo: string, turn: Turn): Promise<string> {
    try {
      return await post(place, message, replyTo, turn);
    } catch (error) {
      if (!(error instanceof ChatMoved)) throw error;
      return post({ ...place, chat: error.to }, message, undefined, turn);
    }
  }

  async function edit(place: Place, id: string, message: Message, turn: Turn = {}): Promise<void> {
    const { html, keyboard } = renderTelegram(message);
    const options = { link_preview_options: { is_disabled: true }, reply_markup: keyboard };
    const plain = plainText(message);
    await about(place.chat, turn, async (paced, bot) => {
      try {
        await withoutMarkupIfRefused(
          () => paced(() => bot.editMessageText(place.chat, Number(id), html, { ...options, parse_mode: 'HTML' })),
          () => paced(() => bot.editMessageText(place.chat, Number(id), plain, { ...options, ...allCode(plain) })),
        );
      } catch (error) {
        if (isNotModified(error)) return;
        if (!isGone(error) && !isLeftBehind(error)) throw error;
        log.warn({ chat: place.chat, message: id }, 'telegram message is gone');
      }
    });
  }

  async function about<T>(chat: string, turn: Turn, call: (paced: Paced, bot: Api) => Promise<T>): Promise<T> {
    try {
      const bot = await api();
      return await chats.about(chat, () => call((send) => inChat(chat, turn, send), bot));
    } catch (error) {
      throw asOutboxError(error, chat);
    }
  }

  function health(): ChannelHealth {
    const receiving = poller.health();
    const trouble = chats.trouble();
    return receiving.ok && trouble ? { ok: false, detail: trouble.say } : receiving;
  }

  async function withoutMarkupIfRefused<T>(marked: () => Promise<T>, plain: () => Promise<T>): Promise<T> {
    try {
      return await marked();
    } catch (error) {
      if (!isBadMarkup(error)) throw error;
      log.error({}, 'telegram refused our markup, sent as plain text');
      return plain();
    }
  }

  const { run, sharedSinceMs } = poller;
  return { name: 'telegram', chatNow: chats.now, post, edit, run, health, sharedSinceMs };
}

/** Each call waits for its own turn: one that is repeated without markup, or without its topic, is two. */
type Paced = <T>(send: () => Promise<T>) => Promise<T>;

const base = ({ silent }: Message) => ({ disable_notification: silent, link_preview_options: { is_disabled: true } });

/** The message that is answered may have been deleted meanwhile. */
const reply = (to: string | undefined): object =>
  to === undefined ? {} : { reply_parameters: { message_id: Number(to), allow_sending_without_reply: true } };

const thread = ({ thread }: Place): { message_thread_id?: number } =>
  thread === undefined ? {} : { message_thread_id: Number(thread) };
