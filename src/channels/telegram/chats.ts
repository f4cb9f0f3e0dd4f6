import { GrammyError } from 'grammy';
import type { Log } from '../../lib/log.ts';
import { ChatMoved, type Place } from '../channel.ts';
import { type TelegramTrouble, troubleIn } from './failures.ts';

/** Knows which chats can be written to, and the new ids of groups that became supergroups. */
export interface Chats {
  /** A call about this chat. Throws ChatMoved when the chat has a new id. */
  about<T>(chat: string, call: () => Promise<T>): Promise<T>;
  /** The current id of this chat, as far as it is known. */
  now(chat: string): string;
  /** https://core.telegram.org/bots/api#responseparameters */
  moved(from: string, to: string): void;
  /**
   * The topic is missing, so its messages go into the chat itself rather than nowhere. Logs one line for each topic.
   */
  withoutTopic(place: Place): void;
  /** The last problem that is not over yet, in a chat that is still configured. */
  trouble(): TelegramTrouble | undefined;
}

export function createChats(log: Log, own: () => readonly string[]): Chats {
  const movedTo = new Map<string, string>();
  const noTopic = new Set<string>();
  const inChat = new Map<string, TelegramTrouble>();

  function moved(from: string, to: string): void {
    if (movedTo.get(from) === to || from === to) return;
    movedTo.set(from, to);
    inChat.delete(from);
    log.warn({ from, to }, 'telegram group has a new id: change channels.telegram');
  }

  const now = (chat: string): string => movedTo.get(chat) ?? chat;

  return {
    withoutTopic({ chat, thread }) {
      const topic = `${chat} ${thread}`;
      if (!noTopic.has(topic)) log.warn({ chat, thread }, 'telegram topic is not there, said in its chat');
      noTopic.add(topic);
    },
    moved,
    now,
    trouble: () => own().flatMap((chat) => inChat.get(now(chat)) ?? [])[0],
    async about(chat, call) {
      try {
        const result = await call();
        inChat.delete(chat);
        return result;
      } catch (error) {
        const to = newIdIn(error);
        if (to !== undefined && to !== chat) {
          moved(chat, to);
          throw new ChatMoved(to);
        }
        const found = troubleIn(chat, error);
        if (found.kind === 'NoSuchChat') inChat.set(chat, found);
        throw error;
      }
    },
  };
}

const newIdIn = (error: unknown): string | undefined => {
  const id = error instanceof GrammyError ? error.parameters?.migrate_to_chat_id : undefined;
  return id === undefined ? undefined : String(id);
};
