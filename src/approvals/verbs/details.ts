import { readEvents } from '../events.ts';
import { composeDetails } from '../../notices/details.ts';
import { nameOf } from '../../notices/people.ts';
import { hangsOnAKnownMessage } from '../rules.ts';
import type { Verb } from '../verb.ts';

/** For everybody who reads this chat: what did not fit on the card. */
export const details: Verb = {
  rules: [hangsOnAKnownMessage],
  reads: true,
  async act({ fix }, { api, clock, current, timeZone }) {
    const events = await readEvents(api, fix).catch(() => undefined);
    const by = (who: string): string => nameOf(current(), who);
    const show = composeDetails(fix, events, { cluster: current().cluster, nowMs: clock.now(), timeZone, nameOf: by });
    return { ok: true, decision: 'Shown', say: '', show };
  },
};
