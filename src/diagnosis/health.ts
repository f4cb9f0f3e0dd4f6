import { setupTroubles, waitsForSetup } from '../health/event-words.ts';
import { isDown } from '../health/impact.ts';
import {
  isShort,
  quotaHealth,
  refusalsIn,
  refusalsOf,
  refusalTrouble,
  rolloutTroubles,
  standingRefusals,
} from '../health/refusals.ts';
import { judgedFor, type LiveHealth, type Trouble } from '../health/trouble.ts';
import { gone, workloadHealth } from '../health/workload-health.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { conditionIn, controllerOf, hasCondition, timeMs } from '../kube/raw.ts';
import type { Kind } from '../kube/resources.ts';
import { type PodView, viewReplicaSet } from '../kube/views.ts';
import { readAutoscalerHealth, readClaimHealth, readNodeHealth, readStorageClassHealth } from './cluster-health.ts';
import { listEvents } from './events.ts';
import { isWaiting, readBlocked, readQuota } from './quota.ts';
import { createSnapshot, type Reach } from './readers.ts';
import { readWorkload, type Workload } from './workload.ts';

/** The troubles in a workload's own status and Events, in addition to those of its pods. */
async function readTroubles(
  reader: Reader,
  namespace: string,
  kind: string,
  workload: Workload,
  nowMs: number,
): Promise<Trouble[]> {
  const { parts, deployment, object, counts } = workload;
  if (parts) {
    const each = parts.map((part) => readTroubles(reader, namespace, part.kind, part.workload, nowMs));
    return (await Promise.all(each)).flat();
  }
  const [refused, setup] = await Promise.all([
    refusedTroubles(reader, namespace, kind, workload, nowMs),
    readSetup(reader, namespace, workload.pods, nowMs),
  ]);
  const failed = kind === 'Job' ? conditionIn(object, 'Failed') : undefined;
  return [
    ...(deployment ? rolloutTroubles(deployment) : []),
    ...refused,
    ...setup,
    ...(failed?.status === 'True' ? [{ class: 'JobFailed', reason: failed.reason, message: failed.message }] : []),
    ...(counts.trouble ? [{ class: 'JobFailed', reason: 'Failed', message: counts.trouble }] : []),
  ];
}

/** Enough to show whether something is wrong: the pods that have waited longest. */
const mostPods = 3;

async function readSetup(
  reader: Reader,
  namespace: string,
  pods: readonly PodView[],
  nowMs: number,
): Promise<Trouble[]> {
  const waiting = pods
    .filter(waitsForSetup)
    .sort((a, b) => (a.unreadySinceMs ?? 0) - (b.unreadySinceMs ?? 0))
    .slice(0, mostPods);
  const each = waiting.map(async (pod) =>
    setupTroubles(pod, await listEvents(reader, namespace, `involvedObject.uid=${pod.uid}`), nowMs),
  );
  return (await Promise.all(each)).flat();
}

/** A controller retries at least every quarter of an hour, so a refusal not repeated for twice that time is history. */
const standingMs = 1_800_000;

/** The current refusals of its pods. A refusal by a quota is the quota's trouble. */
async function refusedTroubles(
  reader: Reader,
  namespace: string,
  kind: string,
  { object, revisions }: Workload,
  nowMs: number,
): Promise<Trouble[]> {
  const own = kind === 'ReplicaSet' ? viewReplicaSet(object) : undefined;
  const sets = [...revisions.map(({ view }) => view), ...(own ? [own] : [])].filter(
    ({ createFailure }) => createFailure,
  );
  // For a ReplicaSet its condition decides: it disappears with the first try that succeeds.
  if (sets.length === 0 && (own || !isShort(kind, object))) return [];
  const events = await listEvents(reader, namespace, 'reason=FailedCreate');
  if (sets.length > 0) return sets.flatMap((set) => newestRefusal(refusalsOf(set, refusalsIn(events))));
  const sinceMs = Math.max(nowMs - standingMs, kind === 'CronJob' ? lastScheduleMs(object) : 0);
  const refused = refusalsIn(events.filter(({ lastSeenMs }) => lastSeenMs > sinceMs)).get(object.metadata.uid);
  if (!refused) return [];
  const pods = await reader.list<KubeObject>('Pod', namespace);
  return newestRefusal(standingRefusals(refused, new Set(pods.map(({ metadata }) => metadata.name))));
}

const newestRefusal = ([newest]: readonly string[]): Trouble[] => {
  const trouble = newest === undefined ? undefined : refusalTrouble(newest);
  return trouble ? [trouble] : [];
};

/** A later time means that it made a Job after it was refused. */
const lastScheduleMs = (object: KubeObject): number =>
  timeMs((object as KubeObject & { status?: { lastScheduleTime?: unknown } }).status?.lastScheduleTime);

export interface HealthSubject {
  namespace: string;
  object: { kind: string; name: string; uid: string };
  /**
   * "Deployment/api": the workloads that a shared cause affected. It is over only when they have what it denied them.
   */
  affected?: readonly string[];
  /** The failure class that was noticed. While that is present it is not healthy, whatever else is. */
  class?: string;
  /** When it was noticed. */
  sinceMs?: number;
  /** The area in which to look for workloads that a cluster-wide cause affects; everywhere if not set. */
  reach?: Reach;
}

/** Reads the live target and judges it. Watcher and controller both use this for every "is it still true". */
export async function readHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  return judgedFor(subject.class, await readTarget(reader, subject, nowMs));
}

async function readTarget(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  const read = Object.hasOwn(otherTargets, subject.object.kind)
    ? otherTargets[subject.object.kind]!
    : readWorkloadHealth;
  return read(reader, subject, nowMs);
}

/** Everything that is not a workload. */
const otherTargets: Readonly<Record<string, typeof readTarget>> = {
  ResourceQuota: readQuotaHealth,
  Node: readNodeHealth,
  StorageClass: readStorageClassHealth,
  PersistentVolumeClaim: readClaimHealth,
  HorizontalPodAutoscaler: readAutoscalerHealth,
};

async function readWorkloadHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth> {
  const { namespace, object } = subject;
  const workload = await readWorkload(reader, namespace, object);
  if (!workload) return gone;
  const own = await readTroubles(reader, namespace, object.kind, workload, nowMs);
  const sinceThen = object.kind === 'CronJob' ? noSuccessSince(workload, subject) : [];
  return workloadHealth(workload.counts, workload.pods, nowMs, [...own, ...sinceThen]);
}

/**
 * Failed runs are removed, at once if the CronJob is configured so. So a failure is over only with the next success. A
 * failed run that is kept shows when it failed, which may be long before we first saw it.
 */
function noSuccessSince(
  { object, counts, failedAtMs = Number.POSITIVE_INFINITY }: Workload,
  { class: failureClass, sinceMs }: HealthSubject,
): Trouble[] {
  const { status } = object as KubeObject & { status?: { lastSuccessfulTime?: string } };
  if (failureClass !== 'JobFailed' || sinceMs === undefined || counts.ended) return [];
  if (timeMs(status?.lastSuccessfulTime) > Math.min(sinceMs, failedAtMs)) return [];
  return [{ class: 'JobFailed', reason: 'Failed', message: 'no run has succeeded since' }];
}

async function readQuotaHealth(
  reader: Reader,
  { namespace, object, affected = [] }: HealthSubject,
  nowMs: number,
): Promise<LiveHealth> {
  const quota = await readQuota(reader, namespace, { ...object, uid: '' });
  // Another quota of that name has its own incident; this one is over.
  if (quota && object.uid && quota.metadata.uid !== object.uid) return gone;
  const blocked = quota ? await readBlocked(reader, namespace, quota) : [];
  const refused = quotaHealth(quota !== undefined, blocked.filter(isWaiting));
  if (!refused.healthy || affected.length === 0) return refused;
  const from = createSnapshot(reader, namespace);
  const [touched, ...short] = await Promise.all([
    readAffected(reader, namespace, affected, nowMs),
    ...affected.map(async (workload) => ((await isShortOfPods(from, namespace, workload)) ? [workload] : [])),
  ]);
  // The quota is responsible for whether they have their pods; whether these are healthy is another matter.
  const why = short.flat().map((workload) => `${workload} waits for pods`);
  const { ended: _, ...counts } = touched;
  return { ...counts, restarts: 0, healthy: why.length === 0, why: why.join('; ').slice(0, 512), gone: refused.gone };
}

async function isShortOfPods(reader: Reader, namespace: string, workload: string): Promise<boolean> {
  const [kind = '', name = ''] = workload.split('/');
  if (kind === 'Deployment') {
    const sets = await reader.list<KubeObject>('ReplicaSet', namespace);
    const isOurs = ({ metadata }: KubeObject): boolean => {
      const owner = controllerOf(metadata);
      return owner?.kind === kind && owner.name === name;
    };
    return sets.some((set) => isOurs(set) && isShort('ReplicaSet', set));
  }
  if (!workloadKinds.has(kind)) return false;
  const object = await reader.get<KubeObject>({ kind: kind as Kind, namespace, name });
  return object !== undefined && isShort(kind, object);
}

/** More than this many are read from whole lists. */
const mostSingly = 3;

/**
 * The workloads together: healthy if each is healthy or gone; gone if all are gone; ended if all that still exist have
 * ended.
 */
export async function readAffected(
  reader: Reader,
  namespace: string,
  affected: readonly string[],
  nowMs: number,
  sinceMs = 0,
): Promise<LiveHealth> {
  const from = affected.length > mostSingly ? createSnapshot(reader, namespace) : reader;
  const each = await Promise.all(
    affected.map(async (workload) => ({
      workload,
      live: await readNamed(from, namespace, workload, { nowMs, sinceMs }),
    })),
  );
  const there = each.filter(({ live }) => !live.gone);
  const ended = there.every(({ live }) => live.ended) ? there[0]?.live.ended : undefined;
  const sick = each.filter(({ live }) => !live.healthy);
  const sum = (field: 'ready' | 'desired' | 'restarts'): number =>
    each.reduce((total, { live }) => total + live[field], 0);
  return {
    healthy: sick.length === 0,
    why: sick
      .map(({ workload, live }) => `${workload}: ${live.why}`)
      .join('; ')
      .slice(0, 512),
    ready: sum('ready'),
    desired: sum('desired'),
    hasOneDown: each.some(({ live }) => isDown(live)),
    troubles: [...new Set(each.flatMap(({ live }) => live.troubles))],
    hasRoom: false,
    restarts: sum('restarts'),
    longestUptimeMs: Math.max(0, ...each.map(({ live }) => live.longestUptimeMs)),
    affected: [...affected],
    gone: there.length === 0,
    ...(ended && { ended }),
  };
}

const workloadKinds: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job']);

/** Only workloads can be short of pods; anything else in that list does not keep an incident open. */
async function readNamed(
  reader: Reader,
  namespace: string,
  workload: string,
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): Promise<LiveHealth> {
  const [kind = '', name = ''] = workload.split('/');
  if (kind === 'CronJob') return readCronJob(reader, namespace, name, sinceMs);
  if (!workloadKinds.has(kind)) return gone;
  if (kind === 'Job') return readJob(reader, namespace, name);
  const found = await readWorkload(reader, namespace, { kind, name, uid: '' });
  return found ? workloadHealth(found.counts, found.pods, nowMs) : gone;
}

async function readJob(reader: Reader, namespace: string, name: string): Promise<LiveHealth> {
  const job = await reader.get<KubeObject>({ kind: 'Job', namespace, name });
  if (!job) return { ...gone, gone: false }; // normal some time after a Job is done
  const why = hasCondition(job, 'Failed') ? 'the Job failed for good' : isShort('Job', job) ? 'it waits for pods' : '';
  return { ...gone, gone: false, healthy: why === '', why, ready: why === '' ? 1 : 0, desired: 1 };
}

/** It has no pods of its own: its next scheduled run shows whether it can start Jobs again. */
async function readCronJob(reader: Reader, namespace: string, name: string, sinceMs: number): Promise<LiveHealth> {
  const cronJob = await reader.get<KubeObject & { status?: { lastScheduleTime?: string } }>({
    kind: 'CronJob',
    namespace,
    name,
  });
  if (!cronJob) return gone;
  const hasRun = timeMs(cronJob.status?.lastScheduleTime) > sinceMs;
  return { ...gone, gone: false, ...(!hasRun && { ended: 'its next run has not come yet' }) };
}
