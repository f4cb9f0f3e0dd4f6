import type { Answer, Command } from '../../channels/channel.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { composeMessage } from '../../notices/compose.ts';
import { asShown } from '../../notices/left.ts';
import type { Card, Message } from '../../notices/message.ts';
import { contextFor } from '../../notices/notice-body.ts';
import { timesIn } from '../../notices/times.ts';
import type { CommandRow, Hall } from '../hall.ts';
import { findFix, openHere } from '../whereabouts.ts';

/** As cards, with their buttons, and below each its name for whoever wants to write about it. */
function cardsOf(fixes: readonly Remediation[], { channel }: Command, hall: Hall): Message {
  const { clock, current, timeZone, confirms, ownNamespace: namespace } = hall;
  const facts = { config: current(), nowMs: clock.now(), timeZone, confirms, namespace };
  const context = contextFor({ spec: { channel } }, facts);
  return { ...composeMessage(asShown(fixes, context), context), silent: true };
}

export const open: CommandRow = {
  name: 'open',
  takes: '',
  does: 'what is broken now',
  async run(command, _words, hall) {
    const fixes = openHere(command, hall);
    if (fixes.length === 0) return { say: 'Nothing is open.', alert: false };
    const message = cardsOf(fixes, command, hall);
    const rest = [message.rest, `/show NAME: ${fixes.slice(0, 5).map(({ metadata }) => metadata.name).join(', ')}`]; // prettier-ignore
    return shown({ ...message, rest: rest.filter(Boolean).join(' · ') });
  },
};

export const show: CommandRow = {
  name: 'show',
  takes: '[NAME]',
  does: 'one of them in full',
  async run(command, words, hall) {
    // Looking decides nothing: a name is good wherever it is written.
    const { replyTo: _, ...alone } = command;
    const found = findFix(words.length > 0 ? alone : command, words, hall, { isFor: 'looking' });
    if (!found.ok) return { say: found.say, alert: true };
    const message = cardsOf([found.fix], command, hall);
    return shown({ ...message, rest: `Remediation ${found.fix.metadata.namespace}/${found.fix.metadata.name}` });
  },
};

export const status: CommandRow = {
  name: 'status',
  takes: '',
  does: 'how tapfix itself is',
  async run(command, _words, hall) {
    const open = openHere(command, hall).length;
    const times = timesIn(hall.timeZone, hall.clock.now());
    const mutes = hall.mutes.active().map(({ glob, until }) => `muted: ${glob} until ${times.minuteZoned(until)}`);
    const lines = [open === 1 ? '1 is open here' : `${open} are open here`, ...mutes, ...hall.status()];
    return shown(note(`tapfix on ${hall.current().cluster}`, lines));
  },
};

export const note = (headline: string, footer: string[]): Message => {
  const card: Card = { dot: 'grey', headline, rows: [], footer, buttons: [] };
  return { cards: [card], silent: true };
};

export const shown = (show: Message): Answer => ({ say: '', alert: false, show });
