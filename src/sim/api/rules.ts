import type { Rules } from './kinds.ts';
import { cronJobRules, jobRules } from './rules/jobs.ts';
import {
  autoscalerRules,
  budgetRules,
  claimRules,
  configMapRules,
  eventRules,
  namespaceRules,
  nodeRules,
  quotaRules,
  roleBindingRules,
} from './rules/others.ts';
import { podRules } from './rules/pod.ts';
import { daemonSetRules, deploymentRules, replicaSetRules, statefulSetRules } from './rules/workloads.ts';

const rules: Record<string, Rules> = {
  Namespace: namespaceRules,
  Node: nodeRules,
  Event: eventRules,
  ConfigMap: configMapRules,
  Pod: podRules,
  Deployment: deploymentRules,
  ReplicaSet: replicaSetRules,
  StatefulSet: statefulSetRules,
  DaemonSet: daemonSetRules,
  Job: jobRules,
  CronJob: cronJobRules,
  ResourceQuota: quotaRules,
  PodDisruptionBudget: budgetRules,
  PersistentVolumeClaim: claimRules,
  HorizontalPodAutoscaler: autoscalerRules,
  RoleBinding: roleBindingRules,
};

/** What is special about a kind; most have nothing. */
export const rulesOf = (kind: string): Rules => rules[kind] ?? {};
