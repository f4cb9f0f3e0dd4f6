import { readyWhenNoticed, type Remediation } from '../../kube/remediation.ts';
import { capitalised, none } from '../../lib/text.ts';
import { startOf } from '../plan/waiting.ts';
import { affectedNames, isQuota, isShared } from './subject.ts';
import type { Times } from './times.ts';

/* The second line of a card: why it is broken, in a few words. */

/** Why, by failure class. The time and what was changed before it follow. */
const phrases: Readonly<Record<string, string>> = {
  QuotaExceeded: 'Pods refused by the quota',
  CreateRejected: 'Pods refused',
  ImagePull: 'Cannot pull its image',
  ConfigMissing: 'ConfigMap or Secret missing',
  OOMKilled: 'Out of memory',
  CrashLoop: 'Crashing',
  ProbeFailing: 'Failing health checks',
  RolloutStuck: 'Rollout stuck',
  Unschedulable: 'No node fits',
  SandboxFailed: 'Pods cannot be set up',
  VolumeStuck: 'Waiting for a volume',
  StorageFailed: 'No storage',
  Evicted: 'Pods evicted',
  JobFailed: 'Last run failed',
  NodeDown: 'Not ready',
  AutoscalerBlind: 'No metrics',
};

/** In these classes the diagnosis itself is the cause, if it is short. In the others it explains a symptom. */
const explainsItself: ReadonlySet<string> = new Set([
  'ImagePull',
  'ConfigMissing',
  'Unschedulable',
  'CreateRejected',
  'VolumeStuck',
  'StorageFailed',
  'NodeDown',
  'AutoscalerBlind',
  'JobFailed',
]);

function phraseOf({ spec: { incident } }: Remediation): string {
  if (incident.class === 'JobFailed' && incident.object.kind === 'Job') return 'Job failed';
  return Object.hasOwn(phrases, incident.class)
    ? phrases[incident.class]!
    : capitalised(incident.reason || incident.class);
}

/** A rollout earlier than this before the trouble is no news. */
const latelyMs = 3_600_000;

/** "1.41 → 1.42", "limit memory 256Mi → 64Mi", "rollout 42": the rollout right before it broke, in several lengths. */
function changesBefore({ spec }: Remediation, { localised }: Times): string[] {
  for (const text of spec.context.changed) {
    const [, time = '', revision, what = ''] = /^(\S+) rollout (\d+)(?: \([^)]*\))?: (.*)$/s.exec(text) ?? [];
    const beforeMs = Date.parse(spec.incident.firstSeen) - Date.parse(time);
    if (revision === undefined || !(beforeMs >= 0 && beforeMs <= latelyMs)) continue;
    const [, image] = /^\S+ image (\S+ → \S+)$/.exec(what) ?? [];
    const [, change] = /^\S+ ([^,]+)$/.exec(what) ?? [];
    const short = image ?? change ?? '';
    return [short.includes(none) ? '' : short, `rollout ${revision}`].filter(Boolean).map(localised);
  }
  return [];
}

/** The clauses of the diagnosis, one fact each. */
export const factsOf = (fix: Remediation, { localised }: Times): string[] =>
  localised(fix.spec.diagnosis)
    .split('; ')
    .filter(Boolean)
    .map((fact) => (isQuota(fix) ? fact : capitalised(fact))); // a quota's begin with the names of resources

/** The workloads behind a shared cause: "research 0/1, api 2/3", as they were when it was noticed. */
export function whoSuffers(fix: Remediation, { localised }: Times): string | undefined {
  const names = affectedNames(fix);
  const [counted] = fix.spec.context.evidence.filter((text) => text.startsWith(readyWhenNoticed));
  if (isQuota(fix) && counted) {
    const impacts = localised(counted.slice(readyWhenNoticed.length)).replaceAll(/\b[A-Z]\w+\//g, '');
    const isOfAll = names.every((name) => ` ${impacts}`.includes(` ${name} `));
    if (isOfAll || impacts.endsWith('others')) return impacts;
  }
  return names.length > 0 ? localised(names.join(', ')) : undefined;
}

export interface Cause {
  /** In several lengths, the longest first. */
  lines: string[];
  /** The fact that the first of them repeats. */
  fact?: string;
}

/** The second line of a card. */
export function causeOf(fix: Remediation, times: Times): Cause {
  const suffering = isQuota(fix) ? whoSuffers(fix, times) : undefined;
  if (suffering !== undefined) return { lines: [suffering] };
  const phrase = phraseOf(fix);
  const word = fix.spec.incident.class === 'JobFailed' ? 'at' : 'since'; // a run that failed has ended
  const from = startOf(fix) === undefined ? word : `${word === 'at' ? '' : `${word} `}before`;
  const since = `${from} ${times.minute(fix.spec.incident.firstSeen)}`;
  const changes = changesBefore(fix, times);
  const lines = [
    ...changes.flatMap((change) => [`${phrase} ${since}, after ${change}`, `${phrase}, after ${change}`]),
    `${phrase} ${since}`,
    phrase,
  ].map((text) => times.localised(text));
  const [fact] = explainsItself.has(fix.spec.incident.class) ? factsOf(fix, times) : [];
  return fact ? { lines: [fact, ...lines], fact } : { lines };
}

/** More would not leave room for the rest of a list's line. */
const longestInList = 32;

/** The cause in the line of a list: "crashing after 1.42", "no node fits". */
export function shortCause(fix: Remediation, times: Times): string {
  const { lines, fact } = causeOf(fix, times);
  const first = lines[0]!;
  const [change] = changesBefore(fix, times);
  const after = change ? ` after ${change.replace(/^\S+ → /, '')}` : '';
  const phrase = times.localised(phraseOf(fix));
  const short = fact === undefined ? `${phrase}${isShared(fix) ? '' : after}` : first;
  const text = short.length <= longestInList ? short : phrase;
  return /^[A-Z]+[a-z]*[A-Z]/.test(text) ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
