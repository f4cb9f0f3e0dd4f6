import type { KubeObject } from '../kube/api.ts';
import type { PodTemplate } from '../kube/views.ts';
import { controllerOf, viewDeployment, viewReplicaSet } from '../kube/views.ts';
import { sameValue } from '../lib/hash.ts';
import type { ActionContext } from './action.ts';
import type { Workload, WorkloadTarget } from './marked.ts';
import { essence } from './template.ts';

interface Kept {
  revision: number;
  template: PodTemplate;
}

interface ReplicaSet extends KubeObject {
  spec: { template: PodTemplate };
}

interface ControllerRevision extends KubeObject {
  revision?: number;
  /** A patch of its owner, of which the template is all there is. */
  data?: { spec?: { template?: PodTemplate & { $patch?: string } } };
}

/** What is still kept of its history: a Deployment's in ReplicaSets, the others' in ControllerRevisions. */
export async function readRevisions({ kind, uid }: WorkloadTarget, { reader, namespace }: ActionContext) {
  const isIts = ({ metadata }: KubeObject): boolean => controllerOf(metadata)?.uid === uid;
  if (kind === 'Deployment') {
    const sets = await reader.list<ReplicaSet>('ReplicaSet', namespace);
    return sets
      .filter(isIts)
      .map((set): Kept => ({ revision: viewReplicaSet(set)?.revision ?? 0, template: set.spec.template }));
  }
  const all = await reader.list<ControllerRevision>('ControllerRevision', namespace);
  return all.filter(isIts).flatMap(({ revision = 0, data }): Kept[] => {
    const { $patch: _, ...template } = data?.spec?.template ?? {};
    return template.spec ? [{ revision, template }] : [];
  });
}

/** Undefined when there is none, or more than one: which was meant is nothing to guess. */
export function templateOf(kept: readonly Kept[], wanted: number): PodTemplate | undefined {
  const [only, ...others] = kept.filter(({ revision }) => revision === wanted);
  return others.length === 0 ? only?.template : undefined;
}

/** The number of the revision that is live; 0 when its controller has not given it one yet. */
export function currentRevision(kind: string, live: Workload, kept: readonly Kept[]): number {
  if (kind === 'Deployment') return viewDeployment(live)?.revision ?? 0;
  const own = kept.filter(({ template }) => sameValue(essence(template), essence(live.spec.template)));
  return Math.max(0, ...own.map(({ revision }) => revision));
}
