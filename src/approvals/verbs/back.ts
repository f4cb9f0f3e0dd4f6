import { byWhoMayDecide, isInTime, isStillPending, wasAsked } from '../rules.ts';
import type { Verb } from '../verb.ts';

/** No, after all: a question is its presser's own. */
export const back: Verb = {
  rules: [...byWhoMayDecide, isStillPending, isInTime, wasAsked],
  async act({ fix }, { confirms }) {
    confirms.disarm(fix.metadata.uid);
    return { ok: true, decision: 'Back', say: 'Nothing was done.' };
  },
};
