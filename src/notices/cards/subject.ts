import { parseAction } from '../../actions/table.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { counted } from '../../lib/text.ts';

interface ActionWords {
  /** false: another version wrote it, and this one cannot do it. */
  known: boolean;
  verb: string;
  summary: string;
  consequence: string;
}

/**
 * The words for the action. An action that we do not know (a newer tapfix wrote it) is named and never causes a crash.
 */
export function actionWords(fix: Remediation): ActionWords | undefined {
  const spec = fix.spec.action;
  if (!spec) return undefined;
  try {
    const { action, params } = parseAction(spec);
    const { verb } = action;
    return { known: true, verb, summary: action.summary(params), consequence: action.consequence(params) };
  } catch {
    const type = String(spec.type);
    return { known: false, verb: type, summary: `${type} (unknown to this version)`, consequence: `run ${type}` };
  }
}

/** The failure in words, by failure class. It follows the workload's name. */
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
  Evicted: 'is short of pods after evictions',
  JobFailed: 'failed',
  AutoscalerBlind: 'cannot scale',
};

/** Sentences that begin differently, or name the affected workloads. */
const otherwise: Readonly<Record<string, (fix: Remediation) => string>> = {
  'QuotaExceeded ResourceQuota': (fix) =>
    `${subjectOf(fix)} blocks ${whomOr(fix, 'new pods')} in ${fix.metadata.namespace}`,
  CreateRejected: (fix) => `pods of ${subjectOf(fix)} are refused`,
  'JobFailed CronJob': (fix) => `the last run of ${subjectOf(fix)} failed`,
  NodeDown: (fix) => `${subjectOf(fix)} is not ready${touching(fix, 'on it')}`,
  'StorageFailed StorageClass': (fix) => `${subjectOf(fix)} is missing${touching(fix, 'wait for it')}`,
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

/** "checkout", "node worker-3", "quota platform-hardening". */
export function subjectOf(fix: Remediation): string {
  const { kind, name } = fix.spec.incident.object;
  return `${Object.hasOwn(named, kind) ? named[kind] : ''}${name}`;
}

/**
 * Names of the workloads that a shared cause affects, without their kinds: "api", or "shop/api" if the cause is
 * cluster-wide.
 */
export const affectedNames = (fix: Remediation): string[] =>
  (fix.status?.sightings?.affected ?? []).map((workload) => {
    const parts = workload.split('/');
    return parts.length === 3 ? `${parts[0]}/${parts[2]}` : parts.slice(1).join('/');
  });

/** "0/3 ready", or nothing when it was not counted. */
export function readiness(fix: Remediation): string {
  const { ready, desired } = fix.status?.sightings ?? {};
  return ready === undefined || desired === undefined || desired === 0 ? '' : `${ready}/${desired} ready`;
}

/** The lock-screen sentence: what is broken, and how badly. */
export function whatIsBroken(fix: Remediation): string {
  const { class: failure, reason } = fix.spec.incident;
  const own = [`${failure} ${kindOf(fix)}`, failure].find((key) => Object.hasOwn(otherwise, key));
  if (own) return isShared(fix) ? otherwise[own]!(fix) : withReadiness(otherwise[own]!(fix), fix);
  const sentence = Object.hasOwn(sentences, failure) ? ` ${sentences[failure]}` : `: ${reason || failure}`;
  return withReadiness(`${subjectOf(fix)}${sentence}`, fix);
}

export function withReadiness(text: string, fix: Remediation): string {
  const ready = readiness(fix);
  return ready ? `${text}, ${ready}` : text;
}

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
