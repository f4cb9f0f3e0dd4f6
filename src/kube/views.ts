import { hashOf } from '../lib/hash.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from './api.ts';
import {
  arr,
  beginning,
  conditionIn,
  type ConditionView,
  controllerOf,
  type Identity,
  identityIn,
  num,
  obj,
  type Raw,
  specIn,
  statusIn,
  str,
  timeMs,
} from './raw.ts';
import { qualifiedKind } from './resources.ts';

export interface ContainerView {
  name: string;
  ready: boolean;
  restarts: number;
  waiting?: string; // reason
  waitingMessage?: string;
  runningSinceMs?: number;
  /** It has ended and is not (yet) started again. */
  isDown: boolean;
  /** It runs once, before the others. False for a sidecar. */
  isInit?: boolean;
  /** Its startup probe has not succeeded yet. */
  isStarting?: boolean;
  /** The last time it ended. */
  ended?: { reason: string; exitCode: number; uptimeMs: number; finishedAtMs: number };
  /** Why it ended the time before; known only while it is down. */
  endedBefore?: string;
}

export interface PodView {
  namespace: string;
  name: string;
  uid: string;
  phase: string;
  deleting: boolean;
  ready: boolean;
  readySinceMs?: number;
  unreadySinceMs?: number;
  owner?: OwnerReference;
  containers: ContainerView[];
  node?: string;
  /** Why the whole pod is in its state: Evicted... */
  reason?: string;
  message?: string;
  /** Set when the scheduler has found no node for it. */
  unscheduled?: ConditionView;
  /** Its network and volumes are ready: it now waits for an image or a container. */
  hasSandbox?: boolean;
  /** PersistentVolumeClaims that it mounts. */
  claims?: string[];
}

/** A pod that is kept has at most this many containers and claims: a tenant could give it thousands. */
const mostParts = 100;

function viewContainer(raw: Raw, isInit: boolean): ContainerView {
  const state = obj(raw['state']);
  const waiting = obj(state['waiting']);
  const running = obj(state['running']);
  const before = obj(obj(raw['lastState'])['terminated']);
  const ended = state['terminated'] ? obj(state['terminated']) : before;
  const view: ContainerView = {
    name: str(raw['name']),
    ready: raw['ready'] === true,
    restarts: num(raw['restartCount']),
    isDown: Boolean(state['terminated']),
  };
  if (isInit) view.isInit = true;
  if (raw['started'] === false) view.isStarting = true;
  if (state['waiting']) view.waiting = beginning(waiting['reason'], 128);
  if (str(waiting['message'])) view.waitingMessage = beginning(waiting['message'], 1024);
  if (state['running']) view.runningSinceMs = timeMs(running['startedAt']);
  if (ended['finishedAt']) {
    const finishedAtMs = timeMs(ended['finishedAt']);
    // Without a start there was no uptime, and not one of fifty-six years.
    const startedAtMs = timeMs(ended['startedAt']) || finishedAtMs;
    const uptimeMs = Math.max(finishedAtMs - startedAtMs, 0);
    view.ended = { reason: beginning(ended['reason'], 128), exitCode: num(ended['exitCode']), uptimeMs, finishedAtMs };
  }
  if (view.isDown && before['finishedAt']) view.endedBefore = beginning(before['reason'], 128);
  return view;
}

/**
 * Sidecars are listed among the init containers, but are restarted like any other: they run as long as the pod does.
 */
function viewContainers(spec: Raw, status: Raw): ContainerView[] {
  const sidecars = new Set(
    arr(spec['initContainers'])
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  );
  return [
    ...arr(status['initContainerStatuses']).map((raw) => viewContainer(raw, !sidecars.has(raw['name']))),
    ...arr(status['containerStatuses']).map((raw) => viewContainer(raw, false)),
  ].slice(0, mostParts);
}

/** An ephemeral volume's claim is named after the pod and the volume. */
const claimsIn = (pod: string, spec: Raw): string[] =>
  arr(spec['volumes'])
    .flatMap((volume) => {
      const own = volume['ephemeral'] ? `${pod}-${str(volume['name'])}` : '';
      return str(obj(volume['persistentVolumeClaim'])['claimName']) || own || [];
    })
    .slice(0, mostParts);

export function viewPod(object: KubeObject): PodView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const [spec, status] = [specIn(object), statusIn(object)];
  const ready = conditionIn(object, 'Ready');
  const scheduled = conditionIn(object, 'PodScheduled');
  const sandbox = conditionIn(object, 'PodReadyToStartContainers');
  const view: PodView = {
    ...who,
    phase: str(status['phase']),
    ready: ready?.status === 'True',
    containers: viewContainers(spec, status),
  };
  const owner = controllerOf(object.metadata);
  const claims = claimsIn(who.name, spec);
  if (owner) view.owner = owner;
  if (view.ready) view.readySinceMs = ready!.sinceMs;
  else if (ready) view.unreadySinceMs = ready.sinceMs;
  if (str(spec['nodeName'])) view.node = str(spec['nodeName']);
  if (str(status['reason'])) view.reason = beginning(status['reason'], 128);
  if (str(status['message'])) view.message = beginning(status['message'], 1024);
  if (scheduled?.status === 'False') view.unscheduled = scheduled;
  if (sandbox) view.hasSandbox = sandbox.status === 'True';
  if (claims.length > 0) view.claims = claims;
  return view;
}

/** A StatefulSet or DaemonSet: how many pods it wants, and how many exist, ready or not. */
export interface SetView extends Identity {
  kind: 'StatefulSet' | 'DaemonSet';
  desired: number;
  pods: number;
  /**
   * Its controller has caught up and no rollout is running, so a missing pod is not just the pause between two pods of
   * one.
   */
  settled: boolean;
}

export function viewSet(kind: SetView['kind']): (object: KubeObject) => SetView | undefined {
  return (object) => {
    const who = identityIn(object);
    if (!who) return undefined;
    const status = statusIn(object);
    const isCaughtUp = num(status['observedGeneration']) >= num(object.metadata.generation);
    if (kind === 'DaemonSet') {
      const [desired, pods] = [num(status['desiredNumberScheduled']), num(status['currentNumberScheduled'])];
      return { ...who, kind, desired, pods, settled: isCaughtUp && num(status['updatedNumberScheduled']) >= pods };
    }
    const desired = num(specIn(object)['replicas'], 1);
    const isOneRevision = status['currentRevision'] === status['updateRevision'];
    return { ...who, kind, desired, pods: num(status['replicas']), settled: isCaughtUp && isOneRevision };
  };
}

/** Names one revision of a set by what its pods run: a status names none, or only that of a StatefulSet. */
export const setRevisionKey = (uid: string, { metadata, spec }: PodTemplate): string =>
  `${uid}-${hashOf({ labels: metadata?.labels ?? {}, annotations: metadata?.annotations ?? {}, spec }, 16)}`;

/** How far a StatefulSet or DaemonSet is with its newest revision. */
export interface SetRevisionView extends Identity {
  /** The name of the revision. */
  key: string;
  desired: number;
  /** Pods that are available, of whatever revision. */
  available: number;
  /** Its controller has seen the newest spec: only then do the counts mean that. */
  isCaughtUp: boolean;
  /** All of its pods are of the newest revision. */
  isRolledOut: boolean;
}

export function viewSetRevision(kind: SetView['kind']): (object: KubeObject) => SetRevisionView | undefined {
  return (object) => {
    const who = identityIn(object);
    if (!who) return undefined;
    const [spec, status] = [specIn(object), statusIn(object)];
    const key = setRevisionKey(who.uid, obj(spec['template']) as PodTemplate);
    const isCaughtUp = num(status['observedGeneration']) >= num(object.metadata.generation);
    if (kind === 'DaemonSet') {
      const desired = num(status['desiredNumberScheduled']);
      const isRolledOut = num(status['updatedNumberScheduled']) >= desired;
      return { ...who, key, desired, available: num(status['numberAvailable']), isCaughtUp, isRolledOut };
    }
    const desired = num(spec['replicas'], 1);
    const isRolledOut = status['currentRevision'] === status['updateRevision'];
    return { ...who, key, desired, available: num(status['availableReplicas']), isCaughtUp, isRolledOut };
  };
}

export interface JobView extends Identity {
  owner?: OwnerReference;
  /** Set when it failed for good. */
  failed?: ConditionView;
}

export function viewJob(object: KubeObject): JobView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const owner = controllerOf(object.metadata);
  const failed = conditionIn(object, 'Failed');
  return { ...who, ...(owner && { owner }), ...(failed?.status === 'True' && { failed }) };
}

export interface AutoscalerView extends Identity {
  ableToScale?: ConditionView;
  scalingActive?: ConditionView;
}

export function viewAutoscaler(object: KubeObject): AutoscalerView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const ableToScale = conditionIn(object, 'AbleToScale');
  const scalingActive = conditionIn(object, 'ScalingActive');
  return { ...who, ...(ableToScale && { ableToScale }), ...(scalingActive && { scalingActive }) };
}

export interface NodeView extends Identity {
  /** undefined: the node has not reported yet. */
  ready?: ConditionView;
  /** Cordoned, or about to be removed by the autoscaler: somebody is already working on it. */
  isLeaving: boolean;
}

/** https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md (taints the autoscaler sets) */
const removalTaint = 'ToBeDeletedByClusterAutoscaler';

export function viewNode(object: KubeObject): NodeView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const spec = specIn(object);
  const ready = conditionIn(object, 'Ready');
  const isLeaving = spec['unschedulable'] === true || arr(spec['taints']).some(({ key }) => key === removalTaint);
  return { ...who, isLeaving, ...(ready && { ready }) };
}

export interface StorageClassView extends Identity {
  /** Volumes are created when a pod that wants them is scheduled. Until then it is normal that a claim waits. */
  waitsForConsumer: boolean;
}

export function viewStorageClass(object: KubeObject): StorageClassView | undefined {
  const who = identityIn(object);
  return who && { ...who, waitsForConsumer: obj(object)['volumeBindingMode'] === 'WaitForFirstConsumer' };
}

export interface ClaimView extends Identity {
  phase: string;
  /** undefined: it names no class. Empty: it asks for no class. */
  storageClass?: string;
  createdAtMs: number;
}

export function viewClaim(object: KubeObject): ClaimView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const { storageClassName } = specIn(object);
  return {
    ...who,
    phase: str(statusIn(object)['phase']),
    createdAtMs: timeMs(object.metadata.creationTimestamp),
    ...(typeof storageClassName === 'string' && { storageClass: storageClassName }),
  };
}

/**
 * Slim views: the few fields we decide on. They are built once, at the edge, from whatever the API server sent; no code
 * behind these files sees a raw object of the cluster. Odd input gives empty fields, never a throw.
 */
export interface EventView {
  namespace: string;
  name: string;
  uid: string;
  type: string;
  reason: string;
  message: string;
  object: { kind: string; name: string; namespace: string; uid: string };
  count: number;
  lastSeenMs: number;
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Record<string, unknown> & { containers?: { name: string; image?: string }[] };
}

export interface ReplicaSetView {
  namespace: string;
  name: string;
  uid: string;
  owner?: OwnerReference;
  revision: number;
  templateHash: string;
  desired: number;
  available: number;
  createdAtMs: number;
  /** The message of the condition ReplicaFailure, when its pods are refused. */
  createFailure?: string;
  /** Since when; the condition stays the same while one try after another fails. */
  refusedSinceMs?: number;
}

export interface DeploymentView {
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  observedGeneration: number;
  desired: number;
  replicas: number;
  updated: number;
  ready: number;
  available: number;
  paused: boolean;
  deleting?: boolean;
  /** How its rollout goes, from its own status. */
  progressing?: ConditionView;
  /** Set when its pods are refused, from its own status. */
  refused?: ConditionView;
  revision: number;
}

/**
 * A recorder that repeats the same message often combines them:
 * https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go
 */
const combined = /^\(combined from similar events\): /;

/**
 * Nobody checks what an Event says it is about. The limit is above that of real names and kinds, so a text that is cut
 * does not become a real one.
 */
const longestName = 400;

export function viewEvent(object: KubeObject): EventView | undefined {
  const raw = obj(object);
  const about = obj(raw['involvedObject']);
  const series = obj(raw['series']);
  const who = identityIn(object);
  if (!who || !str(about['kind']) || !str(about['name'])) return undefined;
  return {
    namespace: who.namespace,
    name: who.name,
    uid: who.uid,
    type: beginning(raw['type'], longestName),
    reason: beginning(raw['reason'], 128),
    message: beginning(raw['message'], 4096).replace(combined, ''),
    object: {
      kind: qualifiedKind(beginning(about['kind'], longestName), beginning(about['apiVersion'], longestName)),
      name: beginning(about['name'], longestName),
      namespace: beginning(about['namespace'], longestName) || who.namespace,
      uid: beginning(about['uid'], longestName),
    },
    count: Math.max(1, num(series['count'], num(raw['count'], 1))),
    lastSeenMs: Math.max(
      timeMs(series['lastObservedTime']),
      timeMs(raw['lastTimestamp']),
      timeMs(raw['eventTime']),
      timeMs(obj(raw['metadata'])['creationTimestamp']),
    ),
  };
}

const revisionOf = (meta: ObjectMeta): number =>
  Number(obj(meta.annotations)['deployment.kubernetes.io/revision']) || 0;

export function viewReplicaSet(object: KubeObject): ReplicaSetView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const failure = conditionIn(object, 'ReplicaFailure');
  const view: ReplicaSetView = {
    namespace: who.namespace,
    name: who.name,
    uid: who.uid,
    revision: revisionOf(object.metadata),
    templateHash: str(obj(object.metadata.labels)['pod-template-hash']),
    desired: num(specIn(object)['replicas'], 1),
    available: num(statusIn(object)['availableReplicas']),
    createdAtMs: timeMs(object.metadata.creationTimestamp),
  };
  const owner = controllerOf(object.metadata);
  if (owner) view.owner = owner;
  if (failure?.status === 'True') {
    view.createFailure = failure.message;
    if (failure.sinceMs > 0) view.refusedSinceMs = failure.sinceMs;
  }
  return view;
}

export function viewDeployment(object: KubeObject): DeploymentView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const [spec, status] = [specIn(object), statusIn(object)];
  const progressing = conditionIn(object, 'Progressing');
  const refused = conditionIn(object, 'ReplicaFailure');
  return {
    namespace: who.namespace,
    name: who.name,
    uid: who.uid,
    generation: num(object.metadata.generation),
    observedGeneration: num(status['observedGeneration']),
    desired: num(spec['replicas'], 1),
    replicas: num(status['replicas']),
    updated: num(status['updatedReplicas']),
    ready: num(status['readyReplicas']),
    available: num(status['availableReplicas']),
    paused: spec['paused'] === true,
    ...(who.deleting && { deleting: true }),
    ...(progressing && { progressing }),
    ...(refused?.status === 'True' && { refused }),
    revision: revisionOf(object.metadata),
  };
}
