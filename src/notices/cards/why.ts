import { conditionOf, rationaleParts, type Remediation, shortIdOf } from '../../kube/remediation.ts';
import type { MessageContext } from './card-context.ts';
import type { Card, Line, Message } from './message.ts';
import { actionWords, placeOf, subjectOf } from './subject.ts';
import { timesIn } from './times.ts';

/**
 * Why this fix was proposed, or why none was: what the Remediation records. Nothing is read anew, so it says what was
 * true at that time.
 */
export function composeWhy(fix: Remediation, context: Pick<MessageContext, 'cluster' | 'nowMs' | 'timeZone'>): Message {
  const times = timesIn(context.timeZone, context.nowMs);
  const { diagnosis, context: facts } = fix.spec;
  const words = actionWords(fix);
  const reasons = times.localised(rationaleParts(fix).why);
  const what = words ? 'this fix was proposed' : 'no fix was proposed';
  const rows: Card['rows'] = [
    { label: 'Cause', lines: diagnosis ? [times.localised(diagnosis)] : [] },
    { label: 'Changed', lines: facts.changed.map(times.localised) },
    {
      label: words ? 'Fix' : 'No fix',
      lines: [...(words ? [words.summary] : []), ...reasons.split('\n').filter(Boolean)],
    },
    { label: 'But', lines: obstacles(fix, times.localised) },
  ];
  const where = [placeOf(fix), context.cluster, shortIdOf(fix)].filter(Boolean).join(' · ');
  const card: Card = {
    dot: 'grey',
    headline: `${subjectOf(fix)}: why ${what} at ${times.atZoned(fix.metadata.creationTimestamp)}`,
    subtitle: where,
    rows: rows.filter(({ lines }) => lines.length > 0),
    footer: [],
    buttons: [],
  };
  return { cards: [card], silent: true };
}

/** Why it could not be approved, or was not applied. */
function obstacles(fix: Remediation, localised: (text: string) => string): Line[] {
  const { approval } = fix.spec;
  const refused = ['Rehearsed', 'Confirmed'].flatMap((type) => {
    const condition = conditionOf(fix, type);
    return condition?.status === 'False' && condition.message ? [localised(condition.message)] : [];
  });
  const failed = conditionOf(fix, 'Failed')?.message;
  const note = approval.state === 'Rejected' && approval.note ? [`rejected: "${localised(approval.note)}"`] : [];
  return [...refused, ...(failed ? [localised(failed)] : []), ...note];
}
