import type { KubeObject } from '../../kube/api.ts';
import { nonZero } from '../common/patch.ts';
import { isAvailable, isDeleting, isFinished, isReady } from '../common/pods.ts';
import type { NodeObject, PodObject, PodSpec, Template, Toleration } from '../common/shapes.ts';
import { millis } from '../common/stamp.ts';
import { matchesNode, taintsOf, untolerated } from './fits.ts';
import { revisionOfPod } from './stateful-plan.ts';

export interface DaemonSetObject extends KubeObject {
  spec?: {
    minReadySeconds?: number;
    revisionHistoryLimit?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: Template;
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
  };
  status?: Record<string, unknown>;
}

const always = (key: string, effect: string): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
});

/** A daemon stays on a node in trouble: there above all somebody wants to look. */
const tolerations: readonly Toleration[] = [
  always('not-ready', 'NoExecute'),
  always('unreachable', 'NoExecute'),
  always('disk-pressure', 'NoSchedule'),
  always('memory-pressure', 'NoSchedule'),
  always('pid-pressure', 'NoSchedule'),
  always('unschedulable', 'NoSchedule'),
];

export const daemonSpec = (spec: PodSpec = {}): PodSpec => ({
  ...spec,
  tolerations: [...(spec.tolerations ?? []), ...tolerations],
});

/** Pinned by affinity, so that the scheduler is the one who binds it. */
export const pinnedTo = (spec: PodSpec, node: string): PodSpec => ({
  ...daemonSpec(spec),
  affinity: {
    ...spec.affinity,
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  },
});

export const nodeOf = ({ spec }: PodObject): string | undefined =>
  spec?.nodeName ??
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.[0]?.matchFields?.[0]
    ?.values?.[0];

interface Place {
  node: string;
  shouldRun: boolean;
  mayStay: boolean;
  pods: PodObject[];
}

export function placesOf({ spec }: DaemonSetObject, nodes: readonly NodeObject[], pods: readonly PodObject[]): Place[] {
  const pod = daemonSpec(spec?.template?.spec);
  return nodes.map((node) => {
    const bad = untolerated(taintsOf(node), pod.tolerations);
    const matches = matchesNode(pod, node);
    return {
      node: node.metadata.name,
      shouldRun: matches && !bad.some(({ effect }) => effect === 'NoExecute' || effect === 'NoSchedule'),
      mayStay: matches && !bad.some(({ effect }) => effect === 'NoExecute'),
      pods: pods.filter((it) => nodeOf(it) === node.metadata.name),
    };
  });
}

export interface DaemonPlan {
  create: string[];
  remove: PodObject[];
  /** Those of `remove` that had failed. */
  failed: PodObject[];
}

/** Pure. One pod on every node that should have one; of a new template so many at a time. */
export function planDaemonSet(
  set: DaemonSetObject,
  places: readonly Place[],
  newest: string,
  nowMs: number,
): DaemonPlan {
  const plan: DaemonPlan = { create: [], remove: [], failed: [] };
  for (const { node, shouldRun, mayStay, pods } of places) {
    const failed = pods.filter((pod) => isFinished(pod) && !isDeleting(pod));
    const [first, ...more] = pods
      .filter((pod) => !isFinished(pod))
      .sort((a, b) => millis(a.metadata.creationTimestamp) - millis(b.metadata.creationTimestamp));
    plan.failed.push(...failed);
    plan.remove.push(...failed, ...(mayStay || !first ? more : [first, ...more]).filter((pod) => !isDeleting(pod)));
    if (shouldRun && !first && failed.length === 0) plan.create.push(node);
  }
  const isQuiet = plan.create.length + plan.remove.length === 0;
  return isQuiet ? { ...plan, remove: outdated(set, places, newest, nowMs) } : plan;
}

function outdated({ spec }: DaemonSetObject, places: readonly Place[], newest: string, nowMs: number): PodObject[] {
  if (spec?.updateStrategy?.type === 'OnDelete') return [];
  const running = places.filter(({ shouldRun }) => shouldRun);
  const asked = spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  const share = typeof asked === 'string' ? Math.ceil((Number.parseFloat(asked) * running.length) / 100) : asked;
  const isUp = (pod: PodObject): boolean => !isDeleting(pod) && isAvailable(pod, spec?.minReadySeconds ?? 0, nowMs);
  const old = running.flatMap(({ pods }) => pods).filter((pod) => revisionOfPod(pod) !== newest && !isDeleting(pod));
  const down = running.filter(({ pods }) => !pods.some(isUp)).length;
  const broken = old.filter((pod) => !isUp(pod));
  const mayGo = Math.max(share - down, 0);
  return [...broken, ...old.filter(isUp).slice(0, mayGo)];
}

export function daemonSetStatus(
  set: DaemonSetObject,
  places: readonly Place[],
  newest: string,
  nowMs: number,
): Record<string, unknown> {
  const wanted = places.filter(({ shouldRun }) => shouldRun);
  const firsts = wanted.flatMap(({ pods }) => pods.filter((pod) => !isFinished(pod)).slice(0, 1));
  const available = firsts.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)).length;
  return {
    currentNumberScheduled: firsts.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: places.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    numberReady: firsts.filter(isReady).length,
    ...nonZero({
      updatedNumberScheduled: firsts.filter((pod) => revisionOfPod(pod) === newest).length,
      numberAvailable: available,
      numberUnavailable: wanted.length - available,
      observedGeneration: set.metadata.generation ?? 0,
    }),
  };
}
