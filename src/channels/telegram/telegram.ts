import { Api } from 'grammy';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Message } from '../../notices/message.ts';
import type { Channel, Place } from '../channel.ts';
import { paced } from '../pace.ts';
import { NoToken, asOutboxError, isBadMarkup, isGone, isNotModified } from './errors.ts';
import { createPoller } from './poll.ts';
import { plainText, renderTelegram } from './render.ts';

export interface TelegramDeps {
  /** Read again for every call, so that a rotated token is used at once. */
  token: () => Promise<string | undefined>;
  apiRoot: string;
  log: Log;
  clock: Clock;
}

/** The library's default of 500 s would hold a message back for minutes. */
const callTimeoutSeconds = 45;

/** Telegram as a channel. Only Api of grammY is used: its polling cannot be interrupted or supervised. */
export function createTelegram({ token, apiRoot, log, clock }: TelegramDeps): Channel {
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
  const poller = createPoller({ api, log, clock });

  async function post(place: Place, message: Message): Promise<string> {
    const { html, keyboard } = renderTelegram(message);
    const options = { ...base(message), ...thread(place), reply_markup: keyboard };
    // After a timeout nobody knows whether it arrived; it is tried again later, and may then be there twice.
    return withOutboxErrors(async () => {
      const bot = await api();
      const sent = await withoutMarkupIfRefused(
        () => bot.sendMessage(place.chat, html, { ...options, parse_mode: 'HTML' }),
        () => bot.sendMessage(place.chat, plainText(message), options),
      );
      return String(sent.message_id);
    });
  }

  async function edit(place: Place, id: string, message: Message): Promise<void> {
    const { html, keyboard } = renderTelegram(message);
    const options = { link_preview_options: { is_disabled: true }, reply_markup: keyboard };
    await withOutboxErrors(async () => {
      const bot = await api();
      try {
        await withoutMarkupIfRefused(
          () => bot.editMessageText(place.chat, Number(id), html, { ...options, parse_mode: 'HTML' }),
          () => bot.editMessageText(place.chat, Number(id), plainText(message), options),
        );
      } catch (error) {
        if (isNotModified(error)) return;
        if (!isGone(error)) throw error;
        log.warn({ chat: place.chat, message: id }, 'telegram message is gone');
      }
    });
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

  const channel: Channel = { name: 'telegram', post, edit, run: poller.run, health: poller.health };
  return paced(channel, { minTimeMs: 50, maxConcurrent: 8 });
}

const base = ({ silent }: Message) => ({ disable_notification: silent, link_preview_options: { is_disabled: true } });

const thread = ({ thread }: Place): { message_thread_id?: number } =>
  thread === undefined ? {} : { message_thread_id: Number(thread) };

async function withOutboxErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asOutboxError(error);
  }
}
