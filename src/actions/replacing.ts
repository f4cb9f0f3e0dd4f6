import type { KubeObject } from '../kube/api.ts';
import type { RolledOutKind } from './action.ts';
import type { Workload, WorkloadTarget } from './marked.ts';

/* How many pods a new template replaces, and how many of them at a time. */

export type Pace = 'at once' | 'maybe at once' | 'one by one' | 'step by step';

const podsOf = (kind: RolledOutKind, { spec, status }: Workload): number =>
  kind === 'DaemonSet' ? Number(status?.['desiredNumberScheduled'] ?? 0) : (spec.replicas ?? 1);

/** "25%" of so many, rounded as the kind's own controller does; a number is one. */
function amount(value: number | string, of: number, round: (x: number) => number): number {
  const share = /^(\d+)%$/.exec(String(value))?.[1];
  return share === undefined ? Number(value) : round((Number(share) * of) / 100);
}

/**
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy: a share of a Deployment is rounded
 * down; of a DaemonSet it is rounded up. A StatefulSet waits for each pod, unless it is told otherwise.
 */
function paceOf(kind: RolledOutKind, { spec }: Workload, pods: number): Pace {
  if (kind === 'Deployment') {
    if (spec.strategy?.type === 'Recreate') return 'at once';
    const away = amount(spec.strategy?.rollingUpdate?.maxUnavailable ?? '25%', pods, Math.floor);
    return away >= pods ? 'maybe at once' : 'step by step';
  }
  const { maxUnavailable = 1, maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const away = Math.max(amount(maxUnavailable, pods, Math.ceil), amount(maxSurge, pods, Math.ceil));
  if (away >= pods) return 'maybe at once';
  return away <= 1 ? 'one by one' : 'step by step';
}

const ways: Readonly<Record<Pace, string>> = {
  'at once': 'all at once: none runs until the new ones do',
  'maybe at once': 'maybe all at once',
  'one by one': 'one by one',
  'step by step': 'step by step',
};

/** "replace all 3 pods of Deployment checkout, step by step" */
export function replaceInWords({ kind, name }: WorkloadTarget, live: Workload): string {
  const pods = podsOf(kind, live);
  const pace = paceOf(kind, live, pods);
  if (pods === 1) return `replace the one pod of ${kind} ${name}${aloneIn(pace)}`;
  return `replace all ${pods} pods of ${kind} ${name}, ${ways[pace]}`;
}

/** "3 pods are replaced step by step"; how many, if that are not all. */
export function replacedInWords(kind: RolledOutKind, object: KubeObject, some?: number): string {
  const live = object as Workload;
  const pods = some ?? podsOf(kind, live);
  const pace = paceOf(kind, live, podsOf(kind, live));
  if (pods === 1) return `1 pod is replaced${aloneIn(pace)}`;
  return `${pods} pods are replaced${pace === 'maybe at once' ? ',' : ''} ${ways[pace]}`;
}

const aloneIn = (pace: Pace): string => (pace === 'at once' ? ': none runs until the new one does' : '');
