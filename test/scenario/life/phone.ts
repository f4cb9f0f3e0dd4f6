import {
  type Answer,
  type Channel,
  type ChannelName,
  ChatMoved,
  type Handlers,
} from '../../../src/channels/channel.ts';
import { consoleText } from '../../../src/channels/console/console-text.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import type { Message } from '../../../src/notices/cards/message.ts';

export const ada = 111;
export const chatId = -1001;

interface Shown {
  id: string;
  chat: string;
  message: Message;
  replyTo?: string | undefined;
}

/** A phone that outlives tapfix: what was posted stays, whoever posted it. */
export function createPhone() {
  const messages: Shown[] = [];
  const refusing = new Set<string>();
  const moved = new Map<string, string>();
  const history: string[] = [];
  /** What answers showed: for whoever pressed, and no post of the outbox. */
  const lists: Shown[] = [];
  let calls = 0;
  let written = 0;
  let handle: Handlers | undefined;
  let pollers = 0;
  let mostPollers = 0;

  const say = ({ cards, title }: Message): void => {
    for (const line of [title?.text, ...cards.map(({ headline }) => headline)]) if (line) history.push(line);
  };

  function connect(signal: AbortSignal, name: ChannelName = 'telegram'): Channel {
    const known = new Map<string, string>(); // a process that is killed forgets
    return {
      name,
      chatNow: (chat) => known.get(chat) ?? chat,
      async post({ chat }, message, replyTo) {
        const to = moved.get(chat);
        if (to !== undefined) {
          known.set(chat, to);
          throw new ChatMoved(to);
        }
        calls += 1;
        if (refusing.has(chat)) throw new RetryLater('the chat does not answer', 5_000);
        messages.push({ id: String(messages.length + 1), chat, message, replyTo });
        say(message);
        return String(messages.length);
      },
      async edit(_place, id, message) {
        calls += 1;
        const shown = messages.find((one) => one.id === id);
        if (shown) shown.message = message;
        say(message);
      },
      async run(handlers, ending) {
        handle = handlers;
        pollers += 1;
        mostPollers = Math.max(mostPollers, pollers);
        const either = AbortSignal.any([signal, ending]);
        await new Promise((resolve) => either.addEventListener('abort', resolve, { once: true }));
        pollers -= 1;
      },
      health: () => ({ ok: true, detail: '' }),
    };
  }

  const buttons = ({ message: { cards, buttons: below = [] } }: Shown) =>
    [...cards, { buttons: below }].flatMap((card) => card.buttons.flat());

  /** A thumb on each button that is there now, of any card or of one about something: pressed later, when it may be gone. */
  function thumbs(label: RegExp, about?: RegExp): (() => Promise<string>)[] {
    return [...lists.toReversed(), ...messages].flatMap((shown) => {
      const { cards, isList } = shown.message;
      const meant = cards.filter(({ headline }) => about?.test(headline));
      const numbers = meant.map(({ headline }) => `${headline.split(' ')[0]} `);
      const ofMeant = isList
        ? buttons(shown).filter((one) => numbers.some((number) => one.label.startsWith(number)))
        : meant.flatMap((card) => card.buttons.flat());
      const theirs = about ? ofMeant : buttons(shown);
      const button = theirs.find((one) => label.test(one.label));
      if (!button || !handle) return [];
      const place = { chat: shown.chat };
      const press = { by: `telegram:${ada}`, name: 'ada', place, message: shown.id, data: button.data } as const;
      return async () => {
        const { say, show, inPlace } = await handle!.onPress({ channel: 'telegram', ours: true, ...press });
        if (show && inPlace) shown.message = show;
        else if (show) lists.push({ id: `list-${lists.length + 1}`, chat: place.chat, message: show });
        return say;
      };
    });
  }

  function keep(label: RegExp): () => Promise<string> {
    const [first] = thumbs(label);
    if (!first) throw new Error(`no button ${label} to press`);
    return first;
  }

  return {
    connect,
    messages,
    lists,
    /** Posts and edits of the outbox. */
    calls: (): number => calls,
    /** Chats in which nothing arrives. */
    refusing,
    /** Chats that have another id by now. */
    moved,
    /** How many received what people press at the same time, at most. */
    mostPollers: (): number => mostPollers,
    /** Every first line that was ever to be read, in order. */
    history,
    text: (): string => messages.map(({ message }) => consoleText(message, () => undefined)).join('\n---\n'),
    headlines: (): string[] => messages.flatMap(({ message }) => message.cards.map(({ headline }) => headline)),
    dots: (): string[] => messages.flatMap(({ message }) => message.cards.map(({ dot }) => dot)),
    has: (label: RegExp): boolean =>
      messages.some((shown) => buttons(shown).some((button) => label.test(button.label))),
    /** Ada writes; in reply to the first card unless she does not. */
    async write(text: string, replyTo: string | undefined = '1', chat = String(chatId)): Promise<Answer> {
      const who = { channel: 'telegram', by: `telegram:${ada}`, name: 'ada', place: { chat } } as const;
      return handle!.onCommand({ ...who, id: String(++written), text, ...(replyTo !== undefined && { replyTo }) });
    },
    press: (label: RegExp): Promise<string> => keep(label)(),
    keep,
    thumbs,
  };
}
