import type { KubeObject } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import { controllerOf, viewPod } from '../kube/views.ts';
import type { ActionContext, Refusal, Right, RolledOutKind } from './action.ts';
import { no } from './action.ts';
import { overBudget } from './budget.ts';
import { evictionRight } from './eviction.ts';
import type { Workload, WorkloadTarget } from './marked.ts';
import { untouchable } from './ownership.ts';

/** Of who changes the template of any of them; evictions are for what is in the way. */
export const rolloutRights: readonly Right[] = [
  ...['deployments', 'statefulsets', 'daemonsets'].map((resource) => ({
    group: 'apps',
    resource,
    verb: 'patch',
    owns: ['template'],
  })),
  evictionRight,
];

/** As kubectl writes them. */
export const shortKind: Readonly<Record<RolledOutKind, string>> = {
  Deployment: 'deploy',
  StatefulSet: 'sts',
  DaemonSet: 'ds',
};

/** Why a changed template would stay a changed template. `what` is said of it: "an undo", "a restart". */
export function wouldNotRollOut({ kind, name }: WorkloadTarget, { spec }: Workload, what: string): Refusal | undefined {
  if (spec.paused) return no('Paused', `${kind} ${name} is paused: ${what} would not roll out.`);
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === 'OnDelete')
    return no('OnDelete', `${kind} ${name} replaces a pod only when somebody deletes it (OnDelete): ${what} would not roll out.`); // prettier-ignore
  const partition = rollingUpdate?.partition ?? 0;
  if (partition > 0)
    return no('Partitioned', `${kind} ${name} is rolled out in stages (partition ${partition}): ${what} would not reach all pods.`); // prettier-ignore
  return undefined;
}

export interface InTheWay {
  pods: Blocked[];
  /** For the diff. */
  lines: string[];
}

/**
 * A StatefulSet replaces its pods in order and waits for each to be ready, also for one that never will be: those have
 * to be evicted, or the change is never felt.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
 */
export async function readInTheWay(
  { kind, name }: WorkloadTarget,
  live: Workload,
  context: ActionContext,
): Promise<Refusal | InTheWay> {
  if (kind !== 'StatefulSet' || live.spec.podManagementPolicy === 'Parallel') return { pods: [], lines: [] };
  const all = await context.reader.list<KubeObject>('Pod', context.namespace);
  const waiting = all.filter((pod) => controllerOf(pod.metadata)?.uid === live.metadata.uid && isInTheWay(pod));
  const refusal =
    waiting.map(({ metadata }) => untouchable(`Pod ${metadata.name}`, metadata)).find(Boolean) ??
    (await overBudget(waiting, context));
  if (refusal) return refusal;
  const pods = waiting
    .map(({ metadata }) => ({ kind: 'Pod', name: metadata.name, uid: metadata.uid }))
    .slice(0, mostPods);
  const names = pods.map((pod) => pod.name).join(', ');
  const lines = pods.length > 0 ? [`then evict what StatefulSet ${name} would wait for, pods that are not ready: ${names}`] : []; // prettier-ignore
  return { pods, lines };
}

/** More of them than a Remediation can hold are no single mishap anyway. */
const mostPods = 200;

/** What has ended its own controller removes by itself. */
export function isInTheWay(pod: KubeObject): boolean {
  const { deleting, ready, phase } = viewPod(pod)!;
  return !deleting && !ready && phase !== 'Failed' && phase !== 'Succeeded';
}
