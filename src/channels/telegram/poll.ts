import type { Api } from 'grammy';
import type { CallbackQuery, Message, Update } from 'grammy/types';
import { type Clock, inTime } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import {
  type Answer,
  type Channel,
  type ChannelHealth,
  ChatMoved,
  type Command,
  type Handlers,
  type Place,
  type Press,
} from '../channel.ts';
import type { Pacer } from '../pacing.ts';
import type { TelegramAnswers } from './answers.ts';
import type { Chats } from './chats.ts';
import { type TelegramTrouble, troubleIn, troubleOf } from './failures.ts';

/** The press; undefined if it is not a button of a message that we can know. */
function pressOf({ data, from, message }: CallbackQuery, botId: number): Press | undefined {
  if (data === undefined || !message) return undefined;
  const isOurs = 'from' in message && message.from?.id === botId && !('forward_origin' in message);
  return {
    channel: 'telegram',
    by: `telegram:${from.id}`,
    name: from.username ?? from.first_name,
    place: placeOf(message),
    message: String(message.message_id),
    data,
    ...(isOurs && { ours: true as const }),
  };
}

/** The command in a message: "/open", "/open@our_bot". In a group, people also write to other bots. */
function commandOf(message: Message, botName: string | undefined): Command | undefined {
  const { from, text } = message;
  const [, word, addressee, rest] = /^\/([a-z_]+)(?:@(\w+))?(?:\s+(.*))?$/is.exec(text ?? '') ?? [];
  if (!word || !from || from.is_bot || 'forward_origin' in message) return undefined;
  if (addressee !== undefined && addressee.toLowerCase() !== botName?.toLowerCase()) return undefined;
  const replyTo = message.reply_to_message?.message_id;
  return {
    channel: 'telegram',
    by: `telegram:${from.id}`,
    name: from.username ?? from.first_name,
    place: placeOf(message),
    id: String(message.message_id),
    writtenMs: message.date * 1000,
    text: `${word.toLowerCase()} ${rest ?? ''}`.trim(),
    ...(replyTo !== undefined && { replyTo: String(replyTo) }),
  };
}

function placeOf(message: NonNullable<CallbackQuery['message']>): Place {
  const topic = 'message_thread_id' in message && message.is_topic_message ? message.message_thread_id : undefined;
  return { chat: String(message.chat.id), ...(topic !== undefined && { thread: String(topic) }) };
}

interface PollerDeps {
  api: () => Promise<Api>;
  pacer: Pick<Pacer, 'call'>;
  answers: TelegramAnswers;
  chats: Chats;
  /** The chats in the current configuration. */
  own: () => readonly string[];
  log: Log;
  clock: Clock;
}

const pollSeconds = 25;
/** If the server answers "nothing" at once instead of waiting, we pause this long between polls. */
const shortestPollMs = 250;
const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;
const lastAnswersMs = 2_000;
/** During a rollout two pods poll for a moment. Longer than this, somebody else has our token. */
const longConflictMs = 120_000;
/** A poll takes 25 s, and the pause after a refusal up to 30 s. */
const sameConflictMs = 90_000;
/** Telegram repeats only what the last poll did not confirm, at most 100 updates. */
const mostRemembered = 1_000;
/** A command that is addressed to a bot waits for our own name. */
const nameTries = 3;
const nameRetryMs = 1_000;

/**
 * Long polling, for ever. An update counts as received only when the next poll confirms it, and that poll starts after
 * every press of the last one was decided: so a press is not lost, even if we are killed. Presses made while we were
 * down are still there (Telegram keeps them for a day) and are handled. One process handles each update once, however
 * often it arrives: an update that fails is answered or logged, and does not bring the others again.
 */
export function createPoller({
  api,
  pacer,
  answers,
  chats,
  own,
  log,
  clock,
}: PollerDeps): Pick<Channel, 'run' | 'health' | 'sharedSinceMs'> {
  let trouble: TelegramTrouble | undefined;
  let health: ChannelHealth = connecting;
  const answering = new Set<Promise<void>>();
  let introduced: { bot: Api; chats: Set<string> } | undefined;
  let conflict: { firstMs: number; lastMs: number } | undefined;
  let named: { bot: Api; name: string } | undefined;
  const handled = new Set<number>(); // update_ids, the oldest first

  async function run(handlers: Handlers, signal: AbortSignal): Promise<void> {
    let offset = 0;
    let failures = 0;
    health = connecting;
    conflict = undefined; // what an earlier run saw says nothing about now
    while (!signal.aborted) {
      const askedAtMs = clock.now();
      try {
        const bot = await api();
        const updates = await poll(bot, offset, signal);
        const receivedMs = clock.now();
        failures = 0;
        works();
        void introduce(handlers).catch(() => undefined); // the token is missing by now: the next poll reports it
        await handleAll(bot, updates.filter(isNew), receivedMs, handlers);
        if (updates.length === 0 && clock.now() - askedAtMs < shortestPollMs) await clock.sleep(shortestPollMs, signal);
        for (const { update_id } of updates) offset = Math.max(offset, update_id + 1);
      } catch (error) {
        if (signal.aborted) break;
        const found = troubleOf(error);
        fails(found);
        if (found.kind === 'SecondPoller') noteSecondPoller(clock.now());
        await clock.sleep(backOffMs(found, failures++), signal);
      }
    }
    await lastAnswers();
    health = { ok: false, detail: 'stopped' };
  }

  /** Decisions are still answered, if that does not take long. */
  async function lastAnswers(): Promise<void> {
    await inTime({ clock, ms: lastAnswersMs, late: undefined }, () => Promise.allSettled(answering));
    answers.drop();
  }

  /** True once for each update. */
  function isNew({ update_id }: Update): boolean {
    if (handled.has(update_id)) return false;
    handled.add(update_id);
    for (const oldest of handled) if (handled.size > mostRemembered) handled.delete(oldest);
    return true;
  }

  async function poll(bot: Api, offset: number, signal: AbortSignal): Promise<Update[]> {
    // The first answer, and the first after trouble, must not take 25 s. With a second poller only a full poll proves
    // anything.
    const timeout = health.ok || trouble?.kind === 'SecondPoller' ? pollSeconds : 0;
    const options = { offset, timeout, allowed_updates: ['callback_query', 'message'] as const };
    const updates: unknown = await bot.getUpdates(options, signal as Parameters<Api['getUpdates']>[1]);
    if (!Array.isArray(updates)) throw new TypeError('getUpdates did not give a list');
    return updates as Update[];
  }

  /**
   * Presses on one message are handled one after another, so that the first is decided first; so are commands in one
   * chat. Everything else runs in parallel.
   */
  async function handleAll(
    bot: Api,
    updates: readonly Update[],
    receivedMs: number,
    handlers: Handlers,
  ): Promise<void> {
    const byMessage = Object.groupBy(updates, ({ callback_query, message }) => {
      const pressed = callback_query?.message;
      return pressed ? `${pressed.chat.id} ${pressed.message_id}` : `${message?.chat.id}`;
    });
    await Promise.all(
      Object.values(byMessage).map(async (some) => {
        for (const { callback_query, message } of some ?? []) {
          if (callback_query) await handlePress(bot, callback_query, handlers);
          else if (message) await handleCommand(bot, message, receivedMs, handlers);
        }
      }),
    );
  }

  async function handlePress(bot: Api, query: CallbackQuery, { onPress }: Handlers): Promise<void> {
    const press = pressOf(query, botIdOf(bot));
    const answer = press ? await decided(() => onPress(press), pressLost) : unknownButton;
    afterwards(answers.toPress(query.id, press, answer));
  }

  async function handleCommand(
    bot: Api,
    message: NonNullable<Update['message']>,
    receivedMs: number,
    { onCommand }: Handlers,
  ): Promise<void> {
    if (message.migrate_to_chat_id) chats.moved(String(message.chat.id), String(message.migrate_to_chat_id));
    // The bot's name is read only where it matters: in a group with other bots.
    const isAddressed = /^\/\w+@/.test(message.text ?? '');
    const command = commandOf(message, isAddressed ? await nameOf(bot) : undefined);
    if (!command) return;
    const answer = await decided(() => onCommand({ ...command, receivedMs }), commandLost);
    afterwards(answers.toCommand(command, message.message_id, answer));
  }

  /** undefined if Telegram does not say: then the command may be for another bot, and nobody can be answered. */
  async function nameOf(bot: Api): Promise<string | undefined> {
    if (named?.bot === bot) return named.name;
    for (let tries = 1; ; tries++) {
      try {
        const { username } = await pacer.call({ urgency: 'press' }, () => bot.getMe());
        named = { bot, name: username };
        return username;
      } catch (error) {
        if (tries === nameTries) return void commandLost(troubleOf(error).say);
        await clock.sleep(nameRetryMs);
      }
    }
  }

  const pressLost = (reason: string): void => log.error({ reason }, 'press not handled');
  const commandLost = (reason: string): void => log.error({ reason }, 'command not handled');

  async function decided(work: () => Promise<Answer>, onLost: (reason: string) => void): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      onLost(messageOf(error));
      return { say: 'Something went wrong in tapfix; nothing was decided. Try again.', alert: true };
    }
  }

  function afterwards(saying: Promise<void>): void {
    const answered = saying.finally(() => answering.delete(answered));
    answering.add(answered);
  }

  /**
   * Checks whether we may write in this chat, and whether it has a new id: better to know before there is something to
   * post. getChat, which only reads, shows neither. The price is a moment of "typing" in that chat.
   */
  async function look(bot: Api, chat: string): Promise<void> {
    try {
      await chats.about(chat, () => pacer.call({ urgency: 'rest' }, () => bot.sendChatAction(chat, 'typing')));
    } catch (error) {
      if (error instanceof ChatMoved) return look(bot, error.to);
      const { kind, say } = troubleIn(chat, error);
      if (kind === 'NoSuchChat') log.warn({ kind, reason: say }, 'telegram chat cannot be written to');
    }
  }

  /**
   * Sets the list of commands that appears when somebody types a slash. A failure here is only logged; commands work
   * without it.
   */
  async function introduce({ commands }: Handlers): Promise<void> {
    const bot = await api();
    const known = introduced?.bot === bot ? introduced : undefined;
    const { chats: met } = (introduced = known ?? { bot, chats: new Set() });
    const strangers = own().filter((chat) => !met.has(chat));
    for (const chat of strangers) met.add(chat);
    await Promise.all(strangers.map((chat) => look(bot, chat)));
    if (known || commands.length === 0) return;
    try {
      const list = commands.map(({ name, does }) => ({ command: name, description: does }));
      await pacer.call({ urgency: 'rest' }, () => bot.setMyCommands(list));
    } catch (error) {
      log.warn({ reason: troubleOf(error).say }, 'telegram does not list the commands');
    }
  }

  function works(): void {
    health = { ok: true, detail: 'receiving' };
    if (trouble) log.info({ was: trouble.kind }, 'telegram works again');
    trouble = undefined;
  }

  /** One log line when the trouble changes, not one per attempt. */
  function fails(found: TelegramTrouble): void {
    health = { ok: false, detail: found.say };
    if (trouble?.kind !== found.kind) log.warn({ kind: found.kind, reason: found.say }, 'telegram does not work');
    trouble = found;
  }

  /** With two pollers, each ends the other's poll: the refusals come one after another, with polls that work between. */
  function noteSecondPoller(nowMs: number): void {
    const isSame = conflict && Math.abs(nowMs - conflict.lastMs) < sameConflictMs;
    conflict = { firstMs: isSame ? conflict!.firstMs : nowMs, lastMs: nowMs };
  }

  function sharedSinceMs(): number | undefined {
    if (!conflict || Math.abs(clock.now() - conflict.lastMs) > longConflictMs) return undefined;
    return conflict.lastMs - conflict.firstMs >= longConflictMs ? conflict.firstMs : undefined;
  }

  return { run, health: () => health, sharedSinceMs };
}

const backOffMs = (trouble: TelegramTrouble, failures: number): number =>
  trouble.kind === 'TooFast' || trouble.kind === 'NoToken'
    ? (trouble.retryMs ?? longestBackOffMs)
    : Math.min(firstBackOffMs * 2 ** failures, longestBackOffMs);

const connecting: ChannelHealth = { ok: false, detail: 'connecting' };
const unknownButton: Answer = { say: 'tapfix does not know this button.', alert: true };

/** The number before the colon is the bot's own id. */
const botIdOf = ({ token }: Api): number => Number(token.split(':')[0]);
