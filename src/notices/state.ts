import { snoozedUntilMs, whoIsOnIt } from '../kube/attention.ts';
import type { Phase, Remediation } from '../kube/remediation.ts';
import { conditionOf } from '../kube/remediation.ts';
import { hashOf } from '../lib/hash.ts';
import { confirmingNow } from './body.ts';
import type { MessageContext } from './context.ts';
import { cardContext, isPending } from './context.ts';
import { mayBeProposedAgain, shownPhase } from './head.ts';

/**
 * A hash of the state that a message shows, not of its text: counts alone and better wording edit nothing,
 * and after a restart it tells whether the message on the phone is still true.
 */
export function stateHash(members: readonly Remediation[], context: MessageContext): string {
  const states = members.map((fix) => stateOf(fix, context));
  return hashOf(states.sort((a, b) => (a.uid < b.uid ? -1 : 1)));
}

/** Once it is applied, how many are ready is the very news; before, it is a count like others. */
const readyIsState: readonly Phase[] = ['Applied', 'Failed', 'Recovered'];

function stateOf(fix: Remediation, context: MessageContext) {
  const phase = shownPhase(fix);
  const pending = isPending(fix, context.nowMs);
  const { ready, desired } = fix.status?.sightings ?? {};
  const told = [
    phase,
    ...(pending ? ['Rehearsed', 'Confirmed'] : []),
    ...(phase === 'Failed' || phase === 'Expired' ? ['IncidentCleared'] : []),
  ];
  return {
    uid: fix.metadata.uid,
    phase,
    approval: fix.spec.approval,
    preview: fix.status?.preview ?? null,
    conditions: told.map((type) => {
      const { status = '', reason = '', message = '' } = conditionOf(fix, type) ?? {};
      return { type, status, reason, message };
    }),
    ready: readyIsState.includes(phase) ? [ready ?? null, desired ?? null] : null,
    pending,
    approvable: pending && context.approvable(fix),
    allowed: pending && context.allowed(fix),
    ...(mayBeProposedAgain(fix) && context.approvable(fix) && { again: true }),
    ...attentionOf(fix, context.nowMs),
    confirming: confirmingNow(fix, cardContext(fix, context)) ?? null,
  };
}

/** Nothing where nobody took it: messages that were posted before there was such a thing are not edited for it. */
function attentionOf(fix: Remediation, nowMs: number): object {
  if (!['Proposed', 'Noticed'].includes(shownPhase(fix))) return {};
  const who = whoIsOnIt(fix);
  const untilMs = snoozedUntilMs(fix, nowMs);
  return { ...(who && { who }), ...(untilMs !== undefined && { untilMs }) };
}
