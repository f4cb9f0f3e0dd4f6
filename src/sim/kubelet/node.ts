import type { Condition, Taint } from '../common/shapes.ts';
import { stamp } from '../common/stamp.ts';

export interface NodeOptions {
  name: string;
  cpu?: string;
  memory?: string;
  pods?: string;
  labels?: Record<string, string>;
  taints?: Taint[];
}

export const nodeBody = ({ name, labels, taints }: NodeOptions): object => ({
  metadata: {
    name,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      ...labels,
    },
  },
  spec: taints ? { taints } : {},
});

/** Ready, or one of the things it has enough of. */
const healthy: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[] = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
]; // prettier-ignore

export const heartbeat = (sinceMs: number, nowMs: number) => ({
  conditions: healthy.map((condition) => ({
    ...condition,
    lastHeartbeatTime: stamp(nowMs),
    lastTransitionTime: stamp(sinceMs),
  })),
});

export function nodeStatus({ name, cpu = '4', memory = '8Gi', pods = '110' }: NodeOptions, address: string) {
  const capacity = { cpu, memory, pods, 'ephemeral-storage': '50Gi' };
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    nodeInfo: {
      architecture: 'amd64',
      bootID: name,
      containerRuntimeVersion: 'containerd://2.4.2',
      kernelVersion: '6.1.0',
      kubeProxyVersion: '',
      kubeletVersion: 'v1.36.3',
      machineID: name,
      operatingSystem: 'linux',
      osImage: 'pretended by tapfix',
      systemUUID: name,
    },
  };
}

/** What kubelet says of its node when it starts. */
export const startNotes = (name: string): { reason: string; message: string }[] => [
  { reason: 'Starting', message: 'Starting kubelet.' },
  ...['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'].map((reason) => ({
    reason,
    message: `Node ${name} status is now: ${reason}`,
  })),
];
