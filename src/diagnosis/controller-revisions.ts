import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { num, obj, type Raw } from '../kube/raw.ts';
import { controllerOf, timeMs, type PodTemplate } from '../kube/views.ts';
import { isFinished } from '../health/loop.ts';
import type { PodFacts } from './pods.ts';
import type { Revision, Workload } from './workload.ts';

/** One version of a pod template: a ReplicaSet's of a Deployment, a ControllerRevision of what has no ReplicaSets. */
export interface Past {
  revision: number;
  createdAtMs: number;
  template: PodTemplate;
}

interface Kept extends Past {
  name: string;
  uid: string;
}

const withControllerRevisions: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet']);

/** Newest first; none of what keeps no such history. */
export async function readControllerRevisions(reader: Reader, object: KubeObject): Promise<Kept[]> {
  if (!withControllerRevisions.has(object.kind ?? '')) return [];
  const all = await reader.list<KubeObject>('ControllerRevision', object.metadata.namespace).catch(unlessForbidden);
  return all
    .filter(({ metadata }) => controllerOf(metadata)?.uid === object.metadata.uid)
    .map((one) => {
      const raw = one as unknown as Raw;
      const template = obj(obj(obj(raw['data'])['spec'])['template']) as PodTemplate;
      const { name, uid, creationTimestamp } = one.metadata;
      return { name, uid, revision: num(raw['revision']), createdAtMs: timeMs(creationTimestamp), template };
    })
    .sort((a, b) => b.revision - a.revision);
}

/** Rights may be older than this question: then it is not answered. */
const unlessForbidden = (error: unknown): [] => {
  if (isForbidden(error)) return [];
  throw error;
};

/** A StatefulSet labels its pods with the name of the revision, a DaemonSet with the hash at the end of it. */
const isOf = ({ name }: Kept, { revision }: PodFacts): boolean =>
  revision !== '' && (name === revision || name.endsWith(`-${revision}`));

/**
 * A StatefulSet or DaemonSet seen as a Deployment is: each revision with the pods that are of it, as if it were a
 * ReplicaSet. How many an older one once had nobody knows: only the pods that are left of it speak for it.
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
