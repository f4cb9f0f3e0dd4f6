import { type Remediation, severityOf, whoIsOnIt } from '../../kube/remediation.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { hashOf } from '../../lib/hash.ts';
import { redact } from '../../lib/redact.ts';
import { counted } from '../../lib/text.ts';
import { encodeAll, encodePage } from '../payload.ts';
import { withinBudget } from './budget.ts';
import type { MessageContext } from './card-context.ts';
import { isSettled, isUnderWay, needsSomebody } from './head.ts';
import type { Button, Dot, Message } from './message.ts';
import { placeOf, shortName } from './subject.ts';

/* One message about more incidents than anybody reads one by one: how many, which classes, which namespaces. */

/** The most frequent comes first; equal counts are in alphabetical order. */
function tally(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

const minuteMs = 60_000;

/** "in one minute", or how long it really took. */
function spanOf(members: readonly Remediation[]): string {
  const times = members.map(({ spec }) => Date.parse(spec.incident.firstSeen)).filter(Number.isFinite);
  const ms = times.length > 0 ? times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b)) : 0;
  return ms <= minuteMs ? 'in one minute' : `in ${spokenDuration(ms)}`;
}

function titleOf(members: readonly Remediation[], cluster: string): { dot: Dot; headline: string } {
  const failing = members.filter(needsSomebody);
  const underWay = members.filter(isUnderWay).length;
  const all = `${counted(members.length, 'incident')} ${spanOf(members)}, ${cluster}`;
  if (failing.length === 0 && underWay === 0) return { dot: 'grey', headline: `${all}; all are over` };
  if (failing.length === 0) return { dot: 'yellow', headline: `${all}; the last ${underWay} being fixed` };
  const rest = failing.length === members.length ? '' : `; ${failing.length} still broken`;
  return { dot: 'red', headline: `${all}${rest}` };
}

/** Parts that make equal diagnoses differ: the name of the image, how long each container lived, and what it wrote. */
const withoutImage = (diagnosis: string): string =>
  diagnosis.replace(/^image \S+: /, '').replace(/\bimage \S+/g, 'image');
const withoutAge = (diagnosis: string): string =>
  diagnosis.replace(/ (?:within a second|after [\d.]+ (?:s|min|h|days))(?=[;,]|$)/g, '');
const withoutWords = (diagnosis: string): string => diagnosis.replace(/; its last words: "[^"]*"/, '');
const ways: readonly ((diagnosis: string) => string)[] = [
  (diagnosis) => diagnosis,
  withoutImage,
  withoutAge,
  (diagnosis) => withoutAge(withoutImage(withoutWords(diagnosis))),
];

/**
 * A shared cause is the news. This is the diagnosis that most of them have, with the rewording that matches the most;
 * undefined when there is no such majority.
 */
function causeOf(some: readonly Remediation[]): string | undefined {
  const words = some.map(({ spec }) => redact(spec.diagnosis));
  const [[cause, times] = ['', 0]] = ways
    .flatMap((way) => tally(words.map(way).filter(Boolean)).slice(0, 1))
    .sort(([, n], [, m]) => m - n);
  if (times < 2 || times * 2 < some.length) return undefined;
  return times === some.length ? cause : `${cause} (${times} of them)`;
}

/** The trouble of many workloads of one class, and of a single one. */
const plurals: Readonly<Record<string, readonly [many: string, one: string]>> = {
  QuotaExceeded: ['quotas block pods', 'quota blocks pods'],
  CreateRejected: ['cannot create pods', 'cannot create pods'],
  ImagePull: ['cannot pull images', 'cannot pull its image'],
  ConfigMissing: ['lack a ConfigMap or Secret', 'lacks a ConfigMap or Secret'],
  OOMKilled: ['run out of memory', 'runs out of memory'],
  CrashLoop: ['crash', 'crashes'],
  ProbeFailing: ['fail their health checks', 'fails its health checks'],
  RolloutStuck: ['are stuck in rollouts', 'is stuck in a rollout'],
  Unschedulable: ['cannot be scheduled', 'cannot be scheduled'],
  SandboxFailed: ['cannot start their pods', 'cannot start its pods'],
  VolumeStuck: ['wait for volumes', 'waits for a volume'],
  StorageFailed: ['get no storage', 'gets no storage'],
  Evicted: ['lose pods to evictions', 'loses pods to evictions'],
  JobFailed: ['jobs failed', 'job failed'],
  NodeDown: ['nodes are not ready', 'node is not ready'],
  AutoscalerBlind: ['autoscalers cannot scale', 'autoscaler cannot scale'],
};

function inPlainWords(failure: string, count: number): string {
  const [many, one] = Object.hasOwn(plurals, failure) ? plurals[failure]! : [failure, failure];
  return `${count} ${count === 1 ? one : many}`;
}

/** "198 cannot pull images: registry.internal times out", then in one line those without a common cause, and the few. */
function classLines(members: readonly Remediation[]): string[] {
  const kinds = tally(members.map(({ spec }) => spec.incident.class)).map(([name, count]) => {
    const cause = causeOf(members.filter(({ spec }) => spec.incident.class === name));
    return { words: inPlainWords(name, count), count, cause };
  });
  const explained = kinds
    .slice(0, mostClasses)
    .filter(({ count, cause }) => cause !== undefined && count * 10 >= members.length);
  const others = kinds.filter((kind) => !explained.includes(kind)).map(({ words }) => words);
  return [
    ...explained.map(({ words, cause }) => `${words}: ${cause}`),
    ...(others.length > 0 ? [others.join(' · ')] : []),
  ];
}
const mostClasses = 3;

const mostPlaces = 3;

/** "in shop (120), payments (60), 11 more namespaces"; a single namespace is one entry. */
function placesLine(members: readonly Remediation[]): string {
  const places = tally(members.map((fix) => shortName(placeOf(fix)) || 'the cluster itself'));
  const named = places.map(([name, count]) => `${name} (${count})`);
  const others = named.length > mostPlaces + 1 ? named.length - mostPlaces : 0;
  const all = [
    ...named.slice(0, others > 0 ? mostPlaces : mostPlaces + 1),
    ...(others > 0 ? [`${others} more namespaces`] : []),
  ];
  return `in ${all.join(', ')}`;
}

/** How many are being fixed or over; empty while there are none. */
function progressLine(members: readonly Remediation[]): string[] {
  const underWay = members.filter(isUnderWay).length;
  const over = members.filter(isSettled).length;
  const parts = [...(underWay > 0 ? [`${underWay} being fixed`] : []), ...(over > 0 ? [`${over} over`] : [])];
  return parts.length > 0 ? [parts.join(' · ')] : [];
}

function stormButtons(notice: string, isAnybodyListed: boolean): Button[] {
  const [all, mine] = [encodePage({ notice, page: 1 }), isAnybodyListed ? encodeAll(notice) : undefined];
  return [...(all ? [{ label: 'Show all', data: all }] : []), ...(mine ? [{ label: "I'm on it", data: mine }] : [])];
}

/** The people on it, once everything that needs somebody has somebody. */
function whoIsOnThem(members: readonly Remediation[]): string[] {
  const failing = members.filter(needsSomebody).map(whoIsOnIt);
  return failing.includes(undefined) ? [] : [...new Set(failing as string[])].sort();
}

function attentionLine(members: readonly Remediation[], nameOf: MessageContext['nameOf']): string[] {
  const names = whoIsOnThem(members).map(nameOf);
  if (names.length === 0) return [];
  return [
    names.length === 1 ? `${names[0]} is on it` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are on it`,
  ];
}

export function composeStorm(members: readonly Remediation[], context: MessageContext): Message {
  const { cluster, notice, nameOf } = context;
  const { dot, headline } = titleOf(members, cluster);
  const isOver = dot === 'grey';
  const wanted = [
    ...(isOver ? [] : classLines(members).map((line) => ({ lines: [line], most: 2, rank: 1 }))),
    { lines: [placesLine(members)], most: 2, rank: 0 },
    ...(isOver ? [] : [...progressLine(members), ...attentionLine(members, nameOf)]).map((line) => ({
      lines: [line],
      most: 1,
      rank: 0,
    })),
  ];
  const footer = withinBudget(headline, wanted);
  const silent = !members.some((fix) => needsSomebody(fix) && severityOf(fix) === 'critical');
  const buttons = isOver || notice === undefined ? [] : [stormButtons(notice, members.some(context.approvable))];
  return { cards: [{ dot, headline, rows: [], footer, buttons }], silent };
}

/** A hash of the state that the message shows. A rehearsal, or who decided about one member, does not change it. */
export const stormHash = (members: readonly Remediation[]): string =>
  hashOf([
    whoIsOnThem(members),
    members.map((fix) => [fix.metadata.uid, needsSomebody(fix) ? 0 : isUnderWay(fix) ? 1 : 2]).sort(),
    ...members.filter((fix) => severityOf(fix) !== fix.spec.incident.severity).map(({ metadata }) => metadata.uid),
  ]);
