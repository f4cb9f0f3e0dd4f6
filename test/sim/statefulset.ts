import { isNotFound, type KubeObject } from '../../src/kube/api.ts';
import { controllerOf } from '../../src/kube/raw.ts';
import type { Outcome } from '../../src/lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../../src/sim/common/controller-runtime.ts';
import { createEventRecorder, refTo } from '../../src/sim/common/event-recorder.ts';
import {
  isAvailable,
  isDeleting,
  isFinished,
  isReady,
  nextAvailableInMs,
  ownedBy,
  podSelector,
} from '../../src/sim/common/pod-facts.ts';
import type { PodObject, Template } from '../../src/sim/common/shapes.ts';
import { nonZero, refOf, writeStatus } from '../../src/sim/common/status-writing.ts';
import { isNamespaceGoing, podOf, serverMessage } from '../../src/sim/controllers/pod-control.ts';
import { forgetOldRevisions, type Revisions, syncRevisions } from './controller-revision.ts';

/** The controller of StatefulSets keeps numbered pods, in order. It does not create the claims of volumeClaimTemplates. */
export function runStatefulSets(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'statefulset-controller' });
  const loop = createLoop(deps, 'statefulset-controller', sync);
  informers.on('StatefulSet', (set) => loop.add(keyOf(set)));
  informers.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'StatefulSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<StatefulSetObject>({ kind: 'StatefulSet', namespace, name });
    if (!set) return undefined;
    const revisions = await syncRevisions(api, set, (hash) => ({
      ...set.spec?.template?.metadata?.labels,
      'controller.kubernetes.io/hash': hash,
    }));
    const newest = revisions.newest.metadata.name;
    const read = (): Promise<PodObject[]> => podsOf(set);
    const pods = await read();
    const failure = set.metadata.deletionTimestamp ? undefined : await act(set, pods, revisions);
    const nowMs = clock.now();
    const after = failure === undefined ? await read() : pods;
    await writeStatus(api, 'StatefulSet', set, statefulSetStatus(set, after, newest, nowMs));
    if (failure !== undefined) throw failure;
    const live = new Set([newest, set.status?.currentRevision, ...after.map(revisionOfPod)]);
    await forgetOldRevisions(api, revisions, (it) => live.has(it), set.spec?.revisionHistoryLimit);
    const againInMs = nextAvailableInMs(after, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  async function podsOf({ metadata, spec }: StatefulSetObject): Promise<PodObject[]> {
    const all = await api.list<PodObject>('Pod', metadata.namespace, podSelector(spec?.selector));
    return all.filter((pod) => ownedBy(metadata.uid)(pod) && ordinalOf(pod) >= 0);
  }

  async function act(set: StatefulSetObject, pods: readonly PodObject[], revisions: Revisions): Promise<unknown> {
    const plan = planStatefulSet(set, pods, revisions.newest.metadata.name, clock.now());
    const works = [
      ...plan.create.map((ordinal) => create(set, ordinal, revisions)),
      ...plan.remove.map((pod) => remove(set, pod)),
    ];
    const failed = (await Promise.allSettled(works)).find((result) => result.status === 'rejected');
    return failed && !isNamespaceGoing(failed.reason) ? failed.reason : undefined;
  }

  async function create(set: StatefulSetObject, ordinal: number, { newest, all }: Revisions): Promise<void> {
    const { name, namespace } = set.metadata;
    const podName = `${name}-${ordinal}`;
    const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
    const revision = ordinal < partitionOf(set) && current ? current : newest;
    const body = podOf(set, numbered(set, revision.data?.spec?.template ?? {}, ordinal, revision.metadata.name), {
      name: podName,
    });
    try {
      await api.create({ kind: 'Pod', namespace }, body);
      record(set, 'Normal', 'SuccessfulCreate', `Create Pod ${podName} in StatefulSet ${name} successful`);
    } catch (error) {
      const message = `Create Pod ${podName} in StatefulSet ${name} failed error: ${serverMessage(error)}`;
      if (!isNamespaceGoing(error)) record(set, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  async function remove(set: StatefulSetObject, pod: PodObject): Promise<void> {
    const about = `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    try {
      await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid });
      record(set, 'Normal', 'SuccessfulDelete', `${about} successful`);
    } catch (error) {
      if (isNotFound(error)) return;
      record(set, 'Warning', 'FailedDelete', `${about} failed error: ${serverMessage(error)}`);
      throw error;
    }
  }

  const record = (set: StatefulSetObject, type: 'Normal' | 'Warning', reason: string, message: string): void =>
    recorder.event(refTo(set), type, reason, message);
}

function numbered(
  { metadata, spec }: StatefulSetObject,
  template: Template,
  ordinal: number,
  revision: string,
): Template {
  const name = `${metadata.name}-${ordinal}`;
  const { $patch: _, ...own } = template as Template & { $patch?: string };
  const labels = {
    ...own.metadata?.labels,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': name,
  };
  const subdomain = spec?.serviceName ? { subdomain: spec.serviceName } : {};
  return { ...own, metadata: { ...own.metadata, labels }, spec: { ...own.spec, hostname: name, ...subdomain } };
}

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

/** -1 when the name does not end in a number. */
const ordinalOf = ({ metadata }: KubeObject): number => Number(/-(\d+)$/.exec(metadata.name)?.[1] ?? -1);

const partitionOf = ({ spec }: StatefulSetObject): number => spec?.updateStrategy?.rollingUpdate?.partition ?? 0;

/** What to do now: one thing at a time, unless the set's pods are managed in parallel. */
interface StatefulPlan {
  create: number[];
  remove: PodObject[];
}

/** Plans one pass. Pure. */
export function planStatefulSet(
  set: StatefulSetObject,
  pods: readonly PodObject[],
  newest: string,
  nowMs: number,
): StatefulPlan {
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

/** Each pod waits for the one before it. Surplus pods go from the highest number down, when all others are up. */
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

function allAtOnce(slots: readonly Slot[], condemned: readonly PodObject[]): StatefulPlan | undefined {
  const create = slots.filter(({ pod }) => !pod).map(({ ordinal }) => ordinal);
  const over = slots.flatMap(({ pod }) => (pod && isFinished(pod) ? [pod] : []));
  const remove = [...over, ...condemned].filter((pod) => !isDeleting(pod));
  return create.length + remove.length > 0 ? { create, remove } : undefined;
}

/** The counts and the current revision, which is the newest as soon as every pod has it and is ready. */
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
