import { expiresAtMs, type Remediation, severityOf, undoIntro, whoIsOnIt } from '../../kube/remediation.ts';
import type { EventView } from '../../kube/views.ts';
import { redact } from '../../lib/redact.ts';
import { line } from '../../lib/text.ts';
import { attentionLines, diffLines } from './body.ts';
import { type CardContext, isPending } from './card-context.ts';
import { headOf } from './head.ts';
import type { Line, Message, CardRow } from './message.ts';
import { actionWords, placeOf } from './subject.ts';
import { timesIn } from './times.ts';

type Context = Pick<CardContext, 'cluster' | 'nowMs' | 'timeZone' | 'nameOf'>;

/** Everything known about one Remediation. It has no buttons: those are on its card. */
export function composeDetails(fix: Remediation, events: readonly EventView[] | undefined, context: Context): Message {
  const { name, namespace } = fix.metadata;
  const head = headOf(fix, { ...context, approvable: false, allowed: true, confirm: [] });
  const subtitle = [placeOf(fix), context.cluster, `Remediation ${name}`].filter(Boolean).join(' · ');
  const times = timesIn(context.timeZone, context.nowMs);
  const { context: facts, diagnosis, incident } = fix.spec;
  const rows: CardRow[] = [
    {
      label: 'Class',
      lines: [`${incident.class}, ${severityOf(fix)}, ${incident.object.kind} ${incident.object.name}`],
    },
    { label: 'Changed', lines: facts.changed.map(times.localised) },
    { label: 'Why', lines: diagnosis ? [times.localised(diagnosis)] : [] },
    { label: 'Seen', lines: [...facts.evidence, incident.message].filter(Boolean).map(times.localised) },
    { label: 'Fix', lines: fixLines(fix, times.localised) },
    { label: 'Who', lines: whoLines(fix, context) },
    { label: 'Events', lines: eventLines(events, context) },
    { label: 'kubectl', lines: commandsFor(fix, namespace ?? '', name, context.nowMs) },
  ];
  const card = { ...head, subtitle, rows: rows.filter(({ lines }) => lines.length > 0), footer: [], buttons: [] };
  return { cards: [card], silent: true };
}

function fixLines(fix: Remediation, say: (text: string) => string): Line[] {
  const words = actionWords(fix);
  const { rationale } = fix.spec;
  const why = rationale.split(`${undoIntro}\n`)[0]!.trim();
  return [...(words ? [words.summary] : []), ...diffLines(fix), ...(why ? [say(why)] : [])];
}

function whoLines(fix: Remediation, context: Context): string[] {
  const { approval, proposedBy } = fix.spec;
  const decided = approval.by ? [`${approval.state.toLowerCase()} by ${context.nameOf(approval.by)}`] : [];
  const times = timesIn(context.timeZone, context.nowMs);
  const until = isPending(fix, context.nowMs) ? [`open until ${times.minuteZoned(expiresAtMs(fix))}`] : [];
  const attention = whoIsOnIt(fix) ? attentionLines(fix, context) : [];
  return [`proposed by ${proposedBy}`, ...until, ...decided, ...attention];
}

function eventLines(events: readonly EventView[] | undefined, { timeZone, nowMs }: Context): Line[] {
  if (!events) return ['they could not be read'];
  const times = timesIn(timeZone, nowMs);
  return events.map(({ lastSeenMs, object, reason, message, count }) => {
    const often = count > 1 ? ` (${count} times)` : '';
    return `${times.at(lastSeenMs)} ${object.kind} ${object.name}: ${reason}${often}: ${line(redact(message), 300)}`;
  });
}

/** Commands to look at it, and to decide without a chat. */
function commandsFor(fix: Remediation, namespace: string, name: string, nowMs: number): Line[] {
  const { kind, name: object } = fix.spec.incident.object;
  const inside = namespace ? `kubectl -n ${namespace}` : 'kubectl';
  const decide = (state: string): string =>
    `${inside} patch fix ${name} --type merge -p '{"spec":{"approval":{"state":"${state}"}}}'`;
  const whole = `${inside} get fix ${name} -o yaml`;
  const commands = [
    whole,
    `${inside} describe ${kind.toLowerCase()} ${object}`,
    ...(isPending(fix, nowMs) ? [decide('Approved'), decide('Rejected')] : []),
  ];
  return commands.map((command) => ({ command, orElse: whole }));
}
