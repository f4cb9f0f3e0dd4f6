import type { Config } from '../config/schema.ts';
import { autoscalerTroubles, claimTroubles, type KnownClass, nodeTroubles } from '../health/cluster.ts';
import { isFinished, podTroubles } from '../health/pod.ts';
import { refusalTrouble, rolloutTroubles } from '../health/refusals.ts';
import type { KubeObject } from '../kube/api.ts';
import { isKnownKind, resources } from '../kube/resources.ts';
import {
  type AutoscalerView,
  type ClaimView,
  type DeploymentView,
  type EventView,
  type JobView,
  type NodeView,
  type PodView,
  type SetView,
  viewEvent,
} from '../kube/views.ts';
import { isNormalFailure, rowOf } from './reasons.ts';
import { type Signal, signalsOf } from './signal.ts';
import { nothingKnown, type PlacedPod, type Surroundings } from './surroundings.ts';

/** If a pod's node is down, nothing else about the pod is worth reporting, also when it is being deleted. */
export function downWithItsNode(pod: Omit<PlacedPod, 'node'>, node: string): Signal {
  const said = { reason: 'NodeNotReady', message: `its node ${node} is not ready` };
  return signalsOf('Pod', pod, [{ class: 'NodeDown', cause: { kind: 'Node', name: node }, ...said }])[0]!;
}

/**
 * Pure. The signals from a pod's status, and who is to blame (health/pod.ts lists the troubles, and when they begin).
 */
export function detectPod(pod: PodView, nowMs: number, around: Surroundings = nothingKnown): Signal[] {
  const { node } = pod;
  if (node !== undefined && !isFinished(pod) && around.isDownWithItsNode(pod)) return [downWithItsNode(pod, node)];
  const troubles = podTroubles(pod, nowMs).map((trouble) => {
    const claim = trouble.cause?.kind === 'PersistentVolumeClaim' ? trouble.cause.name : undefined;
    const missing = claim === undefined ? undefined : around.missingClassOf(pod.namespace, claim);
    return missing === undefined ? trouble : { ...trouble, cause: { kind: 'StorageClass', name: missing } };
  });
  return signalsOf('Pod', pod, troubles);
}

/*
 * Pure. The signals from the status of everything but pods. If a fresh reading can ask the same question, the code is
 * in health/, so that both mean the same thing.
 */

/** The condition keeps the text of the first refusal. The fresh reading finds out which refusals are true now. */
export function detectDeployment(deployment: DeploymentView): Signal[] {
  const { desired, refused, deleting } = deployment;
  const refusal = desired > 0 && !deleting && refused ? refusalTrouble(refused.message) : undefined;
  return signalsOf('Deployment', deployment, [...rolloutTroubles(deployment), ...(refusal ? [refusal] : [])]);
}

/**
 * These kinds have no condition for it. Missing pods that no rollout or deletion explains are a symptom. The fresh
 * reading finds out from events whether pods are refused, because the first event may never have arrived here.
 */
export function detectSet(set: SetView): Signal[] {
  const { kind, desired, pods, settled, deleting } = set;
  if (deleting || !settled || pods >= desired) return [];
  const message = `${desired - pods} of ${desired} pods are missing`;
  return signalsOf(kind, set, [{ class: 'CreateRejected', reason: 'PodsMissing', message }]);
}

/**
 * As long as events are kept. A CronJob is judged by its last run, however long ago; a single Job that failed last week
 * is history.
 */
const newsMs = 3_600_000;

export function detectJob(job: JobView, nowMs: number): Signal[] {
  const { failed, owner, deleting } = job;
  const isNews = failed && (owner?.kind === 'CronJob' || nowMs - failed.sinceMs < newsMs);
  if (deleting || !failed || !isNews) return [];
  const found = [{ class: 'JobFailed', reason: failed.reason || 'Failed', message: failed.message }];
  const { sinceMs: saidAtMs } = failed;
  return signalsOf('Job', job, found).map((signal) => ({ ...signal, ...(saidAtMs > 0 && { saidAtMs }) }));
}

export const detectClaim = (claim: ClaimView, known: KnownClass): Signal[] =>
  signalsOf('PersistentVolumeClaim', claim, claimTroubles(claim, known));

export const detectAutoscaler = (autoscaler: AutoscalerView): Signal[] =>
  signalsOf('HorizontalPodAutoscaler', autoscaler, autoscalerTroubles(autoscaler));

/**
 * A node that somebody has cordoned, or that the autoscaler removes, is expected to go. Pods that are still on it send
 * their own signals.
 */
export const detectNode = (node: NodeView): Signal[] =>
  node.isLeaving ? [] : signalsOf('Node', { ...node, namespace: '' }, nodeTroubles(node));

/**
 * The form of a possible name. The API server does not check which object an event names, so anybody who may write
 * events could make us keep megabytes of text.
 * https://github.com/kubernetes/apimachinery/blob/master/pkg/api/validation/path/name.go
 */
const possibleName = /^(?!\.{1,2}$)[^/%\s\p{C}]{1,253}$/u;
const [longestKind, longestUid] = [320, 128];

/** undefined: it cannot be known which object it is about. */
export function readEvent(object: KubeObject): EventView | undefined {
  const event = viewEvent(object);
  if (!event) return undefined;
  const { kind, name, namespace, uid } = event.object;
  const isPossible = possibleName.test(name) && (namespace === '' || possibleName.test(namespace));
  return isPossible && kind.length <= longestKind && uid.length <= longestUid ? event : undefined;
}

type Extra = Config['extraReasons'];
type Found = Pick<Signal, 'class' | 'cause'>;

/** A reason that the operator listed gets the class that they chose, Warning or not. */
function ofOwnReasons({ reason }: EventView, extra: Extra): Found | undefined {
  const found = extra.find((one) => one.reason === reason);
  return found && { class: found.class };
}

const ofTable = (event: EventView): Found | undefined =>
  event.type === 'Warning' || isNormalFailure(event) ? rowOf(event.reason)?.rule?.(event) : undefined;

/** Events about a Node are stored in the namespace default, which has nothing to do with it. */
const isClusterWide = (kind: string): boolean => isKnownKind(kind) && !resources[kind].namespaced;

/** Pure. undefined: not a failure that tapfix knows; unknown reasons are never guessed at. */
export function detectEvent(event: EventView, extra: Extra = []): Signal | undefined {
  const found = ofOwnReasons(event, extra) ?? ofTable(event);
  if (!found) return undefined;
  const { kind, name, uid, namespace } = event.object;
  const where = isClusterWide(kind) ? '' : namespace;
  const { reason, message, lastSeenMs: saidAtMs } = event;
  return {
    ...found,
    namespace: where,
    object: { kind, name, uid },
    reason,
    message,
    ...(saidAtMs > 0 && { saidAtMs }),
  };
}
