import type { KubeObject } from '../../kube/api.ts';
import { nonZero } from '../common/patch.ts';
import { isAvailable, isDeleting, isFinished, isReady } from '../common/pods.ts';
import type { PodObject, Template } from '../common/shapes.ts';

export interface StatefulSetObject extends KubeObject {
  spec?: {
    replicas?: number;
    minReadySeconds?: number;
    serviceName?: string;
    podManagementPolicy?: string;
    revisionHistoryLimit?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: Template;
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
  };
  status?: { currentRevision?: string; [field: string]: unknown };
}

export const revisionLabel = 'controller-revision-hash';

export const revisionOfPod = ({ metadata }: PodObject): string => metadata.labels?.[revisionLabel] ?? '';

/** -1 when the name is not one that a StatefulSet gives. */
export const ordinalOf = ({ metadata }: KubeObject): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);

export const partitionOf = ({ spec }: StatefulSetObject): number => spec?.updateStrategy?.rollingUpdate?.partition ?? 0;

/** What is to be done now: one thing at a time, unless the set is told to work in parallel. */
export interface Plan {
  create: number[];
  remove: PodObject[];
}

/** Pure. */
export function planStatefulSet(
  set: StatefulSetObject,
  pods: readonly PodObject[],
  newest: string,
  nowMs: number,
): Plan {
  const wanted = set.spec?.replicas ?? 1;
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
  const slots = Array.from({ length: wanted }, (_, ordinal) => ({ ordinal, pod: byOrdinal.get(ordinal) }));
  const condemned = pods.filter((pod) => ordinalOf(pod) >= wanted).sort((a, b) => ordinalOf(b) - ordinalOf(a));
  const isUp = (pod: PodObject): boolean => !isDeleting(pod) && isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs);
  const inParallel = set.spec?.podManagementPolicy === 'Parallel';
  const plan = inParallel ? allAtOnce(slots, condemned) : nextInOrder(slots, condemned, isUp);
  if (plan) return plan;
  const outdated = set.spec?.updateStrategy?.type === 'OnDelete' ? [] : slots.slice(partitionOf(set)).toReversed();
  for (const { pod } of outdated) {
    if (pod && revisionOfPod(pod) !== newest && !isDeleting(pod)) return { create: [], remove: [pod] };
    if (!pod || !isUp(pod)) break;
  }
  return { create: [], remove: [] };
}

interface Slot {
  ordinal: number;
  pod: PodObject | undefined;
}

/** Each waits for the one before it; what is too many goes from the top, when all that stay are up. */
function nextInOrder(slots: readonly Slot[], condemned: readonly PodObject[], isUp: (pod: PodObject) => boolean) {
  for (const { ordinal, pod } of slots) {
    if (!pod) return { create: [ordinal], remove: [] };
    if (isFinished(pod)) return { create: [], remove: isDeleting(pod) ? [] : [pod] };
    if (!isUp(pod)) return { create: [], remove: [] };
  }
  const [last] = condemned;
  if (!last) return undefined;
  const firstDown = condemned.toReversed().find((pod) => !isUp(pod));
  const mayGo = !isDeleting(last) && (isUp(last) || last === firstDown);
  return { create: [], remove: mayGo ? [last] : [] };
}

function allAtOnce(slots: readonly Slot[], condemned: readonly PodObject[]): Plan | undefined {
  const create = slots.filter(({ pod }) => !pod).map(({ ordinal }) => ordinal);
  const over = slots.flatMap(({ pod }) => (pod && isFinished(pod) ? [pod] : []));
  const remove = [...over, ...condemned].filter((pod) => !isDeleting(pod));
  return create.length + remove.length > 0 ? { create, remove } : undefined;
}

/** The counts, and which revision is the current one: the newest as soon as every pod has it and is ready. */
export function statefulSetStatus(
  set: StatefulSetObject,
  pods: readonly PodObject[],
  newest: string,
  nowMs: number,
): Record<string, unknown> {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const current = set.status?.currentRevision || newest;
  const having = (revision: string): number =>
    pods.filter((pod) => !isDeleting(pod) && revisionOfPod(pod) === revision).length;
  const ready = pods.filter(isReady).length;
  const isUpdated = having(newest) === (set.spec?.replicas ?? 1) && ready === pods.length;
  const isRolling = set.spec?.updateStrategy?.type !== 'OnDelete';
  const currentNow = isRolling && isUpdated ? newest : current;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    availableReplicas: pods.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length,
    ...nonZero({ readyReplicas: ready, currentReplicas: having(currentNow), updatedReplicas: having(newest) }),
    currentRevision: currentNow,
    updateRevision: newest,
    collisionCount: 0,
  };
}
