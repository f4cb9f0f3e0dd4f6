import { acknowledgedBy, whoIsOnIt } from '../../kube/attention.ts';
import { nameOf } from '../../notices/people.ts';
import { record } from '../record.ts';
import { byWhoMayDecide, needsSomebodyStill, refuse } from '../rules.ts';
import type { Verb } from '../verb.ts';

/** "I'm on it": everybody sees who, and nobody is reminded any more. Whoever says it later takes over. */
export const acknowledge: Verb = {
  rules: [...byWhoMayDecide, needsSomebodyStill],
  async act({ press, fix }, desk) {
    const before = whoIsOnIt(fix);
    if (before === press.by) return refuse('AlreadyDecided', 'You are on it already.');
    const from = before ? ` from ${nameOf(desk.current(), before)}` : '';
    const say = from ? `You took this over${from}.` : 'You are on it; nobody is reminded any more.';
    return record(fix, { annotations: { [acknowledgedBy]: press.by } }, desk, {
      ok: true,
      decision: 'Acknowledged',
      say,
    });
  },
};
