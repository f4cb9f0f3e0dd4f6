import type { Api } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { localApi } from './api/local.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api/server.ts';
import { runControllers } from './controllers/controllers.ts';
import type { NodeLifecycleOptions } from './controllers/node-lifecycle.ts';
import { listen, type Listening } from './http.ts';
import { type Kubelet, type KubeletDeps, runKubelet } from './kubelet/kubelet.ts';

export interface SimOptions extends Pick<KubeletDeps, 'nodes' | 'behaviours' | 'timing'> {
  clock: Clock;
  log: Log;
  /** The CustomResourceDefinitions to serve. */
  definitions?: readonly Manifest[];
  /** Of names and uids; a fixed one makes a run repeatable. */
  random?: () => number;
  nodeLifecycle?: NodeLifecycleOptions;
  /** Who is who does not bring a token. */
  identity?: ApiServerOptions['identity'];
}

export interface Sim extends Pick<Kubelet, 'stopNode' | 'startNode'> {
  /** As an administrator, without a network; its writes are signed as tapfix's own. */
  readonly api: Api;
  /** As somebody by this name in every object's books: `kubectl-set` for one who sets an image. */
  as(manager: string): Api;
  readonly server: ApiServer;
  /** Sets everything going; resolves when the signal has aborted and nothing runs any more. */
  start(signal: AbortSignal): Promise<void>;
  /** The API server on a port of this machine. */
  listen(options?: { port?: number }): Promise<Listening>;
}

/**
 * A Kubernetes cluster that is not there: an API server in memory, the controllers that tapfix can tell the difference
 * of, and nodes whose kubelet only writes what a real one would. All of it on one Clock: with a fake one a whole rollout
 * passes in a moment, and with the same `random` each time the same way.
 *
 * What it has: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs with their statuses, conditions,
 * revisions and events; a scheduler that knows requests, selectors and taints; nodes that can be stopped; pods that fail
 * in the ways of kubelet/behaviour.ts, by annotation or by image.
 *
 * What it has not: CEL rules, RBAC, admission policies (see the API server); services, volumes, autoscalers and
 * disruption budgets at work; adoption of orphans, preemption, affinity between pods; logs, exec, probes that really ask.
 */
export function createSim({
  clock,
  log,
  nodes,
  behaviours,
  timing,
  definitions,
  random,
  nodeLifecycle,
  identity,
}: SimOptions): Sim {
  const server = createApiServer({
    clock,
    ...(definitions && { definitions }),
    ...(random && { random }),
    ...(identity && { identity }),
  });
  const as = (manager: string): Api => localApi(server, { manager });
  let kubelet: Kubelet | undefined;

  const running = (): Kubelet => {
    if (!kubelet) throw new Error('the simulated cluster has not been started');
    return kubelet;
  };

  return {
    api: localApi(server),
    as,
    server,
    stopNode: (name) => running().stopNode(name),
    startNode: (name) => running().startNode(name),
    listen: (options) => listen(server, options),
    async start(signal) {
      const common = { clock, log, signal, ...(random && { random }) };
      kubelet = runKubelet({
        ...common,
        api: as('kubelet'),
        nodes,
        ...(behaviours && { behaviours }),
        ...(timing && { timing }),
      });
      const controllers = runControllers({
        ...common,
        api: as('kube-controller-manager'),
        ...(nodeLifecycle && { nodes: nodeLifecycle }),
      });
      await Promise.all([kubelet.ended, controllers]);
    },
  };
}
