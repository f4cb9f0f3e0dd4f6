import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Message } from '../notices/message.ts';
import { buttonText, consoleText, headline } from './console-text.ts';
import type { Channel, Press } from './channel.ts';

export interface ConsoleDeps {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean };
  /** The kubeconfig's user: a press here is theirs. Without one the console only prints. */
  by: string | undefined;
  log: Log;
}

interface Button {
  message: string;
  data: string;
}

/** Keys of the keyboard for the verbs on our buttons; y and n answer "really?". */
const keyOf: Readonly<Record<string, string>> = { a: 'a', r: 'r', c: 'y', b: 'n' };

/** Cards on the terminal, decided with the keyboard: a approves, r rejects, y confirms, n goes back. */
export function createConsole({ input, output, by, log }: ConsoleDeps): Channel {
  const interactive = by !== undefined && input.isTTY === true;
  const start = randomBytes(4).toString('hex'); // a restart never gives an old message's id to a new one
  const headlines = new Map<string, string[]>();
  const offered = new Set<string>(); // every fix that was shown in full with its key to approve it
  const numbers = new Map<string, number>(); // of a Remediation, by its short uid on the buttons
  const buttons = new Map<string, Button>(); // "a 1" to what it presses
  let posted = 0;

  const print = (text: string): void => void output.write(`${text}\n`);

  function key(data: string): string | undefined {
    const [verb = '', uid = ''] = data.split(':');
    if (!interactive || !keyOf[verb]) return undefined;
    if (!numbers.has(uid)) numbers.set(uid, numbers.size + 1);
    return `${keyOf[verb]} ${numbers.get(uid)}`;
  }

  function remember(id: string, message: Message): void {
    headlines.set(id, headlinesOf(message));
    for (const [name, button] of buttons) if (button.message === id) buttons.delete(name);
    for (const { data } of message.cards.flatMap((card) => card.buttons.flat())) {
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
    // Nobody decides on what was not shown: another diff, or a card that an earlier process printed.
    const isUnseen = approvalsIn(message).some((data) => !offered.has(data)) || (!known && hasButtons(message));
    if (interactive && isUnseen) return showAll(message);
    const isOffered = [...buttons.keys()].join() !== pressable;
    for (const card of message.cards) {
      const line = headline(card.dot, card.headline);
      const choice = isOffered ? buttonText(card, key) : '';
      if (!before.has(line) || choice) print(choice ? `${line}\n${choice}` : line);
    }
  }

  async function run(onPress: Parameters<Channel['run']>[0], signal: AbortSignal): Promise<void> {
    if (!interactive || signal.aborted) return untilAborted(signal);
    const lines = createInterface({ input, signal });
    lines.on('line', (line) => void pressed(line, onPress));
    await untilAborted(signal);
    lines.close();
  }

  async function pressed(line: string, onPress: (press: Press) => Promise<{ say: string }>): Promise<void> {
    const wanted = line.trim().toLowerCase().replace(/\s+/g, ' ');
    if (wanted === '') return;
    const fitting = [...buttons].filter(([name]) => name === wanted || name.startsWith(`${wanted} `));
    const [only] = fitting;
    if (!only) return print(buttons.size > 0 ? `type one of: ${[...buttons.keys()].join(', ')}` : 'nothing to decide');
    if (fitting.length > 1) return print(`which one: ${fitting.map(([name]) => name).join(', ')}?`);
    try {
      const { message, data } = only[1];
      const press: Press = { channel: 'console', by: by!, name: by!, place: { chat: 'console' }, message, data };
      print((await onPress(press)).say);
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'press not handled');
    }
  }

  const health = () => ({ ok: true, detail: interactive ? 'reading the keyboard' : 'printing only' });
  return { name: 'console', forgets: interactive, post, edit, run, health };
}

const hasButtons = (message: Message): boolean => message.cards.some(({ buttons }) => buttons.length > 0);

/** The payload of each button that approves: it holds a hash of what was shown. */
const approvalsIn = (message: Message): string[] =>
  message.cards.flatMap(({ buttons }) => buttons.flat().flatMap(({ data }) => (data.startsWith('a:') ? [data] : [])));

const headlinesOf = (message: Message): string[] => message.cards.map((card) => headline(card.dot, card.headline));

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
