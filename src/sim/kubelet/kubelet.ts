import { type Api, hasCode, isConflict, isNotFound } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { sameValue } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';
import { conditionOf } from '../common/conditions.ts';
import { createLookout } from '../common/lookout.ts';
import { keyOf, report } from '../common/loop.ts';
import { refOf } from '../common/patch.ts';
import { isDeleting, isFinished } from '../common/pods.ts';
import { refTo } from '../common/recorder.ts';
import type { PodObject, PodStatus } from '../common/shapes.ts';
import { adopt } from './adopt.ts';
import type { NodeOptions } from './node.ts';
import { createNodeAgent, type NodeAgent } from './node-agent.ts';
import { type Behaviours, livePod, type PodLife } from './pod.ts';
import { statusOf } from './status.ts';
import { type Timing, usualTiming } from './timing.ts';

export interface KubeletDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** Each by name, or so many: node-1, node-2... */
  nodes: readonly NodeOptions[] | number;
  signal: AbortSignal;
  behaviours?: Behaviours;
  timing?: Partial<Timing>;
  random?: () => number;
}

export interface Kubelet {
  readonly nodes: readonly string[];
  /** The node falls silent, and nothing on it moves any more, as when its network is gone. */
  stopNode(name: string): void;
  startNode(name: string): void;
  /** Resolves when the signal has aborted and nothing runs any more. */
  readonly ended: Promise<void>;
}

/** A pod as it is lived here. */
interface Tenant {
  uid: string;
  life: PodLife;
  podIP: string;
  /** The status that was last written, when it was. */
  written?: PodStatus;
}

/**
 * Nodes that are not there: their pods are only written about, in status and events, as a real kubelet would write
 * about them. It speaks to whatever API server it is given, a real one too. No logs, no exec, no probes are made.
 */
export function runKubelet({ nodes, behaviours, timing, ...deps }: KubeletDeps): Kubelet {
  const { api, clock, log, signal } = deps;
  const world = { timing: { ...usualTiming, ...timing }, behaviours };
  const options = typeof nodes === 'number' ? numbered(nodes) : nodes;
  const agents = new Map(
    options.map((one, index) => [
      one.name,
      createNodeAgent({ api, clock, log, options: one, index, heartbeatMs: world.timing.heartbeatMs }),
    ]),
  );
  const lookout = createLookout(deps);
  const pods = new Map<string, PodObject>();
  const tenants = new Map<string, Tenant>();
  const queue = createQueue({
    ...deps,
    concurrency: 16,
    handle: pass,
    onError: (pod, error, retryInMs) => report(log, { component: 'kubelet', pod, retryInMs }, error),
  });

  lookout.on('Pod', (object, isGone) => {
    const pod = object as PodObject;
    const key = keyOf(pod);
    if (!agents.has(pod.spec?.nodeName ?? '')) return;
    if (isGone && pods.get(key)?.metadata.uid !== pod.metadata.uid) return; // another has its name by now
    if (isGone) pods.delete(key);
    else pods.set(key, pod);
    queue.add(key);
  });

  async function pass(key: string): Promise<Outcome> {
    const pod = pods.get(key);
    if (!pod) return void tenants.delete(key);
    const agent = agents.get(pod.spec!.nodeName!)!;
    if (!agent.isUp() || (isFinished(pod) && !isDeleting(pod) && tenants.get(key)?.uid !== pod.metadata.uid))
      return undefined;
    const nowMs = clock.now();
    const tenant = tenantOf(key, pod, agent, nowMs);
    const { life, notes, wakeAtMs } = livePod(tenant.life, pod, world, nowMs);
    tenant.life = life;
    for (const { type, reason, message, fieldPath } of notes)
      agent.recorder.event(refTo(pod, fieldPath), type, reason, message);
    try {
      await write(pod, tenant, agent, nowMs);
      if (life.isStopped) await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid }, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (isNotFound(error) || isConflict(error) || isOtherUid(error)) return undefined; // it is gone, or another pod
      throw error;
    }
    return Number.isFinite(wakeAtMs) ? { againInMs: Math.max(wakeAtMs - clock.now(), 0) } : undefined;
  }

  function tenantOf(key: string, pod: PodObject, agent: NodeAgent, nowMs: number): Tenant {
    const { uid } = pod.metadata;
    const known = tenants.get(key);
    if (known?.uid === uid) return known;
    const podIP = pod.status?.podIP ?? agent.nextIP();
    const tenant: Tenant = { uid, life: adopt(pod, world, nowMs), podIP };
    tenants.set(key, tenant);
    return tenant;
  }

  /** When it says something new, or somebody else has said otherwise meanwhile. */
  async function write(pod: PodObject, tenant: Tenant, { address }: NodeAgent, nowMs: number): Promise<void> {
    const before = tenant.written ?? pod.status ?? {};
    const status = statusOf(tenant.life, pod, { hostIP: address, podIP: tenant.podIP }, before, nowMs);
    const isNews = !tenant.written || !sameValue(tenant.written, status) || readyIn(status) !== readyIn(pod.status);
    if (!isNews) return;
    const { uid } = pod.metadata;
    await api.patch(refOf('Pod', pod, 'status'), 'merge', { metadata: { uid }, status });
    tenant.written = status;
  }

  async function run(): Promise<void> {
    await Promise.all([...[...agents.values()].map((agent) => agent.run(signal)), lookout.run(signal)]);
    await queue.idle();
  }

  function agentOf(name: string): NodeAgent {
    const agent = agents.get(name);
    if (!agent) throw new RangeError(`there is no node ${name} here, only ${[...agents.keys()].join(', ')}`);
    return agent;
  }

  return {
    nodes: options.map(({ name }) => name),
    stopNode: (name) => agentOf(name).stop(),
    startNode(name) {
      agentOf(name).start();
      for (const [key, pod] of pods) if (pod.spec?.nodeName === name) queue.add(key);
    },
    ended: run(),
  };
}

/** Not every API server calls it a conflict. */
const isOtherUid = (error: unknown): boolean => hasCode(error, 422) && messageOf(error).includes('metadata.uid');

const readyIn = (status: PodStatus | undefined): string | undefined => conditionOf(status?.conditions, 'Ready')?.status;

const numbered = (count: number): NodeOptions[] =>
  Array.from({ length: count }, (_, index) => ({ name: `node-${index + 1}` }));
