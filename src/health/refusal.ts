import type { DeploymentView } from '../kube/views.ts';
import type { Trouble } from './trouble.ts';
import { isBecauseTerminating } from './words.ts';

/** The quota's name in "... is forbidden: exceeded quota: NAME, requested: ...", however the controller worded the rest. */
export function quotaIn(message: string): string | undefined {
  return /exceeded quota: ([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?:,|$)/.exec(message)?.[1];
}

/** Why pods were refused: by a quota, which is then to blame, or by something else. */
export function refusalTrouble(message: string): Trouble | undefined {
  if (isBecauseTerminating(message)) return undefined;
  const quota = quotaIn(message);
  const said = { reason: 'FailedCreate', message };
  if (quota) return { class: 'QuotaExceeded', cause: { kind: 'ResourceQuota', name: quota }, ...said };
  return { class: 'CreateRejected', ...said };
}

/** Pure. A rollout that missed its deadline, or got no ReplicaSet; there are no events for the former. */
export function rolloutTroubles({ desired, paused, deleting, progressing }: DeploymentView): Trouble[] {
  if (desired === 0 || paused || deleting || progressing?.status !== 'False') return [];
  const { reason, message } = progressing;
  if (reason === 'ProgressDeadlineExceeded') return [{ class: 'RolloutStuck', reason, message }];
  // A quota on ReplicaSets as well: the card of a quota speaks of pods.
  return reason === 'ReplicaSetCreateError' && !isBecauseTerminating(message)
    ? [{ class: 'CreateRejected', reason, message }]
    : [];
}
