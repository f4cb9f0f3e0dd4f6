import { type ApiServer, type ApiServerOptions, createApiServer } from '../../src/sim/api/api-server.ts';
import { createSim, type Sim, type SimController, type SimOptions } from '../../src/sim/sim.ts';
import { runCronJobs } from './cronjob.ts';
import { runDaemonSets } from './daemonset.ts';
import { runJobs } from './job.ts';
import { autoscalerRules, claimRules, cronJobRules, daemonSetRules, jobRules, statefulSetRules } from './more-rules.ts';
import { runNodeLifecycle } from './node-lifecycle.ts';
import { runStatefulSets } from './statefulset.ts';

const moreControllers: readonly SimController[] = [
  runStatefulSets,
  runDaemonSets,
  runJobs,
  runCronJobs,
  runNodeLifecycle,
];

const moreRules: ApiServerOptions['moreRules'] = {
  StatefulSet: statefulSetRules,
  DaemonSet: daemonSetRules,
  Job: jobRules,
  CronJob: cronJobRules,
  PersistentVolumeClaim: claimRules,
  HorizontalPodAutoscaler: autoscalerRules,
};

/** The simulated cluster with the controllers and the rules that only tests need. */
export const createFullSim = (options: SimOptions): Sim => createSim({ ...options, moreControllers, moreRules });

/** The API server of that cluster alone. */
export const createFullApiServer = (options: ApiServerOptions): ApiServer => createApiServer({ ...options, moreRules });
