import { GrammyError } from 'grammy';
import type { Log } from '../../lib/log.ts';
import type { Trouble } from './errors.ts';
import { troubleIn } from './errors.ts';

/** Which chats can be written to, and where those went that became a supergroup: to us they keep the id in the configuration. */
export interface Chats {
  /** A call about this chat, by the id that it has now. */
  about<T>(chat: string, call: (chat: string) => Promise<T>): Promise<T>;
  /** As the configuration calls it. */
  knownAs(chat: string): string;
  /** https://core.telegram.org/bots/api#responseparameters */
  moved(from: string, to: string): void;
  /** What went wrong last and has not gone well since. */
  trouble(): Trouble | undefined;
}

export function createChats(log: Log): Chats {
  const movedTo = new Map<string, string>();
  const inChat = new Map<string, Trouble>();

  function moved(from: string, to: string): void {
    if (movedTo.get(from) === to || from === to) return;
    movedTo.set(from, to);
    log.warn({ from, to }, 'telegram group has a new id: change channels.telegram');
  }

  async function once<T>(chat: string, call: (chat: string) => Promise<T>): Promise<T> {
    const now = movedTo.get(chat) ?? chat;
    try {
      return await call(now);
    } catch (error) {
      const next = newIdIn(error);
      if (next === undefined || next === now) throw error;
      moved(chat, next);
      return call(next);
    }
  }

  return {
    moved,
    knownAs: (chat) => [...movedTo].find(([, to]) => to === chat)?.[0] ?? chat,
    trouble: () => [...inChat.values()][0],
    async about(chat, call) {
      try {
        const result = await once(chat, call);
        inChat.delete(chat);
        return result;
      } catch (error) {
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
