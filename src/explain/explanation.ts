import { z } from 'zod';
import { severityNow } from '../health/impact.ts';
import type { LiveHealth } from '../health/trouble.ts';
import type { SeenClass } from '../incidents/incident.ts';
import { isCleared, phaseOf, type Remediation, severityOf } from '../kube/remediation.ts';
import { resources } from '../kube/resources.ts';
import { spokenDuration } from '../lib/duration.ts';
import { redact } from '../lib/redact.ts';
import { line } from '../lib/text.ts';
import { actionWords } from '../notices/cards/subject.ts';
import { type Times, timesIn } from '../notices/cards/times.ts';
import { SignalOutcome } from '../signals/signal.ts';
import { type ExplainedCase, type Findings, type SeenObject, spoken } from './findings.ts';

/* Pure. Why there was, or was not, a message: one sentence, the first that applies. */

/** Why a signal was dropped, and where to look. */
function whyDropped(outcome: SignalOutcome, { signal }: Pick<SeenObject, 'signal'>): string {
  const why: Partial<Record<SignalOutcome, string>> = {
    [SignalOutcome.namespaceNotSelected]: `namespace ${signal.namespace} is not selected (namespaces.include and exclude)`,
    [SignalOutcome.classDisabled]: `classes.${signal.class}.enabled is false`,
    [SignalOutcome.ignoredByRule]: 'a rule of ignore matches it',
    [SignalOutcome.muted]: 'it is muted for now (ConfigMap tapfix-mutes)',
    [SignalOutcome.ownerUnknown]: 'its owner is not known',
    [SignalOutcome.ignoredByAnnotation]: 'it, or its namespace, is annotated tapfix.dev/ignore',
    [SignalOutcome.namespaceTerminating]: 'the namespace of its records is being deleted or does not exist',
  };
  return why[outcome] ?? outcome;
}

/** Text from the cluster, as part of a sentence. */
const clause = (text: string, longest = 160): string => line(redact(text), longest).replace(/\.$/, '');

const holderOf = (fixes: readonly Remediation[]): Remediation | undefined => fixes.find((fix) => !isCleared(fix));

type Basis = Pick<Findings, 'seen' | 'unread' | 'isInstalled'>;

function verdictOf(one: ExplainedCase, { seen, ...basis }: Basis): string {
  const { incident, live, trueNow, symptomOf, whyNot, fixes } = one;
  const holder = holderOf(fixes);
  if (holder) return holdsIt(holder, live.healthy);
  if (!incident) return notSeen(one, seen);
  const [worst] = incident.seen;
  if (symptomOf !== undefined) return `${worst.class} has no message of its own: ${symptomOf} explains it and has one.`;
  if (whyNot) return `There is no message: ${whyDropped(whyNot, seen[0]!)}.`;
  const [as] = trueNow;
  if (as) return isTrue(as, basis);
  if (live.gone) return 'It is gone. tapfix posts nothing about objects that are gone.';
  const names = incident.seen.map((each) => each.class).join(', ');
  if (live.healthy)
    return `${names} was seen, but it is healthy now. tapfix posts nothing about what healed by itself.`;
  if (!worst.readable && live.troubles.length === 0)
    return `${names} was seen, but only in Events: tapfix waits for a second, recent one.`;
  return `${names} was seen, but a fresh reading does not confirm it: it is ${clause(live.why) || 'not healthy'}.`;
}

function isTrue(as: SeenClass, { unread, isInstalled }: Omit<Basis, 'seen'>): string {
  const what = as.readable ? `It is broken (${as.class})` : `${as.class} is seen`;
  if (!isInstalled) return `${what}, but this cluster has no Remediations: tapfix is not installed here.`;
  if (unread.includes('Remediation'))
    return `${what}; you may not read Remediations, so it is not known whether there was a message.`;
  return `${what}, and there is no message yet: the watcher posts one ${patience(as.forMs)} it first sees it, if it is still so then.`;
}

const patience = (forMs: number): string => (forMs === 0 ? 'as soon as' : `${spokenDuration(forMs)} after`);

function holdsIt(fix: Remediation, isHealthy: boolean): string {
  const name = `${fix.metadata.namespace}/${fix.metadata.name}`;
  const phase = phaseOf(fix) || 'new';
  const end = isHealthy
    ? 'it is healthy now, and over when that has lasted'
    : 'there is no new message until it is over';
  return `There is a message: Remediation ${name} (${phase}); ${end}.`;
}

function notSeen({ live, fixes }: ExplainedCase, seen: readonly SeenObject[]): string {
  const [dropped] = seen.filter(({ judged }) => judged.outcome !== SignalOutcome.kept);
  if (dropped)
    return `It is seen (${dropped.signal.class}), and dropped on purpose: ${whyDropped(dropped.judged.outcome, dropped)}.`;
  if (live.gone) return 'It is gone, so there is no message.';
  const before = fixes[0] ? ` The last incident, ${fixes[0].metadata.name}, is over.` : '';
  if (live.troubles.length > 0)
    return `A fresh reading finds ${live.troubles.join(', ')}, but no event and no status says so now: tapfix looks where it sees something.${before}`;
  if (live.healthy) return `Nothing is wrong with it now, so there is no message.${before}`;
  return `It is not healthy (${clause(live.why)}), but tapfix sees no failure that it knows.${before}`;
}

interface WordContext {
  nowMs: number;
  timeZone: string;
}

/** Pure. The answer first, then what it is based on: a few lines for somebody who was woken up. */
export function explained(findings: Findings, context: WordContext): string[] {
  const { target, root, isGone, cases, seen, unread } = findings;
  const times = timesIn(context.timeZone, context.nowMs);
  const isRoot = target.kind === root.kind && target.name === root.name;
  const whose = isRoot ? '' : ` ${isGone ? 'is gone; by its name it was of' : 'belongs to'} ${root.kind} ${root.name}`;
  const [own, ...causes] = cases;
  return [
    `${spoken(target)}${whose}${whose ? ', which is ' : ': '}${inShort(own.live)}`,
    // A workload whose incident belongs to a shared cause has no verdict of its own.
    ...(own.incident || own.fixes.length > 0 || causes.length === 0 ? [verdictOf(own, findings)] : []),
    ...causes.map((one) => `Part of incident ${one.key}. ${verdictOf(one, findings)}`),
    '',
    ...rows('Seen', seenLines(seen, times)),
    ...cases.flatMap((one) => caseRows(one, times)),
    ...rows(
      'Message',
      findings.cases.flatMap(({ fixes }) => fixes.slice(0, 1)).flatMap((fix) => messageLines(fix, findings, times)),
    ),
    ...(unread.length > 0
      ? rows('Unread', [
          `${unread.map((kind) => resources[kind].plural).join(', ')}: forbidden to you, so this may be incomplete`,
        ])
      : []),
  ];
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

/** The same signal of several pods is one line. */
function seenLines(seen: readonly SeenObject[], times: Times): string[] {
  if (seen.length === 0) return ['nothing'];
  const groups = [
    ...Map.groupBy(seen, ({ signal, judged }) =>
      [signal.class, signal.reason, signal.object.kind, judged.outcome].join(' '),
    ).values(),
  ];
  const lines = groups.map((group) => {
    const [{ signal, judged }] = group as [SeenObject, ...SeenObject[]];
    const names = new Set(group.map(({ signal: { object } }) => object.name));
    const who =
      names.size > 1
        ? `${names.size} ${resourceName(signal.object.kind)}`
        : `${signal.object.kind} ${signal.object.name}`;
    const lastMs = Math.max(...group.map(({ event }) => event?.lastSeenMs ?? 0));
    const when = lastMs > 0 ? `, last ${times.at(lastMs)}` : '';
    const what = judged.outcome === SignalOutcome.kept ? '' : `; dropped (${judged.outcome})`;
    const said = signal.message ? `: ${clause(signal.message, 80)}` : '';
    return `${signal.class} by ${who} (${signal.reason}${when})${said}${what}`;
  });
  const more = lines.length > mostLines ? [`and ${lines.length - mostLines} more`] : [];
  return [...lines.slice(0, mostLines), ...more];
}

const resourceName = (kind: string): string =>
  Object.hasOwn(resources, kind) ? resources[kind as keyof typeof resources].plural : `${kind}s`;

function caseRows({ key, incident, live, trueNow, draft, fixes }: ExplainedCase, times: Times): string[] {
  const [worst, ...others] = incident?.seen ?? [];
  const symptoms = others.length > 0 ? `; ${classes(others)} count as its symptoms` : '';
  const holder = holderOf(fixes);
  const severity = worst && severityNow(worst, live, holder && severityOf(holder));
  const patience = worst ? `${severity}, patience ${spokenDuration(worst.forMs)}` : '';
  return [
    ...(worst ? rows('Incident', [`${key}: ${worst.class}, ${patience}${symptoms}`]) : []),
    ...(worst ? rows('Reading', [readingWords(live, trueNow)]) : []),
    ...(draft ? rows('Fix', draftLines(draft)) : []),
    ...rows(
      'Told',
      fixes.slice(0, 3).map((fix) => fixLine(fix, times)),
    ),
  ];
}

const classes = (some: readonly SeenClass[]): string => some.map((one) => one.class).join(', ');

/** The result of the fresh reading, which of the seen classes it confirms, and what else it finds. */
function readingWords(live: LiveHealth, trueNow: readonly SeenClass[]): string {
  const readable = trueNow.filter((one) => one.readable);
  const unreadable = trueNow.filter((one) => !one.readable);
  const others = live.troubles.filter((trouble) => !trueNow.some((one) => one.class === trouble));
  return [
    inShort(live),
    ...(readable.length > 0 ? [`confirmed: ${classes(readable)}`] : []),
    ...(unreadable.length > 0 ? [`seen only in Events, more than once: ${classes(unreadable)}`] : []),
    ...(others.length > 0 ? [`also found: ${others.join(', ')}`] : []),
  ].join('; ');
}

function draftLines(draft: NonNullable<ExplainedCase['draft']>): string[] {
  const words = actionWords({ spec: draft } as Remediation);
  if (words) return [`would be proposed: ${words.summary}`];
  const why = [`none would be offered: ${clause(draft.rationale, 300)}`];
  // This process did not run when the earlier revision did.
  return /seen healthy/.test(draft.rationale)
    ? [...why, '(the watcher may know better: it has seen which revisions were healthy)']
    : why;
}

function fixLine(fix: Remediation, times: Times): string {
  const { class: failureClass } = fix.spec.incident;
  const state = `${phaseOf(fix) || 'new'}${isCleared(fix) ? ', over' : ', open'}`;
  return `${times.at(fix.metadata.creationTimestamp)} ${fix.metadata.name}: ${failureClass}, ${state}`;
}

/** Whether the newest Remediation was posted in a chat. */
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

const entry = z.object({ class: z.string(), reason: z.string(), count: z.number() });
const pageSchema = z.object({
  waiting: z.array(entry.extend({ since: z.string() })),
  outcomes: z.array(
    entry.extend({ outcome: z.string(), first: z.string(), last: z.string(), incident: z.string().optional() }),
  ),
});
type LedgerPage = z.infer<typeof pageSchema>;

/** undefined: the answer is not from a watcher of ours. */
export const pageOf = (answer: unknown): LedgerPage | undefined => pageSchema.safeParse(answer).data;

const mostLedgerLines = 6;

/** Pure. The last outcomes, newest first. */
export function ledgerLines({ waiting, outcomes }: LedgerPage, times: Times): string[] {
  const what = (one: z.infer<typeof entry>): string =>
    `${clause(one.class, 64)} (${clause(one.reason, 64)})${one.count > 1 ? `, ${one.count} times` : ''}`;
  const lines = [
    ...waiting.map((one) => `waits since ${times.at(one.since)} for its patience and a fresh reading: ${what(one)}`),
    ...outcomes.map(({ outcome, last, incident, ...one }) => {
      const where = incident ? `, as part of ${clause(incident)}` : '';
      return `${times.at(last)} ${clause(outcome, 64)}: ${what(one)}${where}`;
    }),
  ];
  return lines.length > 0 ? lines.slice(0, mostLedgerLines) : ['has not seen it since it started'];
}
