import { type Api, hasCode, isConflict, isNotFound } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { sameValue } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';
import { createInformers, keyOf, report } from '../common/controller-runtime.ts';
import { refTo } from '../common/event-recorder.ts';
import { isDeleting, isFinished } from '../common/pod-facts.ts';
import type { PodObject, PodStatus } from '../common/shapes.ts';
import { conditionOf, refOf } from '../common/status-writing.ts';
import { type KubeletTiming, usualTiming } from './behaviour.ts';
import { createNodeAgent, type NodeAgent, type NodeOptions } from './node-agent.ts';
import { adopt, type Behaviours, livePod, type PodLife } from './pod-life.ts';
import { statusOf } from './pod-status.ts';

export interface KubeletDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** The nodes with their options, or just their number: node-1, node-2 and so on. */
  nodes: readonly NodeOptions[] | number;
  signal: AbortSignal;
  behaviours?: Behaviours;
  timing?: Partial<KubeletTiming>;
  random?: () => number;
}

export interface Kubelet {
  readonly nodes: readonly string[];
  /** The node stops reporting and its pods stop changing, as if it lost its network. */
  stopNode(name: string): void;
  startNode(name: string): void;
  /** Resolves when the signal has aborted and nothing runs any more. */
  readonly ended: Promise<void>;
}

/** A pod that runs on one of these nodes. */
interface Tenant {
  uid: string;
  life: PodLife;
  podIP: string;
  /** The status that was last written, if any. */
  written?: PodStatus;
}

/**
 * Simulates nodes. Their pods do not run: only their statuses and events are written, as a real kubelet would write them.
 * It works with any API server, including a real one. It has no logs, no exec and no real probes.
 */
export function runKubelet({ nodes, behaviours, timing, ...deps }: KubeletDeps): Kubelet {
  const { api, clock, log, signal } = deps;
  const settings = { timing: { ...usualTiming, ...timing }, behaviours };
  const options = typeof nodes === 'number' ? numbered(nodes) : nodes;
  const agents = new Map(
    options.map((one, index) => [
      one.name,
      createNodeAgent({ api, clock, log, options: one, index, heartbeatMs: settings.timing.heartbeatMs }),
    ]),
  );
  const informers = createInformers(deps);
  const pods = new Map<string, PodObject>();
  const tenants = new Map<string, Tenant>();
  const queue = createQueue({
    ...deps,
    concurrency: 16,
    handle: pass,
    onError: (pod, error, retryInMs) => report(log, { component: 'kubelet', pod, retryInMs }, error),
  });

  informers.on('Pod', (object, isGone) => {
    const pod = object as PodObject;
    const key = keyOf(pod);
    if (!agents.has(pod.spec?.nodeName ?? '')) return;
    if (isGone && pods.get(key)?.metadata.uid !== pod.metadata.uid) return; // a newer pod already has this name
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
    const { life, notes, wakeAtMs } = livePod(tenant.life, pod, settings, nowMs);
    tenant.life = life;
    for (const { type, reason, message, fieldPath } of notes)
      agent.recorder.event(refTo(pod, fieldPath), type, reason, message);
    try {
      await write(pod, tenant, agent, nowMs);
      if (life.isStopped) await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid }, { gracePeriodSeconds: 0 });
    } catch (error) {
      if (isNotFound(error) || isConflict(error) || isOtherUid(error)) return undefined; // the pod is gone, or a newer one has its name
      throw error;
    }
    return Number.isFinite(wakeAtMs) ? { againInMs: Math.max(wakeAtMs - clock.now(), 0) } : undefined;
  }

  function tenantOf(key: string, pod: PodObject, agent: NodeAgent, nowMs: number): Tenant {
    const { uid } = pod.metadata;
    const known = tenants.get(key);
    if (known?.uid === uid) return known;
    const podIP = pod.status?.podIP ?? agent.nextIP();
    const tenant: Tenant = { uid, life: adopt(pod, settings, nowMs), podIP };
    tenants.set(key, tenant);
    return tenant;
  }

  /** Writes the status if it has changed, or if somebody else has changed the Ready condition meanwhile. */
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
    await Promise.all([...[...agents.values()].map((agent) => agent.run(signal)), informers.run(signal)]);
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

/** Not every API server answers a wrong uid with a conflict. */
const isOtherUid = (error: unknown): boolean => hasCode(error, 422) && messageOf(error).includes('metadata.uid');

const readyIn = (status: PodStatus | undefined): string | undefined => conditionOf(status?.conditions, 'Ready')?.status;

const numbered = (count: number): NodeOptions[] =>
  Array.from({ length: count }, (_, index) => ({ name: `node-${index + 1}` }));
