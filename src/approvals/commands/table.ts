import type { Answer, Command, CommandHint } from '../../channels/channel.ts';
import type { CommandRow, Hall } from '../hall.ts';
import { refuse } from '../rules.ts';
import { isSpokenHere } from '../whereabouts.ts';
import { ack, approve, reject, snooze } from './decide.ts';
import { note, open, show, shown, status } from './look.ts';
import { mute } from './mute.ts';

const help: CommandRow = {
  name: 'help',
  takes: '',
  does: 'what can be written here',
  run: async ({ channel }) =>
    shown(note('What can be written to tapfix', helpLines(channel === 'slack' ? '/tapfix ' : '/'))),
};

/** What can be written, in the order in which it is listed. */
export const commands: readonly CommandRow[] = [open, show, approve, reject, ack, snooze, mute, status, help];

const helpLines = (before: string): string[] => [
  ...commands.map(({ name, takes, does }) => `${before}${[name, takes].filter(Boolean).join(' ')}: ${does}`),
  'No name is needed in reply to a card, or where only one is open.',
];

export interface Commands {
  onCommand(command: Command): Promise<Answer>;
  commands: readonly CommandHint[];
}

const notHere = refuse('UnknownMessage', 'tapfix does not speak in this chat; nothing was done.');

/** Nothing at all, and what Telegram's own Start button writes. */
const firstWords: Readonly<Record<string, string>> = { '': 'help', start: 'help' };

export function createCommands(hall: Hall): Commands {
  async function onCommand(command: Command): Promise<Answer> {
    if (!isSpokenHere(command, hall)) return hall.audit(command, notHere);
    const [name = '', ...words] = command.text.split(/\s+/);
    const row = commands.find((one) => one.name === (firstWords[name.toLowerCase()] ?? name.toLowerCase()));
    if (row) return row.run(command, words, hall);
    return { say: `tapfix does not know ${name.slice(0, 40)}; help says what it knows.`, alert: true };
  }
  return { onCommand, commands: commands.map(({ name, does }) => ({ name, does })) };
}
