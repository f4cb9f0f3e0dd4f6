import { parseAction } from '../../actions/table.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { counted } from '../../lib/text.ts';

interface ActionWords {
  /** false: of another version, and nothing that this one could do. */
  known: boolean;
  verb: string;
  summary: string;
  consequence: string;
}

/** How the action is talked about. One that we do not know (a newer tapfix wrote it) is named, never a crash. */
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

/** What is wrong, by failure class, said after the workload's name. */
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

/** Those that begin otherwise, or say whom they touch. */
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
/** In no namespace: its Remediation is kept in tapfix's own, which has nothing to do with it. */
const isClusterWide = (fix: Remediation): boolean => clusterWide.has(kindOf(fix));
/** One cause of the trouble of several. */
export const isShared = (fix: Remediation): boolean => isQuota(fix) || isClusterWide(fix);
/** The namespace it is in; none for what is the whole cluster's. */
export const placeOf = (fix: Remediation): string => (isClusterWide(fix) ? '' : (fix.metadata.namespace ?? ''));

/** "checkout", "node worker-3", "quota platform-hardening". */
export function subjectOf(fix: Remediation): string {
  const { kind, name } = fix.spec.incident.object;
  return `${Object.hasOwn(named, kind) ? named[kind] : ''}${name}`;
}

/** Names of the workloads a shared cause touches, without their kinds: "api", of the whole cluster "shop/api". */
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

/** The sentence of the lock screen: what is broken, and how badly. */
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

/** The resource lists no more than these. */
const mostAffected = 50;

/** "4 workloads", or the least that is known. */
export function affectedInWords(fix: Remediation): string {
  const known = affectedNames(fix).length;
  return known >= mostAffected ? `${known} or more workloads` : counted(known, 'workload');
}

const whomOr = (fix: Remediation, nobody: string): string =>
  affectedNames(fix).length > 0 ? affectedInWords(fix) : nobody;

const touching = (fix: Remediation, how: string): string =>
  affectedNames(fix).length > 0 ? `, ${affectedInWords(fix)} ${how}` : '';
