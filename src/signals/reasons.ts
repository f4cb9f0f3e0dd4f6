import {
  isBecauseTerminating,
  missingConfigIn,
  missingStorageClassIn,
  saysImage,
  saysNotStarted,
  setupClassOf,
  waitsForClaims,
} from '../health/event-words.ts';
import { refusalTrouble } from '../health/refusals.ts';
import type { EventView } from '../kube/views.ts';

/** The failure that an event reports; undefined: this event does not report one. */
type Found = { class: string; cause?: { kind: string; name: string } } | undefined;
type Rule = (event: Pick<EventView, 'reason' | 'message' | 'object'>) => Found;

export interface ReasonRow {
  /** Absent: the reason is deliberately ignored. */
  rule?: Rule;
  why: string;
}

const ignored = (why: string): ReasonRow => ({ why });
const always = (failureClass: string, why: string, kind?: string): ReasonRow => ({
  rule: ({ object }) => (kind === undefined || object.kind === kind ? { class: failureClass } : undefined),
  why,
});
const onPods = (why: string, classOf: (message: string, reason: string) => string | undefined): ReasonRow => ({
  rule({ reason, message, object }) {
    const found = object.kind === 'Pod' ? classOf(message, reason) : undefined;
    return found === undefined ? undefined : { class: found };
  },
  why,
});

/** Other programs use this reason too, for other things than pods and Jobs. */
const refused: Rule = ({ message, object }) => {
  const found =
    creators.has(object.kind) || / "[^"]+" is forbidden/.test(message) ? refusalTrouble(message) : undefined;
  return found && { class: found.class, ...(found.cause && { cause: found.cause }) };
};
const creators: ReadonlySet<string> = new Set(['ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob']);

function failedContainer(message: string): string {
  if (missingConfigIn(message)) return 'ConfigMissing';
  if (saysImage(message)) return 'ImagePull';
  return saysNotStarted(message) ? 'CrashLoop' : 'SandboxFailed';
}

const noStorage: Rule = ({ message, object }) => {
  if (object.kind !== 'PersistentVolumeClaim') return undefined;
  const name = missingStorageClassIn(message);
  return { class: 'StorageFailed', ...(name !== undefined && { cause: { kind: 'StorageClass', name } }) };
};
const claimFailed: ReasonRow = { rule: noStorage, why: 'a claim gets no volume; a class that is missing is the cause' };

const setup = onPods('what a pod waits for before its containers', (message, reason) =>
  setupClassOf({ reason, message }),
);
const image = onPods('the image does not exist, or cannot be pulled', () => 'ImagePull');
const jobFailed = always('JobFailed', 'the Job has given up', 'Job');
const blind = always('AutoscalerBlind', 'it cannot see what to scale by, or cannot scale', 'HorizontalPodAutoscaler');
const noClass = 'no class covers it; extraReasons can';
const leaving = 'the pod is on its way out anyway';
const nodeSays = "a node that is out of order shows in its Ready condition, its pods' troubles in their own status";
const stillRuns = 'the pod runs on as it was';

/**
 * Every Warning reason of Kubernetes itself, and what it means here. A reason that is in none of these rows, and not in
 * the config's extraReasons, is counted and dropped, never guessed at.
 *
 * Normal events are not watched: the objects' status shows the same as the two that matter. "Back-off pulling image"
 * (BackOff on a Pod) is the container's ImagePullBackOff, and NodeNotReady on a Node is its Ready condition, for as
 * long as it lasts. A recording has no status: there the first one counts as it is (isNormalFailure). The second one
 * comes only once, and does not say whether the node was back a moment later. A claim's FailedBinding, also Normal, is
 * its phase.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/events/event.go
 */
const rows: Readonly<Record<string, ReasonRow>> = {
  // Controllers of pods and Jobs.
  FailedCreate: { rule: refused, why: 'pods or Jobs were refused; a quota is the cause, anything else is named' },
  ReplicaSetCreateError: {
    rule: ({ message }) => (isBecauseTerminating(message) ? undefined : { class: 'CreateRejected' }),
    why: 'not even the ReplicaSet could be created',
  },
  BackoffLimitExceeded: jobFailed,
  DeadlineExceeded: jobFailed,
  PodFailurePolicy: jobFailed,
  MaxFailedIndexesExceeded: jobFailed,
  FailedIndexes: jobFailed,
  FailedDelete: ignored('a pod too many for a while; the controller tries again'),
  FailedDaemonPod: ignored('a failed pod is replaced; why it failed is in its own status'),
  TooManySucceededPods: ignored('more was done than asked for'),
  MissSchedule: ignored(noClass),
  TooManyMissedTimes: ignored(noClass),
  UnparseableSchedule: ignored(noClass),
  InvalidSchedule: ignored(noClass),
  UnknownTimeZone: ignored(noClass),
  UnexpectedJob: ignored('a Job that the CronJob did not make; nothing failed'),

  // kubelet, on Pods.
  Failed: onPods('an image, a ConfigMap or a container: the words tell which', failedContainer),
  BackOff: onPods('of a container that crashes, or of an image: the words tell which', (message) => {
    if (/restarting failed container/i.test(message)) return 'CrashLoop';
    return saysImage(message) ? 'ImagePull' : undefined;
  }),
  Unhealthy: onPods('a probe failed; whether that made pods unready is read again', () => 'ProbeFailing'),
  FailedMount: setup,
  FailedAttachVolume: setup,
  FailedMapVolume: setup,
  FailedCreatePodSandBox: setup,
  FailedCreatePodContainer: setup,
  NetworkNotReady: setup,
  FailedPrepareDynamicResources: setup,
  FailedPostStartHook: onPods('the container is killed for it and started again', () => 'CrashLoop'),
  InspectFailed: image,
  ErrImageNeverPull: image,
  Evicted: onPods('whether the owner is short of pods is read again', () => 'Evicted'),
  Preempting: onPods('evicted to make room for a critical pod', () => 'Evicted'),
  ProbeWarning: ignored('the probe succeeded'),
  VolumeResizeFailed: ignored(stillRuns),
  FailedPodSandBoxStatus: ignored('kubelet asks its runtime again; a pod that cannot start says so otherwise'),
  FailedKillPod: ignored(leaving),
  FailedPreStopHook: ignored(leaving),
  ExceededGracePeriod: ignored(leaving),
  FailedSync: ignored('no news; what failed has an Event of its own'),
  FailedToRetrieveImagePullSecret: ignored('the image may be had without; if not, the pull says so'),
  DNSConfigForming: ignored(stillRuns),
  VolumeConditionAbnormal: ignored(stillRuns),
  ResizeError: ignored(stillRuns),
  ResizeInfeasible: ignored(stillRuns),
  NodeNotReady: ignored('its node: one incident, from the Ready condition of the Node'),

  // kubelet, on Nodes.
  SystemOOM: ignored(nodeSays),
  EvictionThresholdMet: ignored('the evicted pods show it'),
  FreeDiskSpaceFailed: ignored(nodeSays),
  ImageGCFailed: ignored(nodeSays),
  ContainerGCFailed: ignored(nodeSays),
  KubeletSetupFailed: ignored(nodeSays),
  InvalidDiskCapacity: ignored(nodeSays),
  Rebooted: ignored(nodeSays),
  Shutdown: ignored(nodeSays),
  CgroupV1: ignored('advice for whoever runs the node'),
  MissingClusterDNS: ignored('advice for whoever runs the node'),

  // The scheduler.
  FailedScheduling: onPods(
    "no node for it; of one that waits for its claims the pod's status and the claims tell",
    (message) => (waitsForClaims(message) ? undefined : 'Unschedulable'),
  ),

  // Volumes.
  ProvisioningFailed: claimFailed,
  FailedBinding: claimFailed,
  ClaimLost: claimFailed,
  ClaimMisbound: claimFailed,
  VolumeMismatch: claimFailed,
  ExternalExpanding: ignored('another controller will see to it'),
  VolumeFailedDelete: ignored('nobody waits for a volume that is being thrown away'),
  VolumeFailedRecycle: ignored('nobody waits for a volume that is being thrown away'),

  // Autoscalers.
  FailedGetScale: blind,
  FailedComputeMetricsReplicas: blind,
  FailedGetResourceMetric: blind,
  FailedGetContainerResourceMetric: blind,
  FailedGetPodsMetric: blind,
  FailedGetObjectMetric: blind,
  FailedGetExternalMetric: blind,
  FailedRescale: blind,
  SelectorRequired: blind,
  InvalidSelector: blind,
  AmbiguousSelector: blind,

  // Services and disruption budgets.
  SyncLoadBalancerFailed: ignored(noClass),
  UnAvailableLoadBalancer: ignored(noClass),
  NoPods: ignored('a budget that protects nobody; nothing failed'),
  CalculateExpectedPodCountFailed: ignored('a budget that cannot count; nothing failed'),
  UnmanagedPods: ignored('advice about a budget; nothing failed'),
};

const table: ReadonlyMap<string, ReasonRow> = new Map(Object.entries(rows));

/** Not a Warning, but it reports a failure, again and again while that lasts. */
export const isNormalFailure = ({ type, reason, message, object }: EventView): boolean =>
  type === 'Normal' && reason === 'BackOff' && object.kind === 'Pod' && saysImage(message);

/** undefined: the table has no row for this reason. */
export const rowOf = (reason: string): ReasonRow | undefined => table.get(reason);
