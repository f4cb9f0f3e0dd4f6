import type { Answer, Command } from '../../channels/channel.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { parseDuration } from '../../lib/duration.ts';
import { type CommandRow, type Hall, longestMs, shortestMs } from '../hall.ts';
import type { Verb } from '../press.ts';
import { shownHash } from '../press.ts';
import { refuse } from '../rules.ts';
import type { Request } from '../verb.ts';
import { cardOf, findFix, isUpToDate } from '../whereabouts.ts';

/** As if its button had been pressed. */
export function press(
  command: Command,
  fix: Remediation,
  verb: Verb,
  hall: Hall,
  more: Partial<Request> = {},
): Promise<Answer> {
  const { channel, by, name, place } = command;
  const message = cardOf(command, fix, hall)?.status?.message ?? '';
  const payload = { verb, uid: fix.metadata.uid, shown: shownHash(fix) };
  return hall.handle({ press: { channel, by, name, place, message, data: '' }, payload, ...more });
}

export const approve: CommandRow = {
  name: 'approve',
  takes: '[NAME]',
  does: 'do what the card proposes',
  async run(command, words, hall) {
    const found = findFix(command, words, hall, { isFor: 'deciding' });
    if (!found.ok) return hall.audit(command, found);
    const { fix } = found;
    const card = cardOf(command, fix, hall);
    if (card && !isUpToDate(card, hall)) return hall.audit(command, notShown);
    // Asked once more here a moment ago, and saying it again: that is a yes.
    const asked = hall.confirms.armedFor(fix.metadata.uid, hall.clock.now());
    const isYes = asked?.by === command.by && asked.notice === card?.metadata.name;
    return press(command, fix, isYes ? 'c' : 'a', hall);
  },
};

const notShown = refuse('NotAsShown', 'Its card is just being changed; look at it, then write this again.');

export const reject: CommandRow = {
  name: 'reject',
  takes: '[NAME] [REASON]',
  does: 'leave it as it is, and say why',
  async run(command, words, hall) {
    const found = findFix(command, words, hall, { isFor: 'deciding', reason: true });
    if (!found.ok) return hall.audit(command, found);
    return press(command, found.fix, 'r', hall, { note: found.rest.join(' ') });
  },
};

export const ack: CommandRow = {
  name: 'ack',
  takes: '[NAME]',
  does: 'say that you are on it',
  async run(command, words, hall) {
    const found = findFix(command, words, hall, { isFor: 'attention' });
    return found.ok ? press(command, found.fix, 'k', hall) : hall.audit(command, found);
  },
};

const notSoLong = refuse('NotUnderstood', 'Between 1m and 7d, please: /snooze 1h');

export const snooze: CommandRow = {
  name: 'snooze',
  takes: '[NAME] [1h]',
  does: 'no sound about it for a while',
  async run(command, words, hall) {
    const last = parseDuration(words.at(-1) ?? '');
    const found = findFix(command, last === undefined ? words : words.slice(0, -1), hall, { isFor: 'attention' });
    if (!found.ok) return hall.audit(command, found);
    if (last === undefined) return press(command, found.fix, 'z', hall);
    if (last < shortestMs || last > longestMs) return hall.audit(command, notSoLong);
    return press(command, found.fix, 'z', hall, { forMs: last });
  },
};
