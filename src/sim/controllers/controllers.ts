import type { Api } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createLookout } from '../common/lookout.ts';
import { runCronJobs } from './cronjob.ts';
import { runDaemonSets } from './daemonset.ts';
import { runDeployments } from './deployment.ts';
import { runJobs } from './job.ts';
import { type NodeLifecycleOptions, runNodeLifecycle } from './node-lifecycle.ts';
import { runReplicaSets } from './replicaset.ts';
import { runScheduler } from './scheduler.ts';
import { runStatefulSets } from './statefulset.ts';

export interface ControllersDeps {
  api: Api;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  random?: () => number;
  nodes?: NodeLifecycleOptions;
}

/** What kube-controller-manager and kube-scheduler do, as far as tapfix can tell the difference. Ends when the signal aborts. */
export async function runControllers({ nodes, ...given }: ControllersDeps): Promise<void> {
  const lookout = createLookout(given);
  const deps = { ...given, lookout };
  runDeployments(deps);
  runReplicaSets(deps);
  runStatefulSets(deps);
  runDaemonSets(deps);
  runJobs(deps);
  runCronJobs(deps);
  runScheduler(deps);
  await Promise.all([runNodeLifecycle(deps, nodes), lookout.run(given.signal)]);
}
