import { autoscalerTroubles, claimTroubles, type KnownClass, nodeTroubles } from '../health/cluster.ts';
import { refusalTrouble, rolloutTroubles } from '../health/refusal.ts';
import type { DeploymentView } from '../kube/views.ts';
import type { ClaimView, NodeView } from '../kube/views-cluster.ts';
import type { AutoscalerView, JobView, SetView } from '../kube/views-workload.ts';
import { type Signal, signalsOf } from './signal.ts';

/*
 * Pure. What the status of everything but pods says is wrong. Where a fresh reading can ask the same question the answer
 * is in health/: both mean the same thing.
 */

/** A condition keeps the words of the first refusal; which are true now the fresh reading tells. */
export function detectDeployment(deployment: DeploymentView): Signal[] {
  const { desired, refused, deleting } = deployment;
  const refusal = desired > 0 && !deleting && refused ? refusalTrouble(refused.message) : undefined;
  return signalsOf('Deployment', deployment, [...rolloutTroubles(deployment), ...(refusal ? [refusal] : [])]);
}

/**
 * These keep no condition. That pods are missing, and no rollout or deletion explains it, is a symptom: whether they are
 * refused the fresh reading tells from events, of which the first may never have reached us.
 */
export function detectSet(set: SetView): Signal[] {
  const { kind, desired, pods, settled, deleting } = set;
  if (deleting || !settled || pods >= desired) return [];
  const message = `${desired - pods} of ${desired} pods are missing`;
  return signalsOf(kind, set, [{ class: 'CreateRejected', reason: 'PodsMissing', message }]);
}

/** As long as events are kept. A CronJob is as its last run was, however long ago; a Job that failed last week is history. */
const newsMs = 3_600_000;

export function detectJob(job: JobView, nowMs: number): Signal[] {
  const { failed, owner, deleting } = job;
  const isNews = failed && (owner?.kind === 'CronJob' || nowMs - failed.sinceMs < newsMs);
  if (deleting || !failed || !isNews) return [];
  const found = [{ class: 'JobFailed', reason: failed.reason || 'Failed', message: failed.message }];
  const { sinceMs: saidAtMs } = failed;
  return signalsOf('Job', job, found).map((signal) => ({ ...signal, ...(saidAtMs > 0 && { saidAtMs }) }));
}

export const detectClaim = (claim: ClaimView, known: KnownClass): Signal[] =>
  signalsOf('PersistentVolumeClaim', claim, claimTroubles(claim, known));

export const detectAutoscaler = (autoscaler: AutoscalerView): Signal[] =>
  signalsOf('HorizontalPodAutoscaler', autoscaler, autoscalerTroubles(autoscaler));

/** A node that somebody has cordoned, or that the autoscaler removes, is expected to go; pods that are still on it speak for themselves. */
export const detectNode = (node: NodeView): Signal[] =>
  node.isLeaving ? [] : signalsOf('Node', { ...node, namespace: '' }, nodeTroubles(node));
