import type { KubeObject } from '../../kube/api.ts';

/** These are the parts of Kubernetes' objects that the controllers and the simulated kubelet read or write. Everything else is passed on unread. */
export interface StatusCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string | null;
  lastHeartbeatTime?: string;
  observedGeneration?: number;
}

export interface Container {
  name: string;
  image?: string;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  readinessProbe?: { initialDelaySeconds?: number; periodSeconds?: number; [field: string]: unknown };
  /** "Always" makes an init container a sidecar. */
  restartPolicy?: string;
  [field: string]: unknown;
}

export interface Toleration {
  key?: string;
  operator?: string;
  value?: string;
  effect?: string;
  tolerationSeconds?: number;
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
  timeAdded?: string;
}

export interface NodeTerm {
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
  matchFields?: { key: string; operator: string; values?: string[] }[];
}

export interface PodSpec {
  nodeName?: string;
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeTerm[] } };
    [field: string]: unknown;
  };
  tolerations?: Toleration[];
  containers?: Container[];
  initContainers?: Container[];
  restartPolicy?: string;
  terminationGracePeriodSeconds?: number;
  volumes?: { name: string }[];
  [field: string]: unknown;
}

export interface Terminated {
  exitCode: number;
  reason: string;
  startedAt: string;
  finishedAt: string;
  containerID?: string;
}

export interface ContainerState {
  waiting?: { reason: string; message?: string };
  running?: { startedAt: string };
  terminated?: Terminated;
}

export interface ContainerStatus {
  name: string;
  image: string;
  imageID: string;
  containerID?: string;
  ready: boolean;
  started: boolean;
  restartCount: number;
  state: ContainerState;
  lastState: ContainerState;
  [field: string]: unknown;
}

export interface PodStatus {
  phase?: string;
  reason?: string;
  message?: string;
  conditions?: StatusCondition[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
  podIP?: string;
  startTime?: string;
  [field: string]: unknown;
}

export interface PodObject extends KubeObject {
  spec?: PodSpec;
  status?: PodStatus;
}

export interface Template {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: PodSpec;
}

export interface NodeObject extends KubeObject {
  spec?: { taints?: Taint[]; unschedulable?: boolean };
  status?: {
    conditions?: StatusCondition[];
    allocatable?: Record<string, string>;
    capacity?: Record<string, string>;
    addresses?: { type: string; address: string }[];
  };
}

interface Selector {
  matchLabels?: Record<string, string>;
}

export interface ReplicaSetObject extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; selector?: Selector; template?: Template };
  status?: {
    replicas?: number;
    fullyLabeledReplicas?: number;
    readyReplicas?: number;
    availableReplicas?: number;
    terminatingReplicas?: number;
    observedGeneration?: number;
    conditions?: StatusCondition[];
  };
}

export interface DeploymentObject extends KubeObject {
  spec?: {
    replicas?: number;
    minReadySeconds?: number;
    selector?: Selector;
    template?: Template;
    paused?: boolean;
    progressDeadlineSeconds?: number;
    revisionHistoryLimit?: number;
    strategy?: {
      type?: string;
      rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
    };
  };
  status?: DeploymentStatus;
}

export interface DeploymentStatus {
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  unavailableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: StatusCondition[];
}
