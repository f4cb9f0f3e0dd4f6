import type { LinkTemplate } from '../../config/schema.ts';
import {
  conditionOf,
  isProposedByProgram,
  noFix,
  rationaleParts,
  type Remediation,
  runbookLine,
  severityOf,
  shortIdOf,
} from '../../kube/remediation.ts';
import type { EventView } from '../../kube/views.ts';
import { globMatches } from '../../lib/glob.ts';
import { redact } from '../../lib/redact.ts';
import { line } from '../../lib/text.ts';
import { attentionLines, describeCommand, howToUndo } from './body.ts';
import { type CardContext, isPending } from './card-context.ts';
import { decided, decidedAt, headOf } from './head.ts';
import type { CardRow, Line, WebLink, Message } from './message.ts';
import { actionWords, placeOf } from './subject.ts';
import { timesIn } from './times.ts';

interface DetailsContext extends Pick<CardContext, 'cluster' | 'nowMs' | 'timeZone' | 'nameOf'> {
  /** The links of the configuration. */
  links?: readonly LinkTemplate[];
}

/**
 * Everything known about one Remediation, in the order in which people ask. It has no buttons: those are on its card.
 */
export function composeDetails(
  fix: Remediation,
  events: readonly EventView[] | undefined,
  context: DetailsContext,
): Message {
  const { incident, diagnosis } = fix.spec;
  const { dot, headline } = headOf(fix, { ...context, approvable: false, allowed: true, confirm: [] });
  const { kind, name } = incident.object;
  const what = `${incident.class} (${severityOf(fix)})`;
  const subtitle = [placeOf(fix), context.cluster, shortIdOf(fix), `${kind} ${name}`, what].filter(Boolean).join(' · ');
  const say = timesIn(context.timeZone, context.nowMs).localised;
  const { evidence, log } = evidenceOf(fix);
  const rows: CardRow[] = [
    { label: 'Changed', lines: fix.spec.context.changed.map(say) },
    { label: 'Why', lines: diagnosis ? [say(diagnosis)] : [] },
    { label: 'Seen', lines: [...seenLines(fix, context), ...evidence.map(say)] },
    { label: 'Events', lines: eventLines(events, context) },
    { label: 'Log', lines: log.map(say), fold: true },
    ...fixRows(fix, context),
    { label: 'Risk', lines: riskLines(fix, say) },
    { label: 'Undo', lines: howToUndo(fix) },
    { label: 'Who', lines: whoLines(fix, context) },
    { label: 'kubectl', lines: commandsFor(fix, context.nowMs) },
    { label: 'Links', lines: [...linksFor(fix, context), ...runbookOf(fix, context)] },
  ];
  const card = { dot, headline, subtitle, rows: rows.filter(({ lines }) => lines.length > 0), footer: [], buttons: [] };
  return { cards: [card], silent: true };
}

/** Lines of a log begin with this; the line before them names the container. */
const logLine = '> ';

/** The evidence, and apart from it the last lines of a container's log, if they may be shown. */
function evidenceOf({ spec }: Remediation): { evidence: string[]; log: string[] } {
  const all = spec.context.evidence.filter((text) => !text.startsWith(runbookLine));
  const first = all.findIndex((text) => text.startsWith(logLine));
  if (first < 0) return { evidence: all, log: [] };
  const from = Math.max(first - 1, 0);
  return { evidence: all.slice(0, from), log: all.slice(from) };
}

/** When it was first seen, how often, and what was seen. */
function seenLines({ spec: { incident }, status }: Remediation, { timeZone, nowMs }: DetailsContext): string[] {
  const times = timesIn(timeZone, nowMs);
  const count = status?.sightings?.count ?? 1;
  const often = count > 1 ? `, ${count} times since` : '';
  const message = incident.message ? `: ${times.localised(incident.message)}` : '';
  return [`${times.atZoned(incident.firstSeen)} first${often} · ${redact(incident.reason)}${message}`];
}

/** The fix in words, the whole diff, and the API server's answer to it. */
function fixRows(fix: Remediation, { timeZone, nowMs }: DetailsContext): CardRow[] {
  const times = timesIn(timeZone, nowMs);
  const words = actionWords(fix);
  if (!words) {
    const why = times.localised(fix.spec.rationale);
    return [{ label: 'Fix', lines: [why === '' || why === noFix ? 'No one-tap fix' : `No one-tap fix: ${why}`] }];
  }
  const { preview } = fix.status ?? {};
  const rehearsed = conditionOf(fix, 'Rehearsed');
  const confirmed = conditionOf(fix, 'Confirmed');
  const diff = preview?.diff ? [{ code: redact(preview.diff.trimEnd()) }] : [];
  const isLong = diff.some(({ code }) => code.length > 600 || code.split('\n').length > 10);
  const checks =
    rehearsed?.status === 'False'
      ? [`dry run failed: ${times.localised(rehearsed.message)}`]
      : preview
        ? [`dry run accepted by the API server at ${times.at(preview.at)}`]
        : [];
  const doubt = confirmed?.status === 'False' ? [`not confirmed: ${times.localised(confirmed.message)}`] : [];
  return [
    { label: 'Fix', lines: [redact(words.summary), ...(isLong ? [] : diff), ...checks, ...doubt] },
    { label: 'Exactly', lines: isLong ? diff : [], fold: true },
  ];
}

function riskLines(fix: Remediation, say: (text: string) => string): string[] {
  if (!fix.spec.action) return [];
  return say(rationaleParts(fix).why).split('\n').filter(Boolean);
}

function whoLines(fix: Remediation, context: DetailsContext): string[] {
  const times = timesIn(context.timeZone, context.nowMs);
  const { approval, proposedBy } = fix.spec;
  const by = isProposedByProgram(fix) ? proposedBy.replace(/^system:serviceaccount:/, '') : proposedBy;
  const at = decidedAt(fix);
  const who = approval.state === 'Pending' ? [] : [`${at ? `${times.at(at)} ` : ''}${decided(fix, context)}`];
  return [`proposed by ${redact(by)}`, ...who, ...attentionLines(fix, context)];
}

function eventLines(events: readonly EventView[] | undefined, { timeZone, nowMs }: DetailsContext): Line[] {
  if (!events) return ['they could not be read'];
  const times = timesIn(timeZone, nowMs);
  return events.map(({ lastSeenMs, object, reason, message, count }) => {
    const often = count > 1 ? ` (${count} times)` : '';
    return `${times.at(lastSeenMs)} ${object.kind} ${object.name}: ${reason}${often}: ${line(redact(message), 300)}`;
  });
}

/** Commands to look at it, and to decide without a chat. */
function commandsFor(fix: Remediation, nowMs: number): Line[] {
  const { name, namespace } = fix.metadata;
  const inside = namespace ? `kubectl -n ${namespace}` : 'kubectl';
  const decide = (state: string): string =>
    `${inside} patch fix ${name} --type merge -p '{"spec":{"approval":{"state":"${state}"}}}'`;
  const whole = `${inside} get fix ${name} -o yaml`;
  const commands = [
    whole,
    describeCommand(fix),
    ...(isPending(fix, nowMs) ? [decide('Approved'), decide('Rejected')] : []),
  ];
  return commands.map((command) => ({ command, orElse: whole }));
}

/** The links of the configuration for this class and namespace. What a tenant named is encoded, so it stays a value. */
function linksFor(fix: Remediation, { links = [], cluster }: DetailsContext): WebLink[] {
  const { class: failure, object } = fix.spec.incident;
  const namespace = placeOf(fix);
  const values: Readonly<Record<string, string>> = { namespace, name: object.name, kind: object.kind, cluster };
  return links
    .filter((one) => globMatches(one.class, failure) && globMatches(one.namespace, namespace))
    .map(({ label, url }) => ({
      link: label,
      url: url.replace(/\{(namespace|name|kind|cluster)\}/g, (_, key: string) => encodeURIComponent(values[key]!)),
    }));
}

/**
 * The runbook that the workload is annotated with: as plain text, because a tenant wrote it, unless it is on the host of a
 * link in the configuration.
 */
function runbookOf({ spec }: Remediation, { links = [] }: DetailsContext): Line[] {
  const text = spec.context.evidence.find((one) => one.startsWith(runbookLine))?.slice(runbookLine.length);
  if (text === undefined) return [];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isKnownHost = links.some((one) => URL.canParse(one.url) && new URL(one.url).host === url?.host);
  const isPlain = url?.protocol !== 'https:' || url.username !== '' || url.password !== '';
  return isKnownHost && !isPlain ? [{ link: 'Runbook', url: url!.href }] : [`Runbook: ${redact(text)}`];
}
