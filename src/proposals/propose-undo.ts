import type { Revision, Workload } from '../diagnosis/workload.ts';
import { isReplicaSetAvailable, type History } from '../health/history.ts';
import { hasCrashedLately } from '../health/loop.ts';
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
  const crashing = pods.filter((pod) => hasCrashedLately(pod, facts.nowMs));
  if (crashing.length === 0) return { refused: 'no pod of it crashes at the moment' };
  if (!crashing.every((pod) => pod.owner?.uid === newest.view.uid))
    return { refused: `pods of an older revision crash as well, so revision ${newest.view.revision} did not bring it` };
  if (healthyMs(newest, facts) >= stableForMs)
    return { refused: `revision ${newest.view.revision} itself ran healthy before, so the rollout did not bring it` };
  const ranMs = healthyMs(previous, facts);
  if (ranMs < stableForMs)
    return { refused: `revision ${previous.view.revision} was not seen healthy, so going back may not help` };
  return { revision: previous.view.revision, from: newest.view.revision, ranMs };
}
