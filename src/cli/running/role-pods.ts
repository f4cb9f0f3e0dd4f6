import type { KubeObject, Reader } from '../../kube/api.ts';
import { arr, conditionIn, num, obj, type Raw, specIn, statusIn, str, timeMs } from '../../kube/raw.ts';
import { UserError } from '../../lib/errors.ts';
import { line } from '../../lib/text.ts';

export const podRoles = ['watcher', 'controller'] as const;
export type PodRole = (typeof podRoles)[number];

/** One of the two Deployments with its pods and its Lease, as the cluster has them. */
export interface RoleFacts {
  role: PodRole;
  deployment: KubeObject | undefined;
  pods: KubeObject[];
  lease: KubeObject | undefined;
}

export const deploymentOf = (role: PodRole): string => `tapfix-${role}`;

export async function readRole(
  api: Pick<Reader, 'get' | 'list'>,
  namespace: string,
  role: PodRole,
): Promise<RoleFacts> {
  const name = deploymentOf(role);
  const [deployment, pods, lease] = await Promise.all([
    api.get({ kind: 'Deployment', namespace, name }),
    readPods(api, namespace, role),
    api.get({ kind: 'Lease', namespace, name }),
  ]);
  return { role, deployment, pods, lease };
}

export const readPods = (api: Pick<Reader, 'list'>, namespace: string, role: PodRole): Promise<KubeObject[]> =>
  api.list('Pod', namespace, { labelSelector: `app.kubernetes.io/name=tapfix,app.kubernetes.io/component=${role}` });

/** Pure. The sentence when there is nothing to connect to, and cannot be without somebody's help. */
export function mustBeInstalled({ role, deployment }: RoleFacts, namespace: string): void {
  if (!deployment)
    throw new UserError(
      `there is no Deployment ${deploymentOf(role)} in namespace ${namespace}: tapfix is not installed there (-n names another namespace)`,
    );
  if (num(specIn(deployment)['replicas'], 1) === 0)
    throw new UserError(`${deploymentOf(role)} is scaled to 0 in namespace ${namespace}, so there is no pod of it`);
}

/** The pod that holds the Lease: a replica calls itself by its pod's name and six more letters. */
export function leaderOf({ lease }: Pick<RoleFacts, 'lease'>): string | undefined {
  const holder = lease ? str(specIn(lease)['holderIdentity']) : '';
  return holder.replace(/_[0-9a-f]{6}$/, '') || undefined;
}

/** When the leader last renewed its Lease, and whether that is too long ago to still lead. */
export function renewalOf(
  { lease }: Pick<RoleFacts, 'lease'>,
  nowMs: number,
): { agoMs: number; isLate: boolean } | undefined {
  const renewedMs = lease ? timeMs(specIn(lease)['renewTime']) : 0;
  if (!lease || renewedMs === 0) return undefined;
  const lastsMs = num(specIn(lease)['leaseDurationSeconds'], 15) * 1000;
  return { agoMs: Math.max(0, nowMs - renewedMs), isLate: nowMs - renewedMs > lastsMs };
}

const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;
export const isReady = (pod: KubeObject): boolean =>
  !isLeaving(pod) && str(statusIn(pod)['phase']) === 'Running' && conditionIn(pod, 'Ready')?.status === 'True';

/** Pure. The pod to talk to: the leader's if it is ready, or else any that is. */
export function readyPod(facts: Pick<RoleFacts, 'pods' | 'lease'>): KubeObject | undefined {
  const ready = facts.pods.filter(isReady);
  const leader = leaderOf(facts);
  return ready.find(({ metadata }) => metadata.name === leader) ?? ready[0];
}

/** Why something is not ready. `isStuck`: it will not become ready by waiting. */
export interface NotReady {
  why: string;
  isStuck: boolean;
}

const stuckWaiting =
  /^(ErrImagePull|ImagePullBackOff|InvalidImageName|ErrImageNeverPull|CrashLoopBackOff|CreateContainerConfigError|CreateContainerError|RunContainerError)$/;
/** A scheduler may find room a moment later, and an autoscaler in some minutes. */
const unschedulableMs = 10_000;

/** Pure. What keeps one pod from being ready. */
export function troubleOf(pod: KubeObject, nowMs: number): NotReady {
  const { name } = pod.metadata;
  if (isLeaving(pod)) return { why: `pod ${name} is being deleted`, isStuck: false };
  for (const status of arr(statusIn(pod)['containerStatuses'])) {
    const waiting = obj(obj(status['state'])['waiting']);
    const reason = str(waiting['reason']);
    if (stuckWaiting.test(reason)) {
      const detail = reason === 'CrashLoopBackOff' ? lastEnd(status) : line(str(waiting['message']), 300);
      return { why: `pod ${name}: ${reason}${detail && `: ${detail}`}`, isStuck: true };
    }
    if (num(status['restartCount']) > 1 && lastEnd(status))
      return { why: `pod ${name} keeps ending: ${lastEnd(status)}`, isStuck: true };
  }
  const scheduled = conditionIn(pod, 'PodScheduled');
  if (scheduled?.status === 'False') {
    const isStuck = nowMs - (scheduled.sinceMs || nowMs) >= unschedulableMs;
    return { why: `pod ${name} is Pending: ${line(scheduled.message || scheduled.reason, 300)}`, isStuck };
  }
  const phase = str(statusIn(pod)['phase']) || 'Pending';
  if (phase === 'Failed')
    return { why: `pod ${name} has failed: ${line(str(statusIn(pod)['message']), 300)}`, isStuck: true };
  return { why: `pod ${name} is ${phase === 'Running' ? 'running and not ready yet' : phase}`, isStuck: false };
}

/** "it exited with 1", with the last words if it left any. */
function lastEnd(status: Raw): string {
  const ended = obj(obj(status['lastState'])['terminated']);
  if (Object.keys(ended).length === 0) return '';
  const reason = str(ended['reason']);
  const how = reason === 'OOMKilled' ? 'it ran out of memory' : `it exited with ${num(ended['exitCode'])}`;
  const words = line(str(ended['message']), 200);
  return words ? `${how}: ${words}` : how;
}

/** Pure. Why no pod of the role is ready; call it when readyPod finds none. */
export function whyNone({ role, deployment, pods }: RoleFacts, nowMs: number): NotReady {
  const staying = pods.filter((pod) => !isLeaving(pod));
  const troubles = staying.map((pod) => troubleOf(pod, nowMs));
  const [first] = troubles;
  if (first)
    return troubles.every(({ isStuck }) => isStuck) ? first : (troubles.find(({ isStuck }) => !isStuck) ?? first);
  const refused = deployment && conditionIn(deployment, 'ReplicaFailure');
  if (refused?.status === 'True')
    return { why: `no pod of ${deploymentOf(role)} can be created: ${line(refused.message, 300)}`, isStuck: true };
  return { why: `there is no pod of ${deploymentOf(role)} yet`, isStuck: false };
}
