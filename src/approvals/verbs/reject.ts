import type { Approval } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { line } from '../../lib/plain.ts';
import { record } from '../record.ts';
import { byWhoMayDecide, isInTime, isStillPending } from '../rules.ts';
import type { Verb } from '../verb.ts';

/** As much as the resource holds. */
const longestNote = 512;

/** Saying no needs no rehearsal. */
export const reject: Verb = {
  rules: [...byWhoMayDecide, isStillPending, isInTime],
  async act({ press, fix, note = '' }, desk) {
    const why = line(note, longestNote);
    const who = { state: 'Rejected' as const, by: press.by, at: iso(desk.clock.now()), via: press.channel };
    const approval: Approval = { ...who, ...(why && { note: why }) };
    const said = { ok: true, decision: 'Rejected', say: 'Rejected; nothing is changed.' } as const;
    return record(fix, { spec: { approval } }, desk, said);
  },
};
