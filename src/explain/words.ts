import type { LiveHealth } from '../health/live.ts';
import type { SeenClass } from '../incidents/incident.ts';
import { isCleared, phaseOf, type Remediation } from '../kube/remediation.ts';
import { resources } from '../kube/resources.ts';
import { spokenDuration } from '../lib/duration.ts';
import { actionWords } from '../notices/action-words.ts';
import { timesIn, type Times } from '../notices/times.ts';
import { SignalOutcome } from '../signals/signal.ts';
import type { Case, Findings, Seen } from './findings.ts';
import { spoken } from './target.ts';
import { clause, verdictOf } from './verdict.ts';

export interface WordContext {
  nowMs: number;
  timeZone: string;
}

/** Pure. The answer first, then what it rests on; a few lines for somebody who was woken. */
export function explained(findings: Findings, context: WordContext): string[] {
  const { target, root, isGone, cases, seen, unread } = findings;
  const times = timesIn(context.timeZone, context.nowMs);
  const isRoot = target.kind === root.kind && target.name === root.name;
  const whose = isRoot ? '' : ` ${isGone ? 'is gone; by its name it was of' : 'belongs to'} ${root.kind} ${root.name}`;
  const [own, ...causes] = cases;
  return [
    `${spoken(target)}${whose}${whose ? ', which is ' : ': '}${inShort(own.live)}`,
    // Whose incident is a shared cause's has nothing of its own to tell.
    ...(own.incident || own.fixes.length > 0 || causes.length === 0 ? [verdictOf(own, findings)] : []),
    ...causes.map((one) => `Part of incident ${one.key}. ${verdictOf(one, findings)}`),
    '',
    ...rows('Seen', seenLines(seen, times)),
    ...cases.flatMap((one) => caseRows(one, times)),
    ...rows('Message', findings.cases.flatMap(({ fixes }) => fixes.slice(0, 1)).flatMap((fix) => messageLines(fix, findings, times))),
    ...(unread.length > 0 ? rows('Unread', [`${unread.map((kind) => resources[kind].plural).join(', ')}: forbidden to you, so this may be incomplete`]) : []),
  ]; // prettier-ignore
}

const labelWidth = 10;
export const rows = (label: string, lines: readonly string[]): string[] =>
  lines.map((text, index) => `${(index === 0 ? label : '').padEnd(labelWidth)}${text}`);

function inShort({ gone, healthy, why, ready, desired, ended }: LiveHealth): string {
  if (gone) return 'gone';
  const count = desired > 0 ? `${ready}/${desired} ready` : '';
  const state = healthy ? (ended ?? 'healthy') : clause(why) || 'not healthy';
  return state.includes(count) ? state : `${count}, ${state}`;
}

const mostLines = 8;

/** The same of several pods is one line. */
function seenLines(seen: readonly Seen[], times: Times): string[] {
  if (seen.length === 0) return ['nothing'];
  const groups = [...Map.groupBy(seen, ({ signal, judged }) => [signal.class, signal.reason, signal.object.kind, judged.outcome].join(' ')).values()]; // prettier-ignore
  const lines = groups.map((group) => {
    const [{ signal, judged }] = group as [Seen, ...Seen[]];
    const names = new Set(group.map(({ signal: { object } }) => object.name));
    const who = names.size > 1 ? `${names.size} ${resourceName(signal.object.kind)}` : `${signal.object.kind} ${signal.object.name}`; // prettier-ignore
    const lastMs = Math.max(...group.map(({ event }) => event?.lastSeenMs ?? 0));
    const when = lastMs > 0 ? `, last ${times.at(lastMs)}` : '';
    const what = judged.outcome === SignalOutcome.kept ? '' : `; dropped (${judged.outcome})`;
    const said = signal.message ? `: ${clause(signal.message, 80)}` : '';
    return `${signal.class} by ${who} (${signal.reason}${when})${said}${what}`;
  });
  const more = lines.length > mostLines ? [`and ${lines.length - mostLines} more`] : [];
  return [...lines.slice(0, mostLines), ...more];
}

const resourceName = (kind: string): string => (Object.hasOwn(resources, kind) ? resources[kind as keyof typeof resources].plural : `${kind}s`); // prettier-ignore

function caseRows({ key, incident, live, trueNow, draft, fixes }: Case, times: Times): string[] {
  const [worst, ...others] = incident?.seen ?? [];
  const symptoms = others.length > 0 ? `; ${classes(others)} count as its symptoms` : '';
  const patience = worst ? `${worst.severity}, patience ${spokenDuration(worst.forMs)}` : '';
  return [
    ...(worst ? rows('Incident', [`${key}: ${worst.class}, ${patience}${symptoms}`]) : []),
    ...(worst ? rows('Reading', [readingWords(live, trueNow)]) : []),
    ...(draft ? rows('Fix', draftLines(draft)) : []),
    ...rows('Told', fixes.slice(0, 3).map((fix) => fixLine(fix, times))),
  ]; // prettier-ignore
}

const classes = (some: readonly SeenClass[]): string => some.map((one) => one.class).join(', ');

/** What the fresh reading says, what of all that was seen it confirms, and what else it finds. */
function readingWords(live: LiveHealth, trueNow: readonly SeenClass[]): string {
  const readable = trueNow.filter((one) => one.readable);
  const unreadable = trueNow.filter((one) => !one.readable);
  const others = live.troubles.filter((trouble) => !trueNow.some((one) => one.class === trouble));
  return [
    inShort(live),
    ...(readable.length > 0 ? [`confirmed: ${classes(readable)}`] : []),
    ...(unreadable.length > 0 ? [`only events tell of it, and more than once: ${classes(unreadable)}`] : []),
    ...(others.length > 0 ? [`found besides: ${others.join(', ')}`] : []),
  ].join('; ');
}

function draftLines(draft: NonNullable<Case['draft']>): string[] {
  const words = actionWords({ spec: draft } as Remediation);
  if (words) return [`would be proposed: ${words.summary}`];
  const why = [`none would be offered: ${clause(draft.rationale, 300)}`];
  // This process was not there when the earlier revision ran.
  return /seen healthy/.test(draft.rationale)
    ? [...why, '(the watcher may know better: it has seen which revisions were healthy)']
    : why;
}

function fixLine(fix: Remediation, times: Times): string {
  const { class: failureClass } = fix.spec.incident;
  const state = `${phaseOf(fix) || 'new'}${isCleared(fix) ? ', over' : ', open'}`;
  return `${times.at(fix.metadata.creationTimestamp)} ${fix.metadata.name}: ${failureClass}, ${state}`;
}

/** Whether the newest Remediation has reached a chat. */
function messageLines(fix: Remediation, { notices, unread }: Findings, times: Times): string[] {
  if (unread.includes('Notice')) return [];
  const own = notices.filter(({ spec }) => spec.members.some(({ uid }) => uid === fix.metadata.uid));
  if (own.length === 0) return [`none yet for ${fix.metadata.name}`];
  return own.map(({ spec, status }) => {
    const where = `${spec.channel} ${spec.chat}`;
    if (status?.message) return `${where}: posted ${times.at(status.postedAt)}`;
    return `${where}: not sent yet${status?.lastError ? `, ${clause(status.lastError)}` : ''}`;
  });
}
