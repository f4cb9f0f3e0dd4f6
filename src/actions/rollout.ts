import type { KubeObject } from '../kube/api.ts';
import { controllerOf } from '../kube/raw.ts';
import type { Blocked } from '../kube/remediation.ts';
import { viewPod } from '../kube/views.ts';
import { type ActionContext, no, type ActionRefusal, type Right, type RolledOutKind } from './action.ts';
import { overBudget } from './disruption-budget.ts';
import { untouchable } from './ownership.ts';
import type { LiveWorkload, WorkloadTarget } from './workload-patch.ts';
import { evictionRight } from './perform.ts';

/* How many pods a new template replaces, and how many of them at a time. */

type Pace = 'at once' | 'maybe at once' | 'one by one' | 'step by step';

const podsOf = (kind: RolledOutKind, { spec, status }: LiveWorkload): number =>
  kind === 'DaemonSet' ? Number(status?.['desiredNumberScheduled'] ?? 0) : (spec.replicas ?? 1);

/** "25%" of this many, rounded as the kind's own controller does; a plain number stays as it is. */
function amount(value: number | string, of: number, round: (x: number) => number): number {
  const share = /^(\d+)%$/.exec(String(value))?.[1];
  return share === undefined ? Number(value) : round((Number(share) * of) / 100);
}

/**
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#strategy: a percentage is rounded down for a
 * Deployment and up for a DaemonSet. A StatefulSet waits for each pod, unless configured otherwise.
 */
function paceOf(kind: RolledOutKind, { spec }: LiveWorkload, pods: number): Pace {
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
export function replaceInWords({ kind, name }: WorkloadTarget, live: LiveWorkload): string {
  const pods = podsOf(kind, live);
  const pace = paceOf(kind, live, pods);
  if (pods === 1) return `replace the one pod of ${kind} ${name}${aloneIn(pace)}`;
  return `replace all ${pods} pods of ${kind} ${name}, ${ways[pace]}`;
}

/** "3 pods are replaced step by step"; `some` is their number, if not all. */
export function replacedInWords(kind: RolledOutKind, object: KubeObject, some?: number): string {
  const live = object as LiveWorkload;
  const pods = some ?? podsOf(kind, live);
  const pace = paceOf(kind, live, podsOf(kind, live));
  if (pods === 1) return `1 pod is replaced${aloneIn(pace)}`;
  return `${pods} pods are replaced${pace === 'maybe at once' ? ',' : ''} ${ways[pace]}`;
}

const aloneIn = (pace: Pace): string => (pace === 'at once' ? ': none runs until the new one does' : '');

/** The rights of an action that changes the template of any of them. Evictions are for pods that are in the way. */
export const rolloutRights: readonly Right[] = [
  ...['deployments', 'statefulsets', 'daemonsets'].map((resource) => ({
    group: 'apps',
    resource,
    verb: 'patch',
    owns: ['template'],
  })),
  evictionRight,
];

/** The short kinds that kubectl uses. */
export const shortKind: Readonly<Record<RolledOutKind, string>> = {
  Deployment: 'deploy',
  StatefulSet: 'sts',
  DaemonSet: 'ds',
};

/** Why a changed template would not be rolled out. `what` names the change: "an undo", "a restart". */
export function wouldNotRollOut(
  { kind, name }: WorkloadTarget,
  { spec }: LiveWorkload,
  what: string,
): ActionRefusal | undefined {
  if (spec.paused) return no('Paused', `${kind} ${name} is paused: ${what} would not roll out.`);
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === 'OnDelete')
    return no(
      'OnDelete',
      `${kind} ${name} replaces a pod only when somebody deletes it (OnDelete): ${what} would not roll out.`,
    );
  const partition = rollingUpdate?.partition ?? 0;
  if (partition > 0)
    return no(
      'Partitioned',
      `${kind} ${name} is rolled out in stages (partition ${partition}): ${what} would not reach all pods.`,
    );
  return undefined;
}

interface InTheWay {
  pods: Blocked[];
  /** Lines for the diff. */
  lines: string[];
}

/**
 * A StatefulSet replaces its pods in order and waits until each is ready, even one that never will be. Such pods must
 * be evicted, or the change has no effect.
 * https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
 */
export async function readInTheWay(
  { kind, name }: WorkloadTarget,
  live: LiveWorkload,
  context: ActionContext,
): Promise<ActionRefusal | InTheWay> {
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
  const lines =
    pods.length > 0 ? [`then evict what StatefulSet ${name} would wait for, pods that are not ready: ${names}`] : [];
  return { pods, lines };
}

/** As many as a Remediation can hold. More than that is not a single mishap anyway. */
const mostPods = 200;

/** A pod that has ended is removed by its own controller. */
export function isInTheWay(pod: KubeObject): boolean {
  const { deleting, ready, phase } = viewPod(pod)!;
  return !deleting && !ready && phase !== 'Failed' && phase !== 'Succeeded';
}
