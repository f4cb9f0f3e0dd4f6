import type { Api } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api/api-server.ts';
import { listen, type Listening } from './api/http.ts';
import { localApi } from './api/local-api.ts';
import { createInformers, type SimControllerDeps } from './common/controller-runtime.ts';
import { runDeployments } from './controllers/deployment.ts';
import { runScheduler } from './controllers/pod-scheduler.ts';
import { runReplicaSets } from './controllers/replicaset.ts';
import { type Kubelet, type KubeletDeps, runKubelet } from './kubelet/kubelet.ts';

/** A controller registers its watches before it first waits. If it returns a promise, that resolves when the signal has aborted. */
export type SimController = (deps: SimControllerDeps) => void | Promise<void>;

export interface SimOptions extends Pick<KubeletDeps, 'nodes' | 'behaviours' | 'timing'> {
  clock: Clock;
  log: Log;
  /** The CustomResourceDefinitions to serve. */
  definitions?: readonly Manifest[];
  /** The random source of names and uids; a fixed one makes a run repeatable. */
  random?: () => number;
  /** Controllers besides those of Deployments and ReplicaSets and the scheduler. test/sim has more. */
  moreControllers?: readonly SimController[];
  moreRules?: ApiServerOptions['moreRules'];
  /** The user of a request without a token. */
  identity?: ApiServerOptions['identity'];
}

export interface Sim extends Pick<Kubelet, 'stopNode' | 'startNode'> {
  /** The client of an administrator, without a network. tapfix's own name is the field manager of its writes. */
  readonly api: Api;
  /** The same client with another field manager: `kubectl-set` for somebody who sets an image. */
  as(manager: string): Api;
  readonly server: ApiServer;
  /** Starts everything; resolves when the signal has aborted and nothing runs any more. */
  start(signal: AbortSignal): Promise<void>;
  /** Serves the API on a port of this machine. */
  listen(options?: { port?: number }): Promise<Listening>;
}

/**
 * A simulated Kubernetes cluster: an API server in memory, the controllers that tapfix depends on, and nodes whose
 * kubelet only writes what a real one would write. Everything runs on one Clock: with a fake clock a whole rollout takes
 * a moment, and with the same `random` every run is the same.
 *
 * It has Deployments and ReplicaSets with their statuses, conditions, revisions and events; a scheduler that knows
 * requests, selectors and taints; nodes that can be stopped; and pods that fail in the ways of kubelet/behaviour.ts, by
 * annotation or by image. StatefulSets, DaemonSets, Jobs, CronJobs and the loss of a node are simulated in test/sim.
 *
 * It has no CEL rules, RBAC or admission policies (see the API server); no working services, volumes or autoscalers; no
 * adoption of orphans, preemption or affinity between pods; no logs, exec or real probes.
 */
export function createSim({
  clock,
  log,
  nodes,
  behaviours,
  timing,
  definitions,
  random,
  moreControllers = [],
  moreRules,
  identity,
}: SimOptions): Sim {
  const server = createApiServer({
    clock,
    ...(definitions && { definitions }),
    ...(random && { random }),
    ...(identity && { identity }),
    ...(moreRules && { moreRules }),
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
        more: moreControllers,
      });
      await Promise.all([kubelet.ended, controllers]);
    },
  };
}

interface ControllersDeps {
  api: Api;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  random?: () => number;
  /** Controllers besides those that always run. */
  more: readonly SimController[];
}

/** Does the work of kube-controller-manager and kube-scheduler. Ends when the signal aborts. */
async function runControllers({ api, clock, log, signal, random, more }: ControllersDeps): Promise<void> {
  const informers = createInformers({ api, clock, log, ...(random && { random }) });
  const deps: SimControllerDeps = { api, clock, log, informers, signal };
  const running = [runDeployments, runReplicaSets, ...more, runScheduler].map((run: SimController) => run(deps));
  await Promise.all([...running, informers.run(signal)]);
}
