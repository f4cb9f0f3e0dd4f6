import type { KubeObject, ObjectMeta, OwnerReference } from './api.ts';
import { qualifiedKind } from './resources.ts';

/**
 * Slim views: the few fields we decide on. Built once, at the edge, from whatever came off the wire;
 * nothing behind this file sees a raw object of the cluster's. Odd input gives empty fields, never a throw.
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

export interface ContainerView {
  name: string;
  ready: boolean;
  restarts: number;
  waiting?: string; // reason
  waitingMessage?: string;
  runningSinceMs?: number;
  /** It has ended and is not (yet) started again. */
  isDown: boolean;
  /** The last time it ended. */
  ended?: { reason: string; exitCode: number; uptimeMs: number; finishedAtMs: number };
}

export interface PodView {
  namespace: string;
  name: string;
  uid: string;
  phase: string;
  deleting: boolean;
  ready: boolean;
  readySinceMs?: number;
  owner?: OwnerReference;
  containers: ContainerView[];
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
  revision: number;
  annotations: Record<string, string>;
  labels: Record<string, string>;
}

type Raw = Record<string, unknown>;
const obj = (value: unknown): Raw =>
  value && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : {};
const arr = (value: unknown): Raw[] => (Array.isArray(value) ? value.map(obj) : []);
const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown, otherwise = 0): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
/** 0 when it is no time: absurd and missing timestamps are equally "unknown". */
export const timeMs = (value: unknown): number => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? ms : 0;
};

const strings = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(obj(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Whether the object's own status says so. */
export const hasCondition = (object: KubeObject, type: string): boolean =>
  arr(obj((object as unknown as Raw)['status'])['conditions']).some(
    (c) => c['type'] === type && c['status'] === 'True',
  );

export const controllerOf = (meta: ObjectMeta): OwnerReference | undefined =>
  Array.isArray(meta.ownerReferences) ? meta.ownerReferences.find((owner) => owner?.controller) : undefined;

export function viewEvent(object: KubeObject): EventView | undefined {
  const raw = object as unknown as Raw;
  const about = obj(raw['involvedObject']);
  const series = obj(raw['series']);
  if (!object.metadata?.uid || !str(about['kind']) || !str(about['name'])) return undefined;
  return {
    namespace: str(object.metadata.namespace),
    name: object.metadata.name,
    uid: object.metadata.uid,
    type: str(raw['type']),
    reason: str(raw['reason']),
    message: str(raw['message']).slice(0, 4096),
    object: {
      kind: qualifiedKind(str(about['kind']), str(about['apiVersion'])),
      name: str(about['name']),
      namespace: str(about['namespace']) || str(object.metadata.namespace),
      uid: str(about['uid']),
    },
    count: num(series['count'], num(raw['count'], 1)) || 1,
    lastSeenMs: Math.max(
      timeMs(series['lastObservedTime']),
      timeMs(raw['lastTimestamp']),
      timeMs(raw['eventTime']),
      timeMs(object.metadata.creationTimestamp),
    ),
  };
}

function viewContainer(raw: Raw): ContainerView {
  const state = obj(raw['state']);
  const waiting = obj(state['waiting']);
  const running = obj(state['running']);
  const ended = obj(state['terminated'] ?? obj(raw['lastState'])['terminated']);
  const view: ContainerView = {
    name: str(raw['name']),
    ready: raw['ready'] === true,
    restarts: num(raw['restartCount']),
    isDown: Boolean(state['terminated']),
  };
  if (state['waiting']) view.waiting = str(waiting['reason']);
  if (str(waiting['message'])) view.waitingMessage = str(waiting['message']).slice(0, 1024);
  if (state['running']) view.runningSinceMs = timeMs(running['startedAt']);
  if (ended['finishedAt']) {
    const finishedAtMs = timeMs(ended['finishedAt']);
    const uptimeMs = Math.max(finishedAtMs - timeMs(ended['startedAt']), 0);
    view.ended = { reason: str(ended['reason']), exitCode: num(ended['exitCode']), uptimeMs, finishedAtMs };
  }
  return view;
}

export function viewPod(object: KubeObject): PodView | undefined {
  const status = obj((object as unknown as Raw)['status']);
  if (!object.metadata?.uid) return undefined;
  const ready = arr(status['conditions']).find((condition) => condition['type'] === 'Ready');
  const view: PodView = {
    namespace: str(object.metadata.namespace),
    name: object.metadata.name,
    uid: object.metadata.uid,
    phase: str(status['phase']),
    deleting: Boolean(object.metadata.deletionTimestamp),
    ready: ready?.['status'] === 'True',
    containers: [...arr(status['initContainerStatuses']), ...arr(status['containerStatuses'])].map(viewContainer),
  };
  const owner = controllerOf(object.metadata);
  if (owner) view.owner = owner;
  if (view.ready) view.readySinceMs = timeMs(ready?.['lastTransitionTime']);
  return view;
}

const revisionOf = (meta: ObjectMeta): number => Number(meta.annotations?.['deployment.kubernetes.io/revision']) || 0;

export function viewReplicaSet(object: KubeObject): ReplicaSetView | undefined {
  const raw = object as unknown as Raw;
  const status = obj(raw['status']);
  if (!object.metadata?.uid) return undefined;
  const failure = arr(status['conditions']).find((c) => c['type'] === 'ReplicaFailure' && c['status'] === 'True');
  const view: ReplicaSetView = {
    namespace: str(object.metadata.namespace),
    name: object.metadata.name,
    uid: object.metadata.uid,
    revision: revisionOf(object.metadata),
    templateHash: str(object.metadata.labels?.['pod-template-hash']),
    desired: num(obj(raw['spec'])['replicas'], 1),
    available: num(status['availableReplicas']),
    createdAtMs: timeMs(object.metadata.creationTimestamp),
  };
  const owner = controllerOf(object.metadata);
  if (owner) view.owner = owner;
  if (failure) view.createFailure = str(failure['message']).slice(0, 2048);
  return view;
}

export function viewDeployment(object: KubeObject): DeploymentView | undefined {
  const raw = object as unknown as Raw;
  const spec = obj(raw['spec']);
  const status = obj(raw['status']);
  if (!object.metadata?.uid) return undefined;
  return {
    namespace: str(object.metadata.namespace),
    name: object.metadata.name,
    uid: object.metadata.uid,
    generation: num(object.metadata.generation),
    observedGeneration: num(status['observedGeneration']),
    desired: num(spec['replicas'], 1),
    replicas: num(status['replicas']),
    updated: num(status['updatedReplicas']),
    ready: num(status['readyReplicas']),
    available: num(status['availableReplicas']),
    paused: spec['paused'] === true,
    revision: revisionOf(object.metadata),
    annotations: strings(object.metadata.annotations),
    labels: strings(object.metadata.labels),
  };
}
