import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Button as MessageButton, Message } from '../../notices/cards/message.ts';
import type { Answer, Channel, Handlers } from '../channel.ts';
import { buttonText, consoleText, headline } from './console-text.ts';

export interface ConsoleDeps {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean };
  /** The kubeconfig's user: a press here is theirs. Without one, the console only prints. */
  by: string | undefined;
  log: Log;
}

interface Button {
  message: string;
  data: string;
}

/** Keyboard keys for the verbs of our buttons; y and n answer "really?". */
const keyOf: Readonly<Record<string, string>> = {
  a: 'a',
  r: 'r',
  c: 'y',
  b: 'n',
  k: 'i',
  d: 'd',
  z: 's',
  p: 'p',
  o: 'i',
  g: 'g',
  t: 't',
};

/**
 * Shows cards on the terminal and takes decisions from the keyboard: a approves, r rejects, y confirms, n goes back; i,
 * d and s mean I'm on it, details and snooze; p is a page of the list; g proposes again.
 */
export function createConsole({ input, output, by, log }: ConsoleDeps): Channel {
  const interactive = by !== undefined && input.isTTY === true;
  const start = randomBytes(4).toString('hex'); // a restart never gives an old message's id to a new one
  const headlines = new Map<string, string[]>();
  const offered = new Set<string>(); // every fix that was shown in full with its approve key
  const numbers = new Map<string, number>(); // number of a Remediation, by its short uid on the buttons
  const buttons = new Map<string, Button>(); // "a 1" to the button that it presses
  let posted = 0;
  let written = 0;

  const print = (text: string): void => void output.write(`${text}\n`);

  function key(data: string): string | undefined {
    // A verb, a short uid, and for a page of the list that was opened last its number (notices/payload.ts).
    const [verb, uid, page] = [verbIn(data), data.slice(1, 23), Number(data.slice(23, 26))];
    if (!interactive || !keyOf[verb]) return undefined;
    if (verb === 'p') return `${keyOf[verb]} ${page}`;
    if (!numbers.has(uid)) numbers.set(uid, numbers.size + 1);
    return `${keyOf[verb]} ${numbers.get(uid)}`;
  }

  function remember(id: string, message: Message): void {
    headlines.set(id, headlinesOf(message));
    for (const [name, button] of buttons) if (button.message === id) buttons.delete(name);
    for (const { data } of buttonsIn(message)) {
      const name = key(data);
      if (name) buttons.set(name, { message: id, data });
    }
  }

  function showAll(message: Message): void {
    for (const data of approvalsIn(message)) offered.add(data);
    print(`\n${consoleText(message, key)}`);
  }

  async function post(_place: unknown, message: Message): Promise<string> {
    const id = `${start}-${++posted}`;
    remember(id, message);
    showAll(message);
    return id;
  }

  async function edit(_place: unknown, id: string, message: Message): Promise<void> {
    const known = headlines.get(id);
    const before = new Set(known);
    const pressable = [...buttons.keys()].join();
    remember(id, message);
    // Nobody should decide on something not yet shown: another diff, or a card that an earlier process printed.
    const isUnseen = approvalsIn(message).some((data) => !offered.has(data)) || (!known && hasButtons(message));
    if (interactive && isUnseen) return showAll(message);
    const isOffered = [...buttons.keys()].join() !== pressable;
    for (const card of message.cards) {
      const line = headline(card.dot, card.headline);
      const choice = isOffered ? buttonText(card, key) : '';
      if (!before.has(line) || choice) print(choice ? `${line}\n${choice}` : line);
    }
    const below = isOffered ? buttonText({ buttons: message.buttons ?? [] }, key) : '';
    if (below) print(below);
  }

  async function run(handlers: Handlers, signal: AbortSignal): Promise<void> {
    if (!interactive || signal.aborted) return untilAborted(signal);
    const lines = createInterface({ input, signal });
    lines.on('line', (line) => void typed(line, handlers));
    await untilAborted(signal);
    lines.close();
  }

  async function typed(line: string, { onPress, onCommand }: Handlers): Promise<void> {
    const text = line.trim();
    if (text === '') return;
    const who = { channel: 'console', by: by!, name: by!, place: { chat: 'console' } } as const;
    if (text.startsWith('/')) {
      const command = { ...who, id: String(++written), text: text.slice(1).trim() };
      return answer(() => onCommand(command), 'command');
    }
    const button = buttonFor(text);
    // Nobody but tapfix writes buttons on this terminal.
    if (button) await answer(() => onPress({ ...who, ...button, ours: true }), 'press');
  }

  function buttonFor(text: string): Button | undefined {
    const wanted = text.toLowerCase().replace(/\s+/g, ' ');
    const fitting = [...buttons].filter(([name]) => name === wanted || name.startsWith(`${wanted} `));
    const [only] = fitting;
    if (fitting.length > 1) print(`which one: ${fitting.map(([name]) => name).join(', ')}?`);
    else if (!only) print(buttons.size > 0 ? `type one of: ${[...buttons.keys()].join(', ')}` : 'nothing to decide');
    return fitting.length > 1 ? undefined : only?.[1];
  }

  async function answer(work: () => Promise<Answer>, what: 'press' | 'command'): Promise<void> {
    try {
      const { say, show } = await work();
      if (say) print(say);
      if (show) shown(show);
    } catch (error) {
      const reason = messageOf(error);
      if (what === 'press') log.error({ reason }, 'press not handled');
      else log.error({ reason }, 'command not handled');
    }
  }

  /** A message shown as an answer has buttons as well, until the next one is shown. */
  function shown(message: Message): void {
    remember(shownId, message);
    showAll(message);
  }

  const health = () => ({ ok: true, detail: interactive ? 'reading the keyboard' : 'printing only' });
  return { name: 'console', forgets: interactive, post, edit, run, health };
}

/** The message id of everything that is shown as an answer. */
const shownId = 'shown';

const buttonsIn = ({ cards, buttons = [] }: Message): MessageButton[] =>
  [...cards.flatMap((card) => card.buttons), ...buttons].flat();

const hasButtons = (message: Message): boolean => buttonsIn(message).length > 0;

/** The payload of each approve button. It holds a hash of what was shown. */
const approvalsIn = (message: Message): string[] =>
  buttonsIn(message).flatMap(({ data }) => (verbIn(data) === 'a' ? [data] : []));

const verbIn = (data: string): string => data.slice(0, 1);

const headlinesOf = (message: Message): string[] => message.cards.map((card) => headline(card.dot, card.headline));

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
