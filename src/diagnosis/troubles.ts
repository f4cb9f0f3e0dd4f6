import { isShort, refusalsIn, refusalsOf, standingRefusals } from '../health/blocked.ts';
import { refusalTrouble, rolloutTroubles } from '../health/refusal.ts';
import { setupTroubles, waitsForSetup } from '../health/setup.ts';
import type { Trouble } from '../health/trouble.ts';
import { conditionIn, timeMs } from '../kube/raw.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { type PodView, viewReplicaSet } from '../kube/views.ts';
import { listEvents } from './events.ts';
import type { Workload } from './workload.ts';

/** What a workload's own status and events say is wrong with it, beside what its pods say. */
export async function readTroubles(
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

/** As many as tell whether something is wrong: those that wait longest. */
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

/** A controller tries again at least every quarter of an hour: what it has not said for twice that is history. */
const standingMs = 1_800_000;

/** By whom its pods are refused now: a quota's refusals are the quota's trouble. */
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
  // Of a ReplicaSet its condition tells: it goes with the first try that succeeds.
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

/** It made a Job after it was refused. */
const lastScheduleMs = (object: KubeObject): number =>
  timeMs((object as KubeObject & { status?: { lastScheduleTime?: unknown } }).status?.lastScheduleTime);
