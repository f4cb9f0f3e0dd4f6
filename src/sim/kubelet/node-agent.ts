import { type Api, hasCode, isNotFound } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { report } from '../common/controller-runtime.ts';
import { createEventRecorder, type EventRecorder } from '../common/event-recorder.ts';
import type { StatusCondition, Taint } from '../common/shapes.ts';
import { stamp } from '../common/status-writing.ts';

interface NodeAgentDeps {
  api: Api;
  clock: Clock;
  log: Log;
  options: NodeOptions;
  /** The number of this node among the kubelet's nodes. Addresses are derived from it. */
  index: number;
  heartbeatMs: number;
}

export interface NodeAgent {
  readonly name: string;
  readonly address: string;
  readonly recorder: EventRecorder;
  isUp(): boolean;
  /** The next address for a pod. */
  nextIP(): string;
  stop(): void;
  start(): void;
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Registers one node and sends its heartbeats until it is stopped. */
export function createNodeAgent({ api, clock, log, options, index, heartbeatMs }: NodeAgentDeps): NodeAgent {
  const { name } = options;
  const recorder = createEventRecorder({ api, clock, log, component: 'kubelet', host: name });
  const address = `10.100.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  const ref = { kind: 'Node', name } as const;
  let upSinceMs: number | undefined = clock.now();
  let isGreeted = false;
  let pods = 0;
  let wake = new AbortController();

  async function register(): Promise<void> {
    try {
      await api.create({ kind: 'Node' }, nodeBody(options));
    } catch (error) {
      if (!hasCode(error, 409)) throw error; // the node is already registered
    }
    await beat(nodeStatus(options, address));
  }

  async function beat(more: object = {}): Promise<void> {
    const sinceMs = upSinceMs;
    if (sinceMs === undefined) return;
    const status = { ...heartbeat(sinceMs, clock.now()), ...more };
    await api.patch({ ...ref, subresource: 'status' }, 'merge', { status });
    if (isGreeted) return;
    isGreeted = true;
    for (const { reason, message } of startNotes(name))
      recorder.event({ apiVersion: 'v1', kind: 'Node', name }, 'Normal', reason, message);
  }

  let isRegistered = false;
  async function once(): Promise<void> {
    try {
      await (isRegistered ? beat() : register());
      isRegistered = true;
    } catch (error) {
      if (isNotFound(error)) isRegistered = false; // somebody deleted the node; the next pass registers it again
      report(log, { component: 'kubelet', node: name }, error);
    }
  }

  return {
    name,
    address,
    recorder,
    isUp: () => upSinceMs !== undefined,
    nextIP: () => `10.244.${index % 250}.${(pods++ % 253) + 2}`,
    stop() {
      upSinceMs = undefined;
      isGreeted = false;
    },
    start() {
      upSinceMs ??= clock.now();
      wake.abort();
    },
    async run(signal) {
      while (!signal.aborted) {
        wake = new AbortController();
        if (upSinceMs !== undefined) await once();
        await clock.sleep(heartbeatMs, AbortSignal.any([signal, wake.signal]));
      }
    },
  };
}

export interface NodeOptions {
  name: string;
  cpu?: string;
  memory?: string;
  pods?: string;
  labels?: Record<string, string>;
  taints?: Taint[];
}

const nodeBody = ({ name, labels, taints }: NodeOptions): object => ({
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

/** The conditions of a node that is ready and short of nothing. */
const healthy: readonly Pick<StatusCondition, 'type' | 'status' | 'reason' | 'message'>[] = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'kubelet has sufficient memory available' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: 'kubelet has no disk pressure' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: 'kubelet has sufficient PID available' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
]; // prettier-ignore

const heartbeat = (sinceMs: number, nowMs: number) => ({
  conditions: healthy.map((condition) => ({
    ...condition,
    lastHeartbeatTime: stamp(nowMs),
    lastTransitionTime: stamp(sinceMs),
  })),
});

function nodeStatus({ name, cpu = '4', memory = '8Gi', pods = '110' }: NodeOptions, address: string) {
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

/** The events that kubelet records about its node when it starts. */
const startNotes = (name: string): { reason: string; message: string }[] => [
  { reason: 'Starting', message: 'Starting kubelet.' },
  ...['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID', 'NodeReady'].map((reason) => ({
    reason,
    message: `Node ${name} status is now: ${reason}`,
  })),
];
