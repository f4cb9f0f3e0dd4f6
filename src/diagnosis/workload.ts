import { isFinished } from '../health/pod.ts';
import type { WorkloadCounts } from '../health/workload-health.ts';
import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { conditionIn, controllerOf, hasCondition, num, obj, type Raw, timeMs } from '../kube/raw.ts';
import { isKnownKind, type Kind } from '../kube/resources.ts';
import {
  type DeploymentView,
  type PodTemplate,
  type PodView,
  type ReplicaSetView,
  setRevisionKey,
  viewDeployment,
  viewPod,
  viewReplicaSet,
} from '../kube/views.ts';
import type { PodFacts } from './pods.ts';

/**
 * One version of a pod template: a ReplicaSet of a Deployment, or a ControllerRevision of a workload without
 * ReplicaSets.
 */
export interface Past {
  revision: number;
  createdAtMs: number;
  template: PodTemplate;
}

interface Kept extends Past {
  name: string;
  /** The name under which the history knows it (setRevisionKey), not the uid of the ControllerRevision. */
  uid: string;
}

const withControllerRevisions: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet']);

/** Newest first; empty for a kind that keeps no such history. */
export async function readControllerRevisions(reader: Reader, object: KubeObject): Promise<Kept[]> {
  if (!withControllerRevisions.has(object.kind ?? '')) return [];
  // An older installation's rights may lack this list: then no history is known.
  const all = await reader.list<KubeObject>('ControllerRevision', object.metadata.namespace).catch(ifForbidden([]));
  return all
    .filter(({ metadata }) => controllerOf(metadata)?.uid === object.metadata.uid)
    .map((one) => {
      const raw = one as unknown as Raw;
      const template = obj(obj(obj(raw['data'])['spec'])['template']) as PodTemplate;
      const { name, creationTimestamp } = one.metadata;
      const uid = setRevisionKey(object.metadata.uid, template);
      return { name, uid, revision: num(raw['revision']), createdAtMs: timeMs(creationTimestamp), template };
    })
    .sort((a, b) => b.revision - a.revision);
}

/** A StatefulSet labels its pods with the name of the revision, a DaemonSet with the hash at the end of that name. */
const isOf = ({ name }: Kept, { revision }: PodFacts): boolean =>
  revision !== '' && (name === revision || name.endsWith(`-${revision}`));

/**
 * A StatefulSet or DaemonSet in the form of a Deployment: each revision with its pods, as if it were a ReplicaSet. How
 * many pods an older revision once had cannot be read: its remaining pods count, and what the history knows of it.
 */
export async function readRevisioned(reader: Reader, workload: Workload, pods: readonly PodFacts[]): Promise<Workload> {
  const kept = await readControllerRevisions(reader, workload.object);
  if (kept.length === 0) return workload;
  return {
    ...workload,
    revisions: kept.map((one) => revisionOf(one, workload.object, pods)),
    pods: pods.map((facts) => ownedByRevision(facts, kept)),
  };
}

function ownedByRevision(facts: PodFacts, kept: readonly Kept[]): PodFacts['pod'] {
  const { pod } = facts;
  const own = kept.find((one) => isOf(one, facts));
  return own && pod.owner ? { ...pod, owner: { ...pod.owner, uid: own.uid } } : pod;
}

function revisionOf(one: Kept, { metadata }: KubeObject, pods: readonly PodFacts[]): Revision {
  const own = pods.filter((facts) => isOf(one, facts) && !facts.pod.deleting && !isFinished(facts.pod));
  const { name, uid, revision, createdAtMs, template } = one;
  const counts = { desired: own.length, available: own.filter(({ pod }) => pod.ready).length };
  return {
    view: { namespace: metadata.namespace ?? '', name, uid, revision, templateHash: '', createdAtMs, ...counts },
    template,
  };
}

/** One revision of a Deployment. */
export interface Revision {
  view: ReplicaSetView;
  template: PodTemplate;
}

/** One fresh reading of a workload and its pods. */
export interface Workload {
  object: KubeObject;
  counts: WorkloadCounts;
  pods: PodView[];
  /** Only for a Deployment; newest first. */
  deployment?: DeploymentView;
  revisions: Revision[];
  /** Only for a CronJob: when the newest of its remaining failed runs failed. */
  failedAtMs?: number;
  /** The objects that a custom owner owns. They stand for it. */
  parts?: readonly Part[];
}

interface Part {
  kind: string;
  workload: Workload;
}

interface RawWorkload extends KubeObject {
  spec?: {
    selector?: { matchLabels?: Record<string, string> };
    replicas?: number;
    parallelism?: number;
    completions?: number;
    suspend?: boolean;
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
  };
  status?: Record<string, unknown>;
}

const count = (raw: RawWorkload, field: string): number => Number(raw.status?.[field] ?? 0);

/** Nothing is wrong with it any more, but it is not healthy either. */
const switchedOff = (desired: number): { ended?: string } => (desired === 0 ? { ended: 'it was scaled to zero' } : {});

const isOnDelete = ({ spec }: RawWorkload): boolean => spec?.updateStrategy?.type === 'OnDelete';

function countsOf(kind: Kind, raw: RawWorkload): WorkloadCounts {
  const caughtUp = count(raw, 'observedGeneration') >= (raw.metadata.generation ?? 0);
  const desired = raw.spec?.replicas ?? 1;
  switch (kind) {
    case 'DaemonSet': {
      const nodes = count(raw, 'desiredNumberScheduled');
      return {
        desired: nodes,
        ready: count(raw, 'numberAvailable'),
        settled: caughtUp && (isOnDelete(raw) || count(raw, 'updatedNumberScheduled') === nodes),
        ...(caughtUp && nodes === 0 && { ended: 'it is wanted on no node' }),
      };
    }
    case 'Job': {
      // Its pods show themselves whether they stay up; the Job only has to have them.
      const hasFailed = hasCondition(raw, 'Failed');
      const isDone = raw.spec?.suspend || hasCondition(raw, 'Complete') || hasFailed;
      const wanted = isDone ? 0 : Math.min(raw.spec?.parallelism ?? 1, raw.spec?.completions ?? 1);
      return {
        desired: wanted,
        ready: Math.min(count(raw, 'active') + count(raw, 'succeeded'), wanted),
        settled: true,
        ...(hasFailed && { ended: 'the Job failed for good' }),
      };
    }
    case 'CronJob': // it has no pods of its own: those of its Jobs count
      return { desired: 0, ready: 0, settled: true, ...(raw.spec?.suspend && { ended: 'it was suspended' }) };
    case 'ReplicaSet':
      return { desired, ready: count(raw, 'availableReplicas'), settled: caughtUp, ...switchedOff(desired) };
    default: {
      // In a StatefulSet, pods below the partition are not updated; with OnDelete, neither are pods that nobody
      // deletes.
      const toUpdate = Math.max(desired - (raw.spec?.updateStrategy?.rollingUpdate?.partition ?? 0), 0);
      const isUpdated = isOnDelete(raw) || count(raw, 'updatedReplicas') >= toUpdate;
      const isEven = count(raw, 'replicas') === desired && isUpdated;
      return { desired, ready: count(raw, 'availableReplicas'), settled: caughtUp && isEven, ...switchedOff(desired) };
    }
  }
}

async function jobsOf(reader: Reader, cronJob: KubeObject): Promise<RawWorkload[]> {
  const jobs = await reader.list<RawWorkload>('Job', cronJob.metadata.namespace);
  return jobs
    .filter((job) => controllerOf(job.metadata)?.uid === cronJob.metadata.uid)
    .sort((a, b) => timeMs(b.metadata.creationTimestamp) - timeMs(a.metadata.creationTimestamp));
}

/**
 * A CronJob is as healthy as its last finished run. Successful runs may be removed at once, but the CronJob records
 * when.
 */
function lastRun(cronJob: RawWorkload, jobs: readonly RawWorkload[]): { trouble?: string } {
  const last = jobs.find((job) => hasCondition(job, 'Complete') || hasCondition(job, 'Failed'));
  if (!last || !hasCondition(last, 'Failed') || cronJob.spec?.suspend) return {};
  const succeededAtMs = timeMs(cronJob.status?.['lastSuccessfulTime']);
  return succeededAtMs > timeMs(last.metadata.creationTimestamp) ? {} : { trouble: 'its last run failed' };
}

function lastFailureMs(jobs: readonly RawWorkload[]): number | undefined {
  const failed = jobs.filter((job) => hasCondition(job, 'Failed'));
  const times = failed.map((job) => conditionIn(job, 'Failed')!.sinceMs || timeMs(job.metadata.creationTimestamp));
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** The pods that it wants and has, by its own status; undefined if it is gone, may not be read, or is of another kind. */
export async function readCounts(
  reader: Reader,
  namespace: string,
  { kind, name }: Pick<Target, 'kind' | 'name'>,
): Promise<WorkloadCounts | undefined> {
  if (!isOwnable(kind)) return undefined;
  const object = await reader.get<RawWorkload>({ kind, namespace, name }).catch(ifForbidden(undefined));
  if (!object) return undefined;
  return kind === 'Pod' ? lonePod(object).counts : countsOf(kind, object);
}

const selectorOf = (raw: RawWorkload): string =>
  Object.entries(raw.spec?.selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

async function revisionsOf(reader: Reader, deployment: RawWorkload): Promise<Revision[]> {
  const owned = await reader.list<KubeObject & { spec?: { template?: PodTemplate } }>(
    'ReplicaSet',
    deployment.metadata.namespace,
    { labelSelector: selectorOf(deployment) },
  );
  return owned
    .map((object) => ({ view: viewReplicaSet(object)!, template: object.spec?.template ?? {} }))
    .filter(({ view }) => view.owner?.uid === deployment.metadata.uid)
    .sort((a, b) => b.view.revision - a.view.revision);
}

/** A single pod without an owner, as a workload of one pod. */
const lonePod = (object: KubeObject): Workload => {
  const pod = viewPod(object)!;
  const isFinished = pod.phase === 'Succeeded';
  return {
    object,
    counts: { desired: 1, ready: pod.ready || isFinished ? 1 : 0, settled: true },
    pods: [pod],
    revisions: [],
  };
};

const ownable: readonly Kind[] = ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'Pod'];

const isOwnable = (kind: string): kind is Kind => (ownable as readonly string[]).includes(kind);

/** A custom owner (an Argo Rollout, an operator's resource) cannot be read: the objects that it owns stand for it. */
async function readCustom(reader: Reader, namespace: string, { name, uid }: Target): Promise<Workload | undefined> {
  const lists = await Promise.all(
    ownable.map(async (kind) => {
      const all = await reader.list<KubeObject>(kind, namespace);
      const owned = all.filter(({ metadata }) => uid && controllerOf(metadata)?.uid === uid);
      const read = owned.map(({ metadata }) => readWorkload(reader, namespace, { ...metadata, kind }));
      return (await Promise.all(read)).flatMap((workload) => (workload ? [{ kind, workload }] : []));
    }),
  );
  const parts = lists.flat();
  if (parts.length === 0) return undefined;
  const all = parts.map(({ workload }) => workload);
  const sum = (field: 'desired' | 'ready'): number => all.reduce((total, { counts }) => total + counts[field], 0);
  return {
    object: { metadata: { name, namespace, uid, resourceVersion: '', creationTimestamp: '' } },
    counts: { desired: sum('desired'), ready: sum('ready'), settled: all.every(({ counts }) => counts.settled) },
    pods: all.flatMap(({ pods }) => pods),
    revisions: [],
    parts,
  };
}

interface Target {
  kind: string;
  name: string;
  uid: string;
}

/** undefined if it is gone, another object has its name now, or it is a custom one that owns nothing (any more). */
export async function readWorkload(reader: Reader, namespace: string, target: Target): Promise<Workload | undefined> {
  if (!isKnownKind(target.kind)) return readCustom(reader, namespace, target);
  const object = await reader.get<RawWorkload>({ kind: target.kind, namespace, name: target.name });
  if (!object || (target.uid && object.metadata.uid !== target.uid)) return undefined;
  if (target.kind === 'Pod') return lonePod(object);
  const [revisions, jobs, all] = await Promise.all([
    target.kind === 'Deployment' ? revisionsOf(reader, object) : [],
    target.kind === 'CronJob' ? jobsOf(reader, object) : [],
    reader.list<KubeObject>('Pod', namespace, { labelSelector: selectorOf(object) }),
  ]);
  const owners = new Set([
    ...[object, ...jobs].map(({ metadata }) => metadata.uid),
    ...revisions.map(({ view }) => view.uid),
  ]);
  const pods = all.map((pod) => viewPod(pod)!).filter((pod) => pod.owner && owners.has(pod.owner.uid));
  const counts = { ...countsOf(target.kind, object), ...lastRun(object, jobs) };
  const failedAtMs = lastFailureMs(jobs);
  const workload: Workload = { object, counts, pods, revisions, ...(failedAtMs !== undefined && { failedAtMs }) };
  const deployment = target.kind === 'Deployment' ? viewDeployment(object) : undefined;
  return deployment ? { ...workload, deployment } : workload;
}
