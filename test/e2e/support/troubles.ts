import { deployment } from './incidents.ts';

/** One way to be broken, and what tapfix must make of it. */
export interface Trouble {
  name: string;
  /** Applied in a namespace of its own. */
  manifest: string;
  /** Labels of the namespace. */
  labels?: Record<string, string>;
  class: string;
  /** Kind and name in the incident's key. */
  root: string;
  /** From here on anybody could see it: the reason of an event, or a state of a container or a condition. */
  visible: { event: string } | { state: string } | { condition: string };
}

const container = (name: string, args: string[], more = ''): string => `
      terminationGracePeriodSeconds: 1
      containers:
        - name: ${name}
          image: localhost/app:1.0
          imagePullPolicy: IfNotPresent
          args: ${JSON.stringify(args)}
          ${more}`;

const workload = (kind: string, name: string, pod: string, more = ''): string => `
apiVersion: apps/v1
kind: ${kind}
metadata: {name: ${name}}
spec:
  ${more}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:${pod}
`;

const probe = (type: string, more = ''): string =>
  `${type}: {httpGet: {path: /, port: 8080}, periodSeconds: 1, failureThreshold: 2${more}}`;

export const troubles: readonly Trouble[] = [
  {
    name: 'a quota that is too tight',
    manifest: `
apiVersion: v1
kind: ResourceQuota
metadata: {name: tight}
spec: {hard: {requests.memory: 1Mi}}
---
${deployment('api', 1, ['run'])}`,
    class: 'QuotaExceeded',
    root: 'ResourceQuota/tight',
    visible: { event: 'FailedCreate' },
  },
  {
    name: 'a StatefulSet that PodSecurity refuses',
    labels: { 'pod-security.kubernetes.io/enforce': 'restricted' },
    manifest: workload('StatefulSet', 'db', container('app', ['run']), 'serviceName: db'),
    class: 'CreateRejected',
    root: 'StatefulSet/db',
    visible: { event: 'FailedCreate' },
  },
  {
    name: 'a crash loop',
    manifest: deployment('crasher', 1, ['crash']),
    class: 'CrashLoop',
    root: 'Deployment/crasher',
    visible: { event: 'BackOff' },
  },
  {
    name: 'a container that is killed for memory',
    manifest: deployment('hungry', 1, ['oom']),
    class: 'OOMKilled',
    root: 'Deployment/hungry',
    visible: { state: 'OOMKilled twice' },
  },
  {
    name: 'a mistyped image',
    manifest: deployment('typo', 1, ['run']).replace('localhost/app:1.0', 'localhost/app:1.o'),
    class: 'ImagePull',
    root: 'Deployment/typo',
    visible: { state: 'ErrImagePull' },
  },
  {
    name: 'a liveness probe that fails again and again',
    manifest: workload('Deployment', 'flappy', container('app', ['unready'], probe('livenessProbe'))),
    class: 'CrashLoop',
    root: 'Deployment/flappy',
    visible: { event: 'BackOff' },
  },
  {
    name: 'a readiness probe that fails',
    manifest: deployment('unready', 2, ['unready']).replace('progressDeadlineSeconds: 30', ''),
    class: 'ProbeFailing',
    root: 'Deployment/unready',
    visible: { event: 'Unhealthy' },
  },
  {
    name: 'a missing ConfigMap',
    manifest: workload(
      'Deployment',
      'confless',
      container('app', ['run'], 'envFrom: [{configMapRef: {name: absent}}]'),
    ),
    class: 'ConfigMissing',
    root: 'Deployment/confless',
    visible: { state: 'CreateContainerConfigError' },
  },
  {
    name: 'a claim whose StorageClass there is not',
    manifest: `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: no-such-class, resources: {requests: {storage: 1Gi}}}
`,
    class: 'StorageFailed',
    root: 'StorageClass/no-such-class',
    visible: { event: 'ProvisioningFailed' },
  },
  {
    name: 'pods that fit on no node',
    manifest: workload('Deployment', 'huge', container('app', ['run'], 'resources: {requests: {cpu: "400"}}')),
    class: 'Unschedulable',
    root: 'Deployment/huge',
    visible: { event: 'FailedScheduling' },
  },
  {
    name: 'a failed Job of a CronJob',
    manifest: `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers: [{name: app, image: localhost/app:1.0, imagePullPolicy: IfNotPresent, args: [crash]}]
`,
    class: 'JobFailed',
    root: 'CronJob/nightly',
    visible: { event: 'BackoffLimitExceeded' },
  },
  {
    name: 'a rollout that does not come to its end',
    manifest: workload(
      'Deployment',
      'stuck',
      container('app', ['run'], probe('startupProbe', ', initialDelaySeconds: 600')),
      'progressDeadlineSeconds: 5',
    ),
    class: 'RolloutStuck',
    root: 'Deployment/stuck',
    visible: { condition: 'ProgressDeadlineExceeded' },
  },
  {
    name: 'an autoscaler without metrics',
    manifest: `${deployment('scaled', 1, ['run'])}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaled}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: scaled}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`,
    class: 'AutoscalerBlind',
    root: 'HorizontalPodAutoscaler/scaled',
    visible: { event: 'FailedGetResourceMetric' },
  },
  {
    name: 'a DaemonSet that crashes',
    manifest: workload('DaemonSet', 'agent', container('app', ['crash'])),
    class: 'CrashLoop',
    root: 'DaemonSet/agent',
    visible: { event: 'BackOff' },
  },
];
