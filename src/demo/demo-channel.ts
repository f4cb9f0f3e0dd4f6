import type { Answer, Channel, Press } from '../channels/channel.ts';
import { buttonText, consoleText, headline } from '../channels/console/console-text.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { Message } from '../notices/cards/message.ts';
import { verbIn } from '../notices/payload.ts';
import type { Screen } from './screen.ts';

/** The verb of a button and the key that presses it. The console has the same keys. */
const keyOf: Readonly<Record<string, string>> = { a: 'a', r: 'r', c: 'y', b: 'n', g: 'g' };
const meaningOf: Readonly<Record<string, string>> = {
  a: 'approve',
  r: 'reject',
  y: 'confirm',
  n: 'go back',
  g: 'propose it again',
};

const keyFor = (data: string): string | undefined => keyOf[verbIn(data)];

/** On a terminal each state after the decision stands at least this long. Some last a tenth of a second otherwise. */
const stateMs = 1_500;

export interface DemoChannel extends Channel {
  /** The keys that do something now. */
  keys(): string[];
  press(key: string): Promise<Answer | undefined>;
  /** The message on the screen. */
  shown(): Message | undefined;
  /** The message stays as it is; the next one is drawn below it. */
  close(): void;
}

export interface DemoChannelDeps {
  screen: Screen;
  clock: Clock;
  /** The user whose presses these are. */
  by: string;
  /** With --yes: after this time the demo presses the key. Without: a person does. */
  pressAfterMs: number | undefined;
  /** Aborts when the demo ends. */
  signal: AbortSignal;
}

/** The console of the demo: one message, redrawn in its place. On a pipe it prints one line for each change. */
export function createDemoChannel({ screen, clock, by, pressAfterMs, signal }: DemoChannelDeps): DemoChannel {
  let current: { id: string; message: Message; stateSinceMs: number } | undefined;
  let posted = 0;
  let note = '';
  let handle: ((press: Press) => Promise<Answer>) | undefined;

  const buttons = (): { label: string; data: string }[] =>
    current
      ? [...current.message.cards.flatMap((card) => card.buttons), ...(current.message.buttons ?? [])].flat()
      : [];
  const keys = (): string[] => buttons().flatMap(({ data }) => keyFor(data) ?? []);
  const hintLines = (): string[] => {
    const text = hint(keys(), pressAfterMs);
    return text === '' ? [] : ['', text];
  };

  function draw(): void {
    if (!current) return;
    const card = consoleText(current.message, keyFor, screen.width);
    screen.showCard([card, ...(note ? ['', note] : []), ...hintLines()].join('\n'));
  }

  async function post(_place: unknown, message: Message): Promise<string> {
    const id = `demo-${++posted}`;
    // A real cluster has troubles of its own. The card that waits for a decision stays where it is.
    if (keys().length > 0) {
      screen.print(consoleText(message, () => undefined, screen.width));
      return id;
    }
    if (current) screen.settle();
    note = '';
    current = { id, message, stateSinceMs: clock.now() };
    if (screen.inPlace) draw();
    else screen.print([consoleText(message, keyFor), ...hintLines()].join('\n'));
    return id;
  }

  async function edit(_place: unknown, id: string, message: Message): Promise<void> {
    if (current?.id !== id) return; // a message of an earlier act, whose last state is printed above
    const isNewState = stateOf(message) !== stateOf(current.message);
    const leftMs = current.stateSinceMs + stateMs - clock.now();
    if (isNewState && leftMs > 0 && screen.inPlace && keys().length === 0) await clock.sleep(leftMs, signal);
    if (current?.id !== id) return;
    const { message: before, stateSinceMs } = current;
    const keysBefore = keys().join();
    current = { id, message, stateSinceMs: isNewState ? clock.now() : stateSinceMs };
    if (keys().length === 0) note = '';
    if (screen.inPlace) return draw();
    for (const line of newHeadlines(before, message)) screen.print(line);
    if (keys().length === 0 || keys().join() === keysBefore) return;
    const offered = [...message.cards, { buttons: message.buttons ?? [] }].map((card) => buttonText(card, keyFor));
    screen.print([...offered.filter(Boolean), ...hintLines()].join('\n'));
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
    else if (answer.alert) screen.print(answer.say);
    return answer;
  }

  return {
    name: 'console',
    post,
    edit,
    async run(handlers, stop) {
      handle = handlers.onPress;
      if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
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

const stateOf = (message: Message): string => message.cards.map(({ dot }) => dot).join();

/** Headlines that are new. A recovery is printed once, although its count of pods may come a moment later. */
function newHeadlines(before: Message, now: Message): string[] {
  const printed = new Set(before.cards.map((card) => headline(card.dot, card.headline)));
  const wasGreen = (index: number): boolean => before.cards[index]?.dot === 'green';
  const fresh = now.cards.filter(({ dot }, index) => dot !== 'green' || !wasGreen(index));
  return fresh.map((card) => headline(card.dot, card.headline)).filter((line) => !printed.has(line));
}

/** A sentence that names the keys that can be pressed now. */
function hint(keys: readonly string[], pressAfterMs: number | undefined): string {
  const words = keys.flatMap((key) => (meaningOf[key] ? [`${key} to ${meaningOf[key]}`] : []));
  if (words.length === 0) return '';
  if (pressAfterMs === undefined) return `Press ${[...words, 'q to leave'].join(', ')}.`;
  return `With --yes the demo presses ${keys[0]} by itself after ${spokenDuration(pressAfterMs)}.`;
}
