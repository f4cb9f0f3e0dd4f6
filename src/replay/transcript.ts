import { dots } from '../channels/lines.ts';
import type { Config } from '../config/schema.ts';
import type { Entry } from '../incidents/ledger.ts';
import { spokenDuration } from '../lib/duration.ts';
import { counted, line } from '../lib/text.ts';
import { headOf } from '../notices/cards/head.ts';
import { type Times, timesIn } from '../notices/cards/times.ts';
import { classOf } from '../signals/classes.ts';
import { SignalOutcome } from '../signals/signal.ts';
import type { Replay, Posting } from './run-replay.ts';

interface WordContext {
  file: string;
  config: Config;
  timeZone: string;
  /** Lines of entries that could not be read, in order. */
  unreadable: readonly number[];
}

const mostLines = 40;

/** Pure. First what would have been posted, then why the rest would not, then the totals. */
export function replayed(result: Replay, context: WordContext): string[] {
  const { said, fromMs, untilMs } = result;
  const times = timesIn(context.timeZone, untilMs);
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: context.timeZone }).format(untilMs);
  const span = eventsIn(result) > 0 ? `, ${times.at(fromMs)} to ${times.atZoned(untilMs)} on ${day}` : '';
  const messages = said.filter(({ isEdit }) => !isEdit).length;
  return [
    `${context.file}: ${counted(eventsIn(result), 'event')}${span}`,
    ...unreadableLines(context.unreadable),
    'No cluster was read: a failure counts as still true when the recording sees it again within the next 15 minutes',
    '(three times its patience, if that is longer), and a workload is known by its name and by what controllers said.',
    '',
    `Would have been posted: ${counted(messages, 'incident')}`,
    ...said.flatMap((one) => postingLines(one, context, times)),
    '',
    'Would not have been posted',
    ...droppedLines(result, context, times),
    '',
    sumLine(result),
  ];
}

const eventsIn = ({ sightings, notFailures, unwatched }: Replay): number => {
  const events = new Set(sightings.map(({ signal }) => signal)).size; // two sightings of one event share its signal
  return events + [...notFailures.values()].reduce((sum, n) => sum + n, 0) + unwatched;
};

function unreadableLines(unreadable: readonly number[]): string[] {
  const [first] = unreadable.toSorted((a, b) => a - b);
  if (first === undefined) return [];
  const others = unreadable.length > 1 ? 'the first' : 'it is';
  return [`${counted(unreadable.length, 'thing')} in it could not be read as an event; ${others} in line ${first}`];
}

function postingLines({ atMs, fix, isEdit }: Posting, { config, timeZone }: WordContext, times: Times): string[] {
  const card = {
    cluster: config.cluster,
    nowMs: atMs,
    timeZone,
    approvable: false,
    allowed: false,
    confirm: [],
    nameOf: (by: string) => by,
  };
  const { dot, headline } = headOf(fix, card);
  const { class: failureClass, severity, key, firstSeen } = fix.spec.incident;
  const edit = isEdit ? 'the same message: ' : '';
  const since = `first seen ${times.at(firstSeen)}, ${spokenDuration(atMs - Date.parse(firstSeen))} before`;
  return [
    `  ${times.at(atMs)}  ${edit}${dots[dot]} ${line(headline, 200)}`,
    `            ${failureClass}, ${severity}, ${line(key, 300)}, ${since}`,
  ];
}

const whys: Partial<Record<SignalOutcome, string>> = {
  [SignalOutcome.healedBeforeTold]: 'not seen again once its patience was over',
  [SignalOutcome.noLongerSeen]: 'seen only in Events, and there was no second one in time',
  [SignalOutcome.noLongerTrue]: 'something else is wrong instead',
  [SignalOutcome.symptom]: 'a shared cause explains it',
  [SignalOutcome.ignoredByRule]: 'a rule of ignore matches',
  [SignalOutcome.classDisabled]: 'its class is switched off',
};

/** A signal with such an outcome is part of a message that would have been posted, and has its line there. */
const isPostedOutcome = (outcome: SignalOutcome): boolean =>
  outcome === SignalOutcome.recorded || outcome === SignalOutcome.repeated;

/** Why it is undecided: its patience, or the time in which the failure may have continued, ends after the recording. */
function whyWaiting(one: { class: string; since: string }, untilMs: number, config: Config): string {
  const isDue = Date.parse(one.since) + classOf(one.class, config).forMs <= untilMs;
  return isDue
    ? 'the recording ends too soon to show whether it lasted'
    : 'the recording ends before its patience does';
}

function droppedLines(
  { ledger, sightings, notFailures, unwatched, untilMs }: Replay,
  { config }: WordContext,
  times: Times,
): string[] {
  const workloads = [...new Set(sightings.map(({ about }) => about.workload))].sort();
  const entryLine = (workload: string, { outcome, class: failureClass, reason, count, last }: Entry): string =>
    `  ${outcome}: ${line(workload, 300)}, ${failureClass} (${line(reason, 64)}), ${counted(count, 'sighting')}, judged ${times.at(last)}${whys[outcome] ? `: ${whys[outcome]}` : ''}`;
  const entries = workloads.flatMap((workload) =>
    ledger
      .of(workload)
      .outcomes.filter(({ outcome }) => !isPostedOutcome(outcome))
      .map((entry) => entryLine(workload, entry)),
  );
  const waiting = workloads.flatMap((workload) =>
    ledger
      .of(workload)
      .waiting.map(
        (one) =>
          `  Waiting: ${line(workload, 300)}, ${one.class} (${line(one.reason, 64)}), ${counted(one.count, 'sighting')}: ${whyWaiting(one, untilMs, config)}`,
      ),
  );
  const elsewhere = Map.groupBy(
    sightings.filter(({ judged }) => judged.outcome === SignalOutcome.namespaceNotSelected),
    ({ signal }) => signal.namespace,
  );
  const lines = [
    ...entries,
    ...waiting,
    ...[...elsewhere].map(
      ([namespace, all]) => `  NamespaceNotSelected: ${counted(all.length, 'sighting')} in ${line(namespace, 64)}`,
    ),
    ...[...notFailures].map(([reason, count]) => `  NotAFailure: ${counted(count, 'event')} ${line(reason, 64)}`),
    ...(unwatched > 0
      ? [`  ${counted(unwatched, 'event')} that tapfix does not watch: no Warning, and in no extraReasons`]
      : []),
  ];
  const more = lines.length > mostLines ? [`  and ${lines.length - mostLines} more`] : [];
  return lines.length === 0 ? ['  nothing'] : [...lines.slice(0, mostLines), ...more];
}

/** Each signal is in exactly one of these. */
function sumLine({ ledger }: Replay): string {
  const { seen, waiting, outcomes } = ledger.totals();
  const parts = Object.entries({ ...outcomes, ...(waiting > 0 && { Waiting: waiting }) });
  return `${counted(seen, 'signal')}${parts.length > 0 ? ` = ${parts.map(([outcome, n]) => `${n} ${outcome}`).join(' + ')}` : ''}`;
}
