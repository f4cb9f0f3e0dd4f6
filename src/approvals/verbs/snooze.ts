import { snoozedUntil } from '../../kube/attention.ts';
import { iso } from '../../lib/clock.ts';
import { timesIn } from '../../notices/times.ts';
import { record } from '../record.ts';
import { byWhoMayDecide, needsSomebodyStill } from '../rules.ts';
import type { Verb } from '../verb.ts';

const usuallyMs = 3_600_000;

/** No sound until then; the card itself goes on changing. */
export const snooze: Verb = {
  rules: [...byWhoMayDecide, needsSomebodyStill],
  async act({ fix, forMs = usuallyMs }, desk) {
    const nowMs = desk.clock.now();
    const until = timesIn(desk.timeZone, nowMs).minuteZoned(nowMs + forMs);
    return record(fix, { annotations: { [snoozedUntil]: iso(nowMs + forMs) } }, desk, {
      ok: true,
      decision: 'Snoozed',
      say: `Silent until ${until}.`,
    });
  },
};
