import type { KubeObject, ObjectMeta, OwnerReference } from './api.ts';
import {
  beginning,
  conditionIn,
  type ConditionView,
  controllerOf,
  identityIn,
  num,
  obj,
  specIn,
  statusIn,
  str,
  strings,
  timeMs,
} from './raw.ts';
import { qualifiedKind } from './resources.ts';

export { controllerOf, hasCondition, timeMs } from './raw.ts';
export { type ContainerView, type PodView, viewPod } from './views-pod.ts';

/**
 * Slim views: the few fields we decide on. Built once, at the edge, from whatever came off the wire;
 * nothing behind these files sees a raw object of the cluster's. Odd input gives empty fields, never a throw.
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
  /** How its rollout goes, by its own words. */
  progressing?: ConditionView;
  /** Its pods are refused, by its own words. */
  refused?: ConditionView;
  revision: number;
  annotations: Record<string, string>;
  labels: Record<string, string>;
}

/** A recorder that has the same to say often puts it together: https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go */
const combined = /^\(combined from similar events\): /;

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
    type: str(raw['type']),
    reason: beginning(raw['reason'], 128),
    message: beginning(raw['message'], 4096).replace(combined, ''),
    object: {
      kind: qualifiedKind(str(about['kind']), str(about['apiVersion'])),
      name: str(about['name']),
      namespace: str(about['namespace']) || who.namespace,
      uid: str(about['uid']),
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
  if (failure?.status === 'True') view.createFailure = failure.message;
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
    annotations: strings(object.metadata.annotations),
    labels: strings(object.metadata.labels),
  };
}
