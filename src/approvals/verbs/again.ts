import { timesIn } from '../../notices/times.ts';
import { proposedAgain } from '../propose-again.ts';
import { byWhoMayDecide, mayBeRepeated } from '../rules.ts';
import type { Verb } from '../verb.ts';

/** Once more, from a fresh reading: the successor takes over the message. */
export const again: Verb = {
  rules: [...byWhoMayDecide, mayBeRepeated],
  act: async ({ fix }, { proposeAgain, clock, timeZone }) =>
    proposedAgain(await proposeAgain(fix), timesIn(timeZone, clock.now()).localised),
};
