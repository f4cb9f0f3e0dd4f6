import { isNotFound } from '../../src/kube/api.ts';
import { report, type SimControllerDeps } from '../../src/sim/common/controller-runtime.ts';
import { createEventRecorder, refTo } from '../../src/sim/common/event-recorder.ts';
import { isDeleting, isFinished, isReady } from '../../src/sim/common/pod-facts.ts';
import type { NodeObject, PodObject, StatusCondition, Taint } from '../../src/sim/common/shapes.ts';
import { conditionOf, millis, refOf, stamp } from '../../src/sim/common/status-writing.ts';
import { toleratedSeconds } from '../../src/sim/controllers/node-choice.ts';

/** A node that has not reported for this long counts as gone. */
const graceMs = 50_000;
const checkEveryMs = 5_000;

interface Beat {
  time: string;
  heardMs: number;
}

/** Marks a node that stops reporting and its pods as not ready, taints it, and evicts the pods when their toleration ends. */
export async function runNodeLifecycle(deps: SimControllerDeps): Promise<void> {
  const { api, clock, informers, log, signal } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'node-controller' });
  const evictor = createEventRecorder({ ...deps, component: 'taint-eviction-controller' });
  const beats = new Map<string, Beat>();
  informers.on('Node', () => undefined);
  informers.on('Pod', () => undefined);

  async function look(seen: NodeObject): Promise<void> {
    if (!beats.has(seen.metadata.uid)) register(seen);
    const node = isSilent(seen) ? await silence(seen) : seen;
    const taints = taintsFor(node, clock.now());
    if (taints) await api.patch(refOf('Node', node), 'merge', { spec: { taints } });
    await evict(node);
  }

  function register(node: NodeObject): void {
    const { name, uid } = node.metadata;
    beats.set(uid, { time: heartbeat(node), heardMs: clock.now() });
    recorder.event(
      about(node),
      'Normal',
      'RegisteredNode',
      `Node ${name} event: Registered Node ${name} in Controller`,
    );
  }

  /** Counts from when the heartbeat was seen, not from the time of the node's clock. */
  function isSilent(node: NodeObject): boolean {
    const beat = beats.get(node.metadata.uid)!;
    const time = heartbeat(node);
    if (time !== beat.time) Object.assign(beat, { time, heardMs: clock.now() });
    return clock.now() - beat.heardMs > graceMs;
  }

  async function silence(node: NodeObject): Promise<NodeObject> {
    const nowMs = clock.now();
    const wasReady = conditionOf(node.status?.conditions, 'Ready')?.status === 'True';
    const conditions = silenced(node, nowMs);
    if (!conditions) return node;
    await api.patch(refOf('Node', node, 'status'), 'merge', { status: { conditions } });
    const message = `Node ${node.metadata.name} status is now: NodeNotReady`;
    if (wasReady) {
      recorder.event(about(node), 'Normal', 'NodeNotReady', message);
      for (const pod of podsOn(node)) await markNotReady(pod);
    }
    return { ...node, status: { ...node.status, conditions } };
  }

  async function markNotReady(pod: PodObject): Promise<void> {
    if (!isReady(pod)) return;
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === 'Ready'
        ? { ...condition, status: 'False', lastTransitionTime: stamp(clock.now()) }
        : condition,
    );
    try {
      await api.patch(refOf('Pod', pod, 'status'), 'merge', { status: { conditions } });
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    recorder.event(refTo(pod), 'Warning', 'NodeNotReady', 'Node is not ready');
  }

  async function evict(node: NodeObject): Promise<void> {
    for (const pod of podsOn(node)) {
      const atMs = evictAtMs(pod, node.spec?.taints);
      if (isDeleting(pod) || isFinished(pod) || atMs === undefined || atMs > clock.now()) continue;
      const { namespace, name, uid } = pod.metadata;
      evictor.event(refTo(pod), 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${namespace}/${name}`);
      await api.delete(refOf('Pod', pod), { uid }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }

  const podsOn = ({ metadata }: NodeObject): PodObject[] =>
    [...informers.seen<PodObject>('Pod')].filter(({ spec }) => spec?.nodeName === metadata.name);

  const about = ({ metadata: { name, uid } }: NodeObject) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

  const heartbeat = ({ status }: NodeObject): string =>
    conditionOf(status?.conditions, 'Ready')?.lastHeartbeatTime ?? '';

  while (!signal.aborted) {
    await clock.sleep(checkEveryMs, signal);
    if (signal.aborted) return;
    try {
      for (const node of informers.seen<NodeObject>('Node')) await look(node);
    } catch (error) {
      report(log, { component: 'node-controller' }, error);
    }
  }
}

const unreachable = 'node.kubernetes.io/unreachable';
const notReady = 'node.kubernetes.io/not-ready';

/** The conditions that only kubelet can know. */
const kubeletTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a node that has stopped reporting; undefined when it already has them. */
export function silenced({ metadata, status }: NodeObject, nowMs: number): StatusCondition[] | undefined {
  const conditions = status?.conditions ?? [];
  const at = stamp(nowMs);
  const unknown = (type: string): StatusCondition => {
    const now = conditionOf(conditions, type);
    const kept = { lastHeartbeatTime: now?.lastHeartbeatTime ?? metadata.creationTimestamp, lastTransitionTime: at };
    return now
      ? {
          type,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          ...kept,
        }
      : {
          type,
          status: 'Unknown',
          reason: 'NodeStatusNeverUpdated',
          message: 'Kubelet never posted node status.',
          ...kept,
        };
  };
  const isKnown = (type: string): boolean => conditionOf(conditions, type)?.status !== 'Unknown';
  if (!kubeletTypes.some(isKnown)) return undefined;
  const others = conditions.filter(({ type }) => !kubeletTypes.includes(type));
  return [...others, ...kubeletTypes.map((type) => (isKnown(type) ? unknown(type) : conditionOf(conditions, type)!))];
}

/** The node's taints with those that its Ready condition requires; undefined when it already has them. */
export function taintsFor(node: NodeObject, nowMs: number): Taint[] | undefined {
  const ready = conditionOf(node.status?.conditions, 'Ready')?.status;
  const wanted = ready === 'True' ? undefined : ready === 'False' ? notReady : unreachable;
  const taints = node.spec?.taints ?? [];
  const isOurs = ({ key }: Taint): boolean => key === unreachable || key === notReady;
  const ours = taints.filter(isOurs);
  const isRight = wanted ? ours.length === 2 && ours.every(({ key }) => key === wanted) : ours.length === 0;
  if (isRight) return undefined;
  const others = taints.filter((taint) => !isOurs(taint));
  if (!wanted) return others;
  const timeAdded = stamp(nowMs);
  return [...others, { key: wanted, effect: 'NoSchedule', timeAdded }, { key: wanted, effect: 'NoExecute', timeAdded }];
}

/** The API server's default: a pod tolerates a node that is gone for five minutes. */
const usualPatience = [unreachable, notReady].map((key) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** When a pod must be evicted because of its node's taints; undefined when it may stay. */
export function evictAtMs(pod: PodObject, taints: readonly Taint[] = []): number | undefined {
  const own = pod.spec?.tolerations ?? [];
  const ends = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map((taint) => {
      const seconds = toleratedSeconds(taint, own) ?? toleratedSeconds(taint, usualPatience) ?? 0;
      return (millis(taint.timeAdded) || 0) + seconds * 1000;
    });
  const first = Math.min(...ends);
  return Number.isFinite(first) ? first : undefined;
}
