import type { Answer, Channel, Press } from '../channels/channel.ts';
import { buttonText, consoleText, headline } from '../channels/console/console-text.ts';
import type { Message } from '../notices/cards/message.ts';
import type { Screen } from './screen.ts';

/** Keys for the verbs on our buttons, as on the console; y and n answer "really?". */
const keyOf: Readonly<Record<string, string>> = { a: 'a', r: 'r', c: 'y', b: 'n', g: 'g' };
const wordOf: Readonly<Record<string, string>> = {
  a: 'approve',
  r: 'reject',
  y: 'say yes',
  n: 'go back',
  g: 'propose it again',
};

const verbOf = (data: string): string => data.split(':')[0] ?? '';
const keyFor = (data: string): string | undefined => keyOf[verbOf(data)];

export interface DemoChannel extends Channel {
  /** The keys that do something now. */
  keys(): string[];
  press(key: string): Promise<Answer | undefined>;
  /** The message as it stands. */
  shown(): Message | undefined;
  /** It is as it should be, and the next one is another message. */
  close(): void;
}

export interface DemoChannelDeps {
  screen: Screen;
  /** Whose presses these are. */
  by: string;
  /** Nobody has to press: the demo does. */
  yes: boolean;
}

/** The console as the demo has it: one message, redrawn in its place; on a pipe, one line for each change. */
export function createDemoChannel({ screen, by, yes }: DemoChannelDeps): DemoChannel {
  let current: { id: string; message: Message } | undefined;
  let posted = 0;
  let note = '';
  let handle: ((press: Press) => Promise<Answer>) | undefined;

  const buttons = (): { label: string; data: string }[] =>
    current?.message.cards.flatMap((card) => card.buttons.flat()) ?? [];
  const keys = (): string[] => buttons().flatMap(({ data }) => keyFor(data) ?? []);

  function draw(): void {
    if (!current) return;
    screen.show([consoleText(current.message, keyFor), ...(note ? ['', note] : []), ...hint(keys(), yes)].join('\n'));
  }

  async function post(_place: unknown, message: Message): Promise<string> {
    const id = `demo-${++posted}`;
    // About something else, on a cluster with troubles of its own: the card that waits for a decision stays.
    if (keys().length > 0) {
      screen.say(consoleText(message, () => undefined));
      return id;
    }
    if (current) screen.settle();
    note = '';
    current = { id, message };
    if (screen.inPlace) draw();
    else screen.say([consoleText(message, keyFor), ...hint(keys(), yes)].join('\n'));
    return id;
  }

  async function edit(_place: unknown, id: string, message: Message): Promise<void> {
    if (current?.id !== id) return; // of an earlier act: its last state stands above
    const { message: before } = current;
    const pressable = keys().join();
    current = { id, message };
    if (keys().length === 0) note = '';
    if (screen.inPlace) return draw();
    for (const line of newsIn(before, message)) screen.say(line);
    if (keys().length > 0 && keys().join() !== pressable)
      screen.say([...message.cards.map((card) => buttonText(card, keyFor)), ...hint(keys(), yes)].join('\n'));
  }

  async function press(key: string): Promise<Answer | undefined> {
    const button = buttons().find(({ data }) => keyFor(data) === key);
    if (!current || !button || !handle) return undefined;
    const { id } = current;
    const answer = await handle({
      channel: 'console',
      by,
      name: by,
      place: { chat: 'console' },
      message: id,
      data: button.data,
    });
    note = answer.alert ? answer.say : '';
    if (screen.inPlace) draw();
    else if (answer.alert) screen.say(answer.say);
    return answer;
  }

  return {
    name: 'console',
    post,
    edit,
    async run(handlers, signal) {
      handle = handlers.onPress;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      handle = undefined;
    },
    health: () => ({ ok: true, detail: 'the demo' }),
    keys,
    press,
    shown: () => current?.message,
    close() {
      note = '';
      draw();
      screen.settle();
      current = undefined;
    },
  };
}

/** First lines that were not there before. What has recovered is told once: its count may come a moment later. */
function newsIn(before: Message, now: Message): string[] {
  const told = new Set(before.cards.map((card) => headline(card.dot, card.headline)));
  const isOver = (index: number): boolean => before.cards[index]?.dot === 'green';
  const fresh = now.cards.filter(({ dot }, index) => dot !== 'green' || !isOver(index));
  return fresh.map((card) => headline(card.dot, card.headline)).filter((line) => !told.has(line));
}

function hint(keys: readonly string[], yes: boolean): string[] {
  const words = keys.flatMap((key) => (wordOf[key] ? [`${key} to ${wordOf[key]}`] : []));
  if (words.length === 0) return [];
  return [
    '',
    yes ? `With --yes the demo presses ${keys[0]} by itself.` : `Press ${[...words, 'q to leave'].join(', ')}.`,
  ];
}
