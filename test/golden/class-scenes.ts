import { type aRollout, killed, type RolloutOptions, waiting } from '../support/rollout.ts';
import { aConfig } from '../support/config.ts';
import type { RemediationStatus } from '../../src/kube/remediation.ts';

type Rollout = ReturnType<typeof aRollout>;

/** A broken cluster, and the card that is made of it. */
export interface ClassScene {
  name: string;
  class: string;
  rollout: RolloutOptions;
  /** What else is there, or was said. */
  also?: (shop: Rollout) => void;
  object?: { kind: string; name: string };
  namespace?: string;
  logs?: boolean;
  sightings?: Partial<NonNullable<RemediationStatus['sightings']>>;
}

const limits = (memory: string) => ({ resources: { limits: { memory } } });
const config = (name: string) => ({ envFrom: [{ configMapRef: { name } }] });
const serving = { ready: true };
const on = (nodeName: string, pod: object = {}) => ({ ...pod, spec: { nodeName } });
const ended = { reason: 'Error', exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const evicted = { status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. Container app was using 300Mi, request is 0, has larger consumption of memory. ', containerStatuses: [] } }; // prettier-ignore
const unplaced = {
  spec: { containers: [{ name: 'app', resources: { requests: { cpu: '4' } } }] },
  status: { phase: 'Pending', containerStatuses: [], conditions: [{ type: 'PodScheduled', status: 'False', lastTransitionTime: '2026-11-16T03:12:12Z', reason: 'Unschedulable', message: '0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.' }] },
}; // prettier-ignore
const scaledBy = (time: string) => ({ metadata: { managedFields: [{ manager: 'kubectl', subresource: 'scale', time, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] } });
const typo = waiting('ImagePullBackOff', 'Back-off pulling image "shop/web:1.O": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "shop/web:1.O": failed to resolve reference "shop/web:1.O": shop/web:1.O: not found');
const crashed = { restarts: 14, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: { ...ended, message: 'no database' } } };
const denied = 'pods "web-2-x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "app" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)';
const failedJob = { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' }], failed: 3 };
const none = { ready: 0, desired: 0 };

export const classScenes: readonly ClassScene[] = [
  { name: 'image proposed', class: 'ImagePull', rollout: { after: { image: 'shop/web:1.O' }, pods: [typo], oldPods: [serving, serving] } },
  { name: 'image noticed', class: 'ImagePull', rollout: { after: { image: 'shop/web:1.O' }, pods: [typo, typo], isOldKnown: false }, sightings: { ready: 0 } },
  { name: 'image change proposed', class: 'ImagePull', rollout: { after: { image: 'shop/web:1.O' }, pods: [typo], oldPods: [serving, serving], isOldKnown: false } },
  { name: 'config proposed', class: 'ConfigMissing', rollout: { before: config('web-5f7'), after: config('web-7c2'), pods: [waiting('CreateContainerConfigError', 'configmap "web-7c2" not found')], oldPods: [serving, serving] } },
  { name: 'memory proposed', class: 'OOMKilled', rollout: { before: limits('256Mi'), after: limits('64Mi'), pods: [killed(5), killed(4)] }, sightings: { ready: 0, desired: 2 } },
  { name: 'memory noticed', class: 'OOMKilled', rollout: { before: limits('32Mi'), after: { ...limits('64Mi'), image: 'shop/web:1.41' }, pods: [killed(5)] }, sightings: { ready: 0 } },
  { name: 'crash with its log', class: 'CrashLoop', rollout: { pods: [crashed], isOldKnown: false }, logs: true, sightings: { ready: 0, desired: 1 }, also: ({ server }) => void server.logs.set('shop/web-2-0/app/previous', 'connecting to postgres://web:hunter2@db:5432/shop\npanic: no route to db\n') },
  { name: 'crash of one pod proposed', class: 'CrashLoop', rollout: { pods: [on('worker-3', crashed), serving, serving], isOldKnown: false } },
  { name: 'crash of one pod within its budget noticed', class: 'CrashLoop', rollout: { pods: [on('worker-3', crashed), serving, serving], isOldKnown: false }, also: ({ server }) => void server.seed('PodDisruptionBudget', 'shop', { metadata: { name: 'web' }, spec: { minAvailable: 3, selector: { matchLabels: { app: 'web' } } } }) },
  { name: 'rollout proposed', class: 'RolloutStuck', rollout: { after: { image: 'shop/web:1.42' }, pods: [{}], oldPods: [serving, serving] }, also: ({ say }) => say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503') },
  { name: 'policy noticed', class: 'CreateRejected', rollout: { after: { image: 'shop/web:1.42' } }, sightings: { ready: 0 }, also: ({ server }) => void server.change('ReplicaSet', 'shop', 'web-2', { status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: denied }] } }) },
  { name: 'probe noticed', class: 'ProbeFailing', rollout: { after: { image: 'shop/web:1.41' }, pods: [{}, {}], oldPods: [serving] }, sightings: { ready: 1 }, also: ({ say }) => say('Unhealthy', 'Readiness probe failed: Get "http://10.1.2.3:8080/ready": dial tcp 10.1.2.3:8080: connect: connection refused') },
  { name: 'probe of all proposed', class: 'ProbeFailing', rollout: { after: { image: 'shop/web:1.41' }, pods: [{}, {}, {}], deployment: { spec: { strategy: { type: 'Recreate' } } } }, sightings: { ready: 0 }, also: ({ say }) => say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503') },
  { name: 'scheduling proposed', class: 'Unschedulable', rollout: { pods: [serving, unplaced, unplaced], deployment: scaledBy('2026-11-16T03:12:10Z') }, sightings: { ready: 1 }, also: ({ server }) => void server.seed('Event', 'shop', { metadata: { name: 's' }, reason: 'ScalingReplicaSet', message: 'Scaled up replica set web-2 from 1 to 3', lastTimestamp: '2026-11-16T03:12:11Z', involvedObject: { kind: 'Deployment', name: 'web', uid: server.get('Deployment', 'shop', 'web')!.metadata.uid } }) },
  { name: 'scheduling noticed', class: 'Unschedulable', rollout: { pods: [unplaced, unplaced], deployment: scaledBy('2026-11-16T03:12:10Z') }, sightings: { ready: 0, desired: 2 } },
  { name: 'sandbox proposed', class: 'SandboxFailed', rollout: { pods: [on('worker-3', waiting('ContainerCreating'))], oldPods: [serving, serving] }, also: ({ say }) => say('FailedCreatePodSandBox', 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a1b": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized') },
  { name: 'sandbox noticed', class: 'SandboxFailed', rollout: { pods: [on('worker-3', waiting('ContainerCreating')), on('worker-3', waiting('ContainerCreating'))], oldPods: [serving] }, sightings: { ready: 1 }, also: ({ say }) => ['web-2-0', 'web-2-1'].forEach((name) => say('FailedCreatePodSandBox', 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a1b": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized', { kind: 'Pod', name })) },
  { name: 'volume noticed', class: 'VolumeStuck', rollout: { pods: [on('worker-3', waiting('ContainerCreating'))] }, sightings: { ready: 0, desired: 1 }, also: ({ say }) => say('FailedAttachVolume', 'Multi-Attach error for volume "pvc-7f0c" Volume is already used by pod(s) web-1-0') },
  { name: 'evicted noticed', class: 'Evicted', rollout: { pods: [on('worker-3', evicted), on('worker-3', evicted), serving] }, sightings: { ready: 1 } },
  { name: 'claim noticed', class: 'StorageFailed', rollout: {}, object: { kind: 'PersistentVolumeClaim', name: 'data' }, sightings: none, also: ({ server }) => { const { metadata } = server.seed('PersistentVolumeClaim', 'shop', { metadata: { name: 'data' }, spec: { storageClassName: 'gp3', resources: { requests: { storage: '10Gi' } } }, status: { phase: 'Pending' } }); server.seed('Event', 'shop', { metadata: { name: 'p' }, reason: 'ProvisioningFailed', message: 'failed to provision volume with StorageClass "gp3": rpc error: code = ResourceExhausted desc = volume limit exceeded', involvedObject: { kind: 'PersistentVolumeClaim', name: 'data', uid: metadata.uid } }); } },
  { name: 'storage class noticed', class: 'StorageFailed', rollout: {}, object: { kind: 'StorageClass', name: 'fast' }, namespace: 'tapfix', sightings: { ...none, affected: ['shop/StatefulSet/db', 'pay/StatefulSet/ledger'] }, also: ({ server }) => { for (const [namespace, name] of [['shop', 'data-db-0'], ['pay', 'data-ledger-0']] as const) server.seed('PersistentVolumeClaim', namespace, { metadata: { name }, spec: { storageClassName: 'fast' }, status: { phase: 'Pending' } }); } },
  { name: 'job noticed', class: 'JobFailed', rollout: {}, object: { kind: 'CronJob', name: 'nightly-report' }, sightings: none, also: ({ server }) => { const { uid } = server.seed('CronJob', 'shop', { metadata: { name: 'nightly-report' } }).metadata; const job = server.seed('Job', 'shop', { metadata: { name: 'nightly-report-29913629', ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly-report', uid, controller: true }] }, spec: { backoffLimit: 2 }, status: failedJob }).metadata; server.seed('Pod', 'shop', { metadata: { name: 'n-1', ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.name, uid: job.uid, controller: true }] }, status: { phase: 'Failed', containerStatuses: [{ name: 'report', state: { terminated: ended } }] } }); } },
  { name: 'node noticed', class: 'NodeDown', rollout: { pods: [on('worker-3'), on('worker-3')] }, object: { kind: 'Node', name: 'worker-3' }, namespace: 'tapfix', sightings: { ...none, affected: ['shop/Deployment/web', 'shop/StatefulSet/db'] }, also: ({ server }) => { server.seed('Node', undefined, { metadata: { name: 'worker-3' }, status: { conditions: [{ type: 'Ready', status: 'Unknown', message: 'Kubelet stopped posting node status.', lastTransitionTime: '2026-11-16T03:11:20Z' }] } }); const { uid } = server.seed('StatefulSet', 'shop', { metadata: { name: 'db' } }).metadata; server.seed('Pod', 'shop', { metadata: { name: 'db-0', ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid, controller: true }] }, spec: { nodeName: 'worker-3' } }); } },
  { name: 'autoscaler noticed', class: 'AutoscalerBlind', rollout: {}, object: { kind: 'HorizontalPodAutoscaler', name: 'web' }, sightings: none, also: ({ server }) => void server.seed('HorizontalPodAutoscaler', 'shop', { metadata: { name: 'web' }, spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 10 }, status: { currentReplicas: 3, conditions: [{ type: 'ScalingActive', status: 'False', lastTransitionTime: '2026-11-16T03:07:00Z', message: 'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)' }] } }) },
];

export const withLogs = aConfig({ diagnosis: { logs: true } });
