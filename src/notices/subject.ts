import type { Remediation } from '../kube/remediation.ts';
import { counted } from '../lib/counted.ts';

/** What is wrong, by failure class, said after the workload's name. */
const sentences: Readonly<Record<string, string>> = {
  CreateRejected: 'cannot create its pods',
  ImagePull: 'cannot pull its image',
  ConfigMissing: 'waits for a missing ConfigMap or Secret',
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
  NodeDown: 'is not ready',
  AutoscalerBlind: 'cannot be autoscaled: no metrics',
};

const named: Readonly<Record<string, string>> = {
  Node: 'node ',
  Job: 'job ',
  CronJob: 'cron job ',
  ResourceQuota: 'quota ',
};

export const isQuota = (fix: Remediation): boolean => fix.spec.incident.object.kind === 'ResourceQuota';

/** "checkout", "node worker-3", "quota platform-hardening". */
export function subjectOf(fix: Remediation): string {
  const { kind, name } = fix.spec.incident.object;
  return `${named[kind] ?? ''}${name}`;
}

/** Names of the workloads a shared cause touches, without their kinds. */
export const affectedNames = (fix: Remediation): string[] =>
  (fix.status?.sightings?.affected ?? []).map((workload) => workload.slice(workload.indexOf('/') + 1));

/** "0/3 ready", or nothing when it was not counted. */
export function readiness(fix: Remediation): string {
  const { ready, desired } = fix.status?.sightings ?? {};
  return ready === undefined || desired === undefined || desired === 0 ? '' : `${ready}/${desired} ready`;
}

/** The sentence of the lock screen: what is broken, and how badly. */
export function whatIsBroken(fix: Remediation): string {
  const { class: failure, reason } = fix.spec.incident;
  if (isQuota(fix)) return quotaSentence(fix);
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

function quotaSentence(fix: Remediation): string {
  const whom = affectedNames(fix).length > 0 ? affectedInWords(fix) : 'new pods';
  return `${subjectOf(fix)} blocks ${whom} in ${fix.metadata.namespace}`;
}
