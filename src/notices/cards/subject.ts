import { parseAction } from '../../actions/table.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { capitalised, counted, middleCut } from '../../lib/text.ts';

interface ActionWords {
  /** false: another version wrote it, and this one cannot do it. */
  known: boolean;
  summary: string;
}

/**
 * The words for the action. An action that we do not know (a newer tapfix wrote it) is named and never causes a crash.
 */
export function actionWords(fix: Remediation): ActionWords | undefined {
  const spec = fix.spec.action;
  if (!spec) return undefined;
  try {
    const { action, params } = parseAction(spec);
    return { known: true, summary: action.summary(params) };
  } catch {
    return { known: false, summary: `${String(spec.type)} (unknown to this version)` };
  }
}

/** Its trouble in words, by failure class. Used where its pods were not counted, or all of them are ready. */
const sentences: Readonly<Record<string, string>> = {
  ImagePull: 'cannot pull its image',
  ConfigMissing: 'lacks a ConfigMap or Secret',
  OOMKilled: 'runs out of memory',
  CrashLoop: 'keeps crashing',
  ProbeFailing: 'fails its health checks',
  RolloutStuck: 'is stuck in a rollout',
  Unschedulable: 'cannot be scheduled',
  SandboxFailed: 'cannot start its pods',
  VolumeStuck: 'waits for a volume',
  StorageFailed: 'gets no storage',
  Evicted: 'loses pods to evictions',
  CreateRejected: 'cannot create its pods',
  JobFailed: 'failed',
  AutoscalerBlind: 'cannot scale',
};

const named: Readonly<Record<string, string>> = {
  Node: 'node ',
  Pod: 'pod ',
  Job: 'job ',
  CronJob: 'cron job ',
  ResourceQuota: 'quota ',
  StorageClass: 'StorageClass ',
  PersistentVolumeClaim: 'volume claim ',
  HorizontalPodAutoscaler: 'autoscaler ',
};

const kindOf = (fix: Remediation): string => fix.spec.incident.object.kind;
export const isQuota = (fix: Remediation): boolean => kindOf(fix) === 'ResourceQuota';

const clusterWide: ReadonlySet<string> = new Set(['Node', 'StorageClass', 'PersistentVolume']);
/** True if it is in no namespace. Its Remediation is in tapfix's own namespace, which has nothing to do with it. */
const isClusterWide = (fix: Remediation): boolean => clusterWide.has(kindOf(fix));
/** One cause that affects several workloads. */
export const isShared = (fix: Remediation): boolean => isQuota(fix) || isClusterWide(fix);
/** Its namespace; empty for cluster-scoped objects. */
export const placeOf = (fix: Remediation): string => (isClusterWide(fix) ? '' : (fix.metadata.namespace ?? ''));

/** The longest name that leaves room on the first line of a phone for nothing but the dot. */
const longestName = 36;

/** A name as it is on a card: a longer one is shortened in the middle. Details have the whole of it. */
export const shortName = (name: string): string => middleCut(name, longestName);

/** "checkout", "node worker-3", "quota platform-hardening". */
export function subjectOf(fix: Remediation): string {
  const { kind, name } = fix.spec.incident.object;
  return `${Object.hasOwn(named, kind) ? named[kind] : ''}${shortName(name)}`;
}

/** The same at the beginning of a sentence: "Quota platform-hardening". The name of a workload is never changed. */
export const subjectFirst = (fix: Remediation): string =>
  Object.hasOwn(named, kindOf(fix)) ? capitalised(subjectOf(fix)) : subjectOf(fix);

/**
 * Names of the workloads that a shared cause affects, without their kinds: "api", or "shop/api" if the cause is
 * cluster-wide.
 */
export const affectedNames = (fix: Remediation): string[] =>
  (fix.status?.sightings?.affected ?? []).map((workload) => {
    const parts = workload.split('/');
    return parts.length === 3 ? `${parts[0]}/${parts[2]}` : parts.slice(1).join('/');
  });

/** Whether its pods tell how badly it is broken: it wants some, and they were counted. */
function countsOf(fix: Remediation): { ready: number; desired: number } | undefined {
  const { ready, desired } = fix.status?.sightings ?? {};
  return ready === undefined || desired === undefined || desired === 0 ? undefined : { ready, desired };
}

/** "0/3", or nothing when it was not counted. */
export function readiness(fix: Remediation): string {
  const counts = countsOf(fix);
  return counts ? `${counts.ready}/${counts.desired}` : '';
}

export function withReadiness(text: string, fix: Remediation): string {
  const ready = readiness(fix);
  return ready ? `${text}, ${ready} ready` : text;
}

/** How badly it is broken, after its name: "is down, 0/3 ready". */
function impactOf(fix: Remediation, still: boolean): string {
  const counts = isShared(fix) ? undefined : countsOf(fix);
  if (counts && counts.ready < counts.desired)
    return withReadiness(`is${still ? ' still' : ''} ${counts.ready === 0 ? 'down' : 'degraded'}`, fix);
  const { class: failure, reason } = fix.spec.incident;
  if (failure === 'QuotaExceeded' && isQuota(fix))
    return `${still ? 'still ' : ''}blocks ${whomOr(fix, 'new pods')} in ${shortName(fix.metadata.namespace ?? '')}`;
  if (failure === 'NodeDown') return `is ${still ? 'still ' : ''}not ready${touching(fix, 'on it')}`;
  if (failure === 'StorageFailed' && kindOf(fix) === 'StorageClass')
    return `is ${still ? 'still ' : ''}missing${touching(fix, 'wait for it')}`;
  if (failure === 'JobFailed' && kindOf(fix) === 'CronJob') return 'failed its last run';
  const sentence = Object.hasOwn(sentences, failure) ? sentences[failure]! : `has trouble: ${reason || failure}`;
  return withReadiness(still ? stillSo(sentence) : sentence, fix);
}

const stillSo = (sentence: string): string => {
  if (sentence === 'failed') return sentence; // a run that failed has ended
  return sentence.startsWith('is ') ? sentence.replace('is ', 'is still ') : `still ${sentence}`;
};

/** The lock-screen sentence: what is broken, and how badly. */
export const whatIsBroken = (
  fix: Remediation,
  { still = false, name = subjectFirst(fix) }: { still?: boolean; name?: string } = {},
): string => `${name} ${impactOf(fix, still)}`;

/** The resource lists at most this many. */
const mostAffected = 50;

/** "4 workloads", or the smallest number that is known. */
export function affectedInWords(fix: Remediation): string {
  const known = affectedNames(fix).length;
  return known >= mostAffected ? `${known} or more workloads` : counted(known, 'workload');
}

const whomOr = (fix: Remediation, nobody: string): string =>
  affectedNames(fix).length > 0 ? affectedInWords(fix) : nobody;

const touching = (fix: Remediation, how: string): string =>
  affectedNames(fix).length > 0 ? `, ${affectedInWords(fix)} ${how}` : '';
