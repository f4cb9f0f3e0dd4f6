import type { ObjectMeta } from '../../../src/kube/api.ts';
import type {
  DeploymentObject,
  DeploymentStatus,
  NodeObject,
  PodObject,
  PodSpec,
  ReplicaSetObject,
} from '../../../src/sim/common/shapes.ts';

/** Builders of raw objects: each test names only what it is about. */
export const nowMs = Date.parse('2026-11-16T03:12:00Z');
export const at = (seconds: number): string => new Date(nowMs + seconds * 1000).toISOString().replace('.000Z', 'Z');

export const meta = (name: string, over: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name,
  namespace: 'shop',
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: at(-3600),
  ...over,
});

export const aDeployment = (
  spec: NonNullable<DeploymentObject['spec']> = {},
  status: DeploymentStatus = {},
): DeploymentObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: meta('web'),
  spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: { spec: {} }, ...spec },
  status,
});

interface SetCounts {
  size: number;
  available?: number;
  replicas?: number;
  revision?: number;
  /** Seconds before now. */
  age?: number;
  annotations?: Record<string, string>;
  status?: ReplicaSetObject['status'];
}

export const aSet = (
  name: string,
  { size, available = 0, replicas = size, revision = 1, age = 3600, annotations = {}, status }: SetCounts,
): ReplicaSetObject => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: meta(name, {
    creationTimestamp: at(-age),
    annotations: { 'deployment.kubernetes.io/revision': String(revision), ...annotations },
  }),
  spec: { replicas: size },
  status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1, ...status },
});

interface PodOptions {
  ready?: boolean;
  /** Seconds before now. */
  readyFor?: number;
  age?: number;
  phase?: string;
  node?: string;
  restarts?: number;
  deleting?: boolean;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finished?: number;
  spec?: PodSpec;
}

export const aPod = (name: string, options: PodOptions = {}): PodObject => {
  const { ready = true, readyFor = 600, age = 3600, phase = 'Running', node = 'node-1', restarts = 0 } = options;
  const terminated = { exitCode: 1, reason: 'Error', startedAt: at(-age), finishedAt: at(-(options.finished ?? 0)) };
  return {
    metadata: meta(name, {
      creationTimestamp: at(-age),
      ...(options.deleting && { deletionTimestamp: at(-1) }),
      labels: options.labels ?? {},
      annotations: options.annotations ?? {},
    }),
    spec: { ...(node && { nodeName: node }), ...options.spec },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at(-readyFor) }],
      containerStatuses: [
        {
          name: 'app',
          image: 'shop/web:1',
          imageID: '',
          ready,
          started: ready,
          restartCount: restarts,
          state: options.finished === undefined ? {} : { terminated },
          lastState: {},
        },
      ],
    },
  };
};

export const aNode = (
  name: string,
  over: {
    spec?: NodeObject['spec'];
    labels?: Record<string, string>;
    status?: NodeObject['status'];
    ready?: string;
  } = {},
): NodeObject => ({
  metadata: { ...meta(name), labels: { 'kubernetes.io/hostname': name, ...over.labels } },
  spec: over.spec ?? {},
  status: {
    allocatable: { cpu: '2', memory: '1Gi', pods: '110' },
    conditions: [
      {
        type: 'Ready',
        status: (over.ready ?? 'True') as 'True',
        lastHeartbeatTime: at(-5),
        lastTransitionTime: at(-600),
      },
    ],
    ...over.status,
  },
});
