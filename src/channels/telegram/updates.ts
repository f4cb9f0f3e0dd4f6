import type { CallbackQuery, Message } from 'grammy/types';
import type { Command, Place, Press } from '../channel.ts';

/** What somebody pressed; undefined: not a button of a message that can be known. */
export function pressOf({ data, from, message }: CallbackQuery, botId: number): Press | undefined {
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

/** "/open", "/open@our_bot": what somebody wrote to us; in a group others talk to other bots. */
export function commandOf(message: Message, botName: string | undefined): Command | undefined {
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
    text: `${word.toLowerCase()} ${rest ?? ''}`.trim(),
    ...(replyTo !== undefined && { replyTo: String(replyTo) }),
  };
}

function placeOf(message: NonNullable<CallbackQuery['message']>): Place {
  const topic = 'message_thread_id' in message && message.is_topic_message ? message.message_thread_id : undefined;
  return { chat: String(message.chat.id), ...(topic !== undefined && { thread: String(topic) }) };
}
