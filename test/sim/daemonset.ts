import type { KubeObject } from '../../src/kube/api.ts';
import { controllerOf } from '../../src/kube/raw.ts';
import { sameValue } from '../../src/lib/hash.ts';
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
import type { NodeObject, PodObject, PodSpec, Template, Toleration } from '../../src/sim/common/shapes.ts';
import { millis, nonZero, writeStatus } from '../../src/sim/common/status-writing.ts';
import { matchesNode, taintsOf, untolerated } from '../../src/sim/controllers/node-choice.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf } from '../../src/sim/controllers/pod-control.ts';
import { forgetOldRevisions, type RevisionObject, syncRevisions } from './controller-revision.ts';
import { revisionLabel, revisionOfPod } from './statefulset.ts';

/** The controller of DaemonSets keeps one pod on each node that fits. It does not support surge. */
export function runDaemonSets(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'daemonset-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'daemonset-controller', sync);
  const nodes = new Map<string, object>();
  informers.on('DaemonSet', (set) => loop.add(keyOf(set)));
  informers.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'DaemonSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });
  informers.on('Node', (node, isGone) => {
    const matters = { labels: node.metadata.labels, taints: taintsOf(node as NodeObject), isGone };
    if (sameValue(nodes.get(node.metadata.name), matters)) return; // only a heartbeat
    nodes.set(node.metadata.name, matters);
    for (const set of informers.seen('DaemonSet')) loop.add(keyOf(set));
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<DaemonSetObject>({ kind: 'DaemonSet', namespace, name });
    if (!set) return undefined;
    const revisions = await syncRevisions(api, set, (hash) => ({
      ...set.spec?.template?.metadata?.labels,
      [revisionLabel]: hash,
    }));
    const newest = hashOf(revisions.newest);
    const places = await readPlaces(set);
    const failure = set.metadata.deletionTimestamp ? undefined : await act(set, places, newest);
    const nowMs = clock.now();
    const after = await readPlaces(set);
    await writeStatus(api, 'DaemonSet', set, daemonSetStatus(set, after, newest, nowMs));
    if (failure !== undefined) throw failure;
    const own = after.flatMap((place) => place.pods);
    const live = new Set([newest, ...own.map(revisionOfPod)]);
    const isLive = (revision: string): boolean => live.has(revision.slice(revision.lastIndexOf('-') + 1));
    await forgetOldRevisions(api, revisions, isLive, set.spec?.revisionHistoryLimit);
    const againInMs = nextAvailableInMs(own, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  async function readPlaces(set: DaemonSetObject) {
    const all = await api.list<PodObject>('Pod', set.metadata.namespace, podSelector(set.spec?.selector));
    const allNodes = await api.list<NodeObject>('Node');
    return placesOf(set, allNodes, all.filter(ownedBy(set.metadata.uid)));
  }

  async function act(set: DaemonSetObject, places: ReturnType<typeof placesOf>, newest: string): Promise<unknown> {
    const plan = planDaemonSet(set, places, newest, clock.now());
    for (const { metadata, spec } of plan.failed) {
      const message = `Found failed daemon pod ${metadata.namespace}/${metadata.name} on node ${spec?.nodeName}, will try to kill it`;
      recorder.event(refTo(set), 'Warning', 'FailedDaemonPod', message);
    }
    await Promise.all(plan.remove.map((pod) => pods.remove(set, pod)));
    const failure = await inSlowStart(plan.create.length, (index) =>
      pods.create(set, daemonPod(set, plan.create[index]!, newest)),
    );
    return isNamespaceGoing(failure) ? undefined : failure;
  }
}

const hashOf = ({ metadata }: RevisionObject): string =>
  metadata.labels?.[revisionLabel] ?? metadata.name.slice(metadata.name.lastIndexOf('-') + 1);

function daemonPod(set: DaemonSetObject, node: string, revision: string): object {
  const { template = {} } = set.spec ?? {};
  const generation = String(set.metadata.generation ?? 1);
  const labels = { ...template.metadata?.labels, [revisionLabel]: revision, 'pod-template-generation': generation };
  const pinned = {
    ...template,
    metadata: { ...template.metadata, labels },
    spec: pinnedTo(template.spec ?? {}, node),
  };
  return podOf(set, pinned, { generateName: `${set.metadata.name}-` });
}

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

/** A daemon stays on a node in trouble, because it is needed there most. */
const tolerations: readonly Toleration[] = [
  always('not-ready', 'NoExecute'),
  always('unreachable', 'NoExecute'),
  always('disk-pressure', 'NoSchedule'),
  always('memory-pressure', 'NoSchedule'),
  always('pid-pressure', 'NoSchedule'),
  always('unschedulable', 'NoSchedule'),
];

const daemonSpec = (spec: PodSpec = {}): PodSpec => ({
  ...spec,
  tolerations: [...(spec.tolerations ?? []), ...tolerations],
});

/** Pins the pod by affinity, because the scheduler must bind it. */
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

interface DaemonPlan {
  create: string[];
  remove: PodObject[];
  /** The pods in `remove` that had failed. */
  failed: PodObject[];
}

/** Plans one pod on every node that should have one. A new template replaces maxUnavailable pods at a time. Pure. */
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
