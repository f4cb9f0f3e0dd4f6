import { isConflict, isNotFound } from '../../kube/api.ts';
import { sameValue } from '../../lib/hash.ts';
import type { Outcome } from '../../lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../common/controller-runtime.ts';
import { createSeriesRecorder, refTo } from '../common/event-recorder.ts';
import { isActive, isFinished } from '../common/pod-facts.ts';
import type { NodeObject, PodObject, StatusCondition } from '../common/shapes.ts';
import { conditionOf, refOf, stamp, without } from '../common/status-writing.ts';
import { add, chooseNode, type NodeLoad, noLoad, requestsOf, taintsOf } from './node-choice.ts';

/** An unschedulable pod is tried again after this time even if nothing has changed. */
const longestWaitMs = 300_000;

/** The scheduler goes round robin over the nodes that fit. It has no preemption and no affinity between pods. */
export function runScheduler(deps: SimControllerDeps): void {
  const { api, clock, informers, log } = deps;
  const record = createSeriesRecorder({ ...deps, component: 'default-scheduler' });
  const loop = createLoop(deps, 'default-scheduler', schedule);
  const places = createPlaces();
  const waiting = new Set<string>();
  const known = new Map<string, object>();
  let turn = 0;

  informers.on('Node', (object, isGone) => {
    const { metadata, spec, status } = object as NodeObject;
    const { labels, name } = metadata;
    const { allocatable } = status ?? {};
    const matters = {
      labels,
      allocatable,
      taints: taintsOf(object as NodeObject),
      closed: spec?.unschedulable,
      isGone,
    };
    if (sameValue(known.get(name), matters)) return; // only a heartbeat
    known.set(name, matters);
    retryAll();
  });
  informers.on('Pod', (object, isGone) => {
    const pod = object as PodObject;
    const key = keyOf(pod);
    if (isGone || isFinished(pod)) {
      waiting.delete(key);
      if (places.leave(pod.metadata.uid)) retryAll();
    } else if (pod.spec?.nodeName) {
      waiting.delete(key);
      places.take(pod, pod.spec.nodeName);
    } else if (isActive(pod) && !waiting.has(key)) loop.add(key);
  });

  function retryAll(): void {
    for (const key of waiting) loop.add(key);
  }

  async function schedule(namespace: string, name: string): Promise<Outcome> {
    const key = `${namespace}/${name}`;
    const pod = await api.get<PodObject>({ kind: 'Pod', namespace, name });
    if (!pod || pod.spec?.nodeName || !isActive(pod)) return void waiting.delete(key);
    const nodes = [...informers.seen<NodeObject>('Node')].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const choice = chooseNode(pod, nodes, places.usedOn, turn);
    if ('node' in choice) {
      turn = nodes.findIndex(({ metadata }) => metadata.name === choice.node) + 1;
      places.take(pod, choice.node);
      waiting.delete(key);
      await bind(pod, choice.node);
      return undefined;
    }
    waiting.add(key);
    record(refTo(pod), 'Warning', 'FailedScheduling', 'Scheduling', choice.refusal);
    await noteRefusal(pod, choice.refusal);
    return { againInMs: longestWaitMs };
  }

  async function bind(pod: PodObject, node: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    try {
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target };
      await api.createSub(refOf('Pod', pod, 'binding'), body);
    } catch (error) {
      places.leave(uid);
      if (isNotFound(error) || isConflict(error)) return; // the pod is deleted or already bound
      throw error;
    }
    log.debug({ pod: `${namespace}/${name}`, node }, 'pod bound');
    record(refTo(pod), 'Normal', 'Scheduled', 'Binding', `Successfully assigned ${namespace}/${name} to ${node}`);
  }

  async function noteRefusal(pod: PodObject, message: string): Promise<void> {
    const before = conditionOf(pod.status?.conditions, 'PodScheduled');
    if (before?.status === 'False' && before.message === message) return;
    const since = before?.status === 'False' ? before.lastTransitionTime : undefined;
    const condition: StatusCondition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      lastProbeTime: null,
      lastTransitionTime: since ?? stamp(clock.now()),
      observedGeneration: pod.metadata.generation ?? 1,
    };
    const conditions = [...without(pod.status?.conditions, 'PodScheduled'), condition];
    await api.patch(refOf('Pod', pod, 'status'), 'merge', { status: { conditions } });
  }
}

/** Tracks which pod is on which node, and the load of each node. */
function createPlaces() {
  const placed = new Map<string, { node: string; load: NodeLoad }>();
  const totals = new Map<string, NodeLoad>();

  function leave(uid: string): boolean {
    const place = placed.get(uid);
    if (place) totals.set(place.node, add(totals.get(place.node) ?? noLoad, place.load, -1));
    return placed.delete(uid);
  }

  return {
    leave,
    take({ metadata, spec = {} }: PodObject, node: string): void {
      if (placed.get(metadata.uid)?.node === node) return;
      leave(metadata.uid);
      const load = requestsOf(spec);
      placed.set(metadata.uid, { node, load });
      totals.set(node, add(totals.get(node) ?? noLoad, load));
    },
    usedOn: (node: string): NodeLoad => totals.get(node) ?? noLoad,
  };
}
