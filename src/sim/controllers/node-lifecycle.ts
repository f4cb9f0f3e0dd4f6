import { isNotFound } from '../../kube/api.ts';
import { conditionOf } from '../common/conditions.ts';
import { type ControllerDeps, report } from '../common/loop.ts';
import { refOf } from '../common/patch.ts';
import { isDeleting, isFinished, isReady } from '../common/pods.ts';
import { createRecorder, refTo } from '../common/recorder.ts';
import type { NodeObject, PodObject } from '../common/shapes.ts';
import { stamp } from '../common/stamp.ts';
import { evictAtMs, silenced, taintsFor } from './judge-node.ts';

export interface NodeLifecycleOptions {
  /** Silence after which a node counts as gone. */
  graceMs?: number;
  /** How often somebody looks. */
  everyMs?: number;
}

interface Beat {
  time: string;
  heardMs: number;
}

/** Nodes that fall silent: NotReady, their pods too; tainted, and emptied when the pods' patience is over. */
export async function runNodeLifecycle(
  deps: ControllerDeps,
  { graceMs = 50_000, everyMs = 5_000 }: NodeLifecycleOptions = {},
): Promise<void> {
  const { api, clock, lookout, log, signal } = deps;
  const recorder = createRecorder({ ...deps, component: 'node-controller' });
  const evictor = createRecorder({ ...deps, component: 'taint-eviction-controller' });
  const beats = new Map<string, Beat>();
  lookout.on('Node', () => undefined);
  lookout.on('Pod', () => undefined);

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

  /** By when we heard it, not by what the node's own clock says. */
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
    [...lookout.seen<PodObject>('Pod')].filter(({ spec }) => spec?.nodeName === metadata.name);

  const about = ({ metadata: { name, uid } }: NodeObject) => ({ apiVersion: 'v1', kind: 'Node', name, uid });

  const heartbeat = ({ status }: NodeObject): string =>
    conditionOf(status?.conditions, 'Ready')?.lastHeartbeatTime ?? '';

  while (!signal.aborted) {
    await clock.sleep(everyMs, signal);
    if (signal.aborted) return;
    try {
      for (const node of lookout.seen<NodeObject>('Node')) await look(node);
    } catch (error) {
      report(log, { component: 'node-controller' }, error);
    }
  }
}
