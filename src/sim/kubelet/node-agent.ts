import { type Api, hasCode, isNotFound } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { report } from '../common/loop.ts';
import { createRecorder, type Recorder } from '../common/recorder.ts';
import { heartbeat, nodeBody, type NodeOptions, nodeStatus, startNotes } from './node.ts';

export interface NodeAgentDeps {
  api: Api;
  clock: Clock;
  log: Log;
  options: NodeOptions;
  /** Which of this kubelet's nodes: gives it its addresses. */
  index: number;
  heartbeatMs: number;
}

export interface NodeAgent {
  readonly name: string;
  readonly address: string;
  readonly recorder: Recorder;
  isUp(): boolean;
  /** The next address for a pod. */
  nextIP(): string;
  stop(): void;
  start(): void;
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** Keeps one node there and alive, until it is stopped. */
export function createNodeAgent({ api, clock, log, options, index, heartbeatMs }: NodeAgentDeps): NodeAgent {
  const { name } = options;
  const recorder = createRecorder({ api, clock, log, component: 'kubelet', host: name });
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
      if (!hasCode(error, 409)) throw error; // it was here before
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
      if (isNotFound(error)) isRegistered = false; // somebody deleted it: next time it comes back
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
