import type { Revision, Workload } from '../diagnosis/workload.ts';
import { isReplicaSetAvailable, type History } from '../health/history.ts';
import { hasCrashedLately, isCrashing, keepsCrashing } from '../health/loop.ts';
import { windowMs } from '../health/stability.ts';
import type { WayBack } from './proposal.ts';

export interface UndoFacts {
  workload: Workload;
  history: History;
  stableForMs: number;
  nowMs: number;
}

/** How long a revision is known to have been healthy: as this process saw it, or by its pods' own words now. */
export function healthyMs({ view }: Revision, { workload, history, nowMs }: Omit<UndoFacts, 'stableForMs'>): number {
  const seen = history.longestAvailableMs(view.uid, nowMs);
  const pods = workload.pods.filter((pod) => pod.owner?.uid === view.uid && !pod.deleting);
  const isAllReady =
    isReplicaSetAvailable(view) && pods.length >= view.desired && pods.every((pod) => pod.readySinceMs);
  const now = isAllReady ? nowMs - Math.max(...pods.map((pod) => pod.readySinceMs ?? nowMs)) : 0;
  return Math.max(seen, now);
}

/** Pure. Undo only what the newest revision brought, and only to one that is known to have been healthy. */
export function proposeUndo(facts: UndoFacts): WayBack {
  const { workload, stableForMs } = facts;
  const { deployment, revisions, pods } = workload;
  const [newest, previous] = revisions;
  if (!deployment || !newest) return { refused: 'no revision to go back to: it is not a Deployment' };
  if (!previous) return { refused: 'this is its first revision, there is none to go back to' };
  if (deployment.paused) return { refused: 'the rollout is paused, somebody is at work on it' };
  if (newest.view.createFailure)
    return { refused: `pods of revision ${newest.view.revision} are refused, which is another trouble than a crash` };
  const own = pods.filter((pod) => pod.owner?.uid === newest.view.uid);
  if (pods.some((pod) => !own.includes(pod) && (isCrashing(pod) || keepsCrashing(pod, facts.nowMs))))
    return { refused: `pods of an older revision crash as well, so revision ${newest.view.revision} did not bring it` };
  if (!own.some((pod) => hasCrashedLately(pod, facts.nowMs))) return { refused: 'no pod of it crashes at the moment' };
  // A pod that crashes after a minute looks healthy for a minute, each time.
  const longestUptimeMs = Math.max(
    0,
    ...own.flatMap(({ containers }) => containers.map(({ ended }) => ended?.uptimeMs ?? 0)),
  );
  if (healthyMs(newest, facts) >= windowMs('CrashLoop', stableForMs, longestUptimeMs))
    return { refused: `revision ${newest.view.revision} itself ran healthy before, so the rollout did not bring it` };
  const ranMs = healthyMs(previous, facts);
  // One that broke off before must have held for longer than that.
  if (ranMs < windowMs('CrashLoop', stableForMs, facts.history.brokenAfterMs(previous.view.uid)))
    return { refused: `revision ${previous.view.revision} was not seen healthy, so going back may not help` };
  return { revision: previous.view.revision, from: newest.view.revision, ranMs };
}
