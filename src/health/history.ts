import { LRUCache } from 'lru-cache';
import type { ReplicaSetView } from '../kube/views.ts';

interface Run {
  availableSinceMs?: number;
  longestMs: number;
  /** The longest run that it broke off by itself, not because it was scaled. */
  brokenAfterMs: number;
  desired: number;
}

/**
 * Which revisions were healthy, as this process saw it. A Deployment without a readiness probe scales its
 * good revision to zero the moment the bad one starts, so "was it healthy" cannot be read afterwards.
 */
export interface History {
  observe(replicaSet: ReplicaSetView, nowMs: number): void;
  /** Nobody looked in between: a run that was open then is known until its begin, and anew from its end. */
  blind(fromMs: number, untilMs: number): void;
  /** How long it held before it broke by itself; 0 when it never did. */
  brokenAfterMs(uid: string): number;
  /** The longest time this revision was fully available without a break. */
  longestAvailableMs(uid: string, nowMs: number): number;
}

export const isReplicaSetAvailable = (rs: ReplicaSetView): boolean => rs.desired > 0 && rs.available >= rs.desired;

export function createHistory(max = 20_000): History {
  const runs = new LRUCache<string, Run>({ max });
  const lengthOf = (run: Run, nowMs: number): number =>
    Math.max(run.longestMs, run.availableSinceMs === undefined ? 0 : nowMs - run.availableSinceMs);
  return {
    observe(replicaSet, nowMs) {
      const run = runs.get(replicaSet.uid) ?? { longestMs: 0, brokenAfterMs: 0, desired: 0 };
      if (isReplicaSetAvailable(replicaSet)) run.availableSinceMs ??= nowMs;
      else {
        const isScaled = replicaSet.desired === 0 || replicaSet.desired > run.desired;
        if (!isScaled && run.availableSinceMs !== undefined)
          run.brokenAfterMs = Math.max(run.brokenAfterMs, nowMs - run.availableSinceMs);
        run.longestMs = lengthOf(run, nowMs);
        delete run.availableSinceMs;
      }
      run.desired = replicaSet.desired;
      runs.set(replicaSet.uid, run);
    },
    blind(fromMs, untilMs) {
      for (const run of runs.values()) {
        if (run.availableSinceMs === undefined) continue;
        run.longestMs = lengthOf(run, Math.max(fromMs, run.availableSinceMs));
        run.availableSinceMs = Math.max(untilMs, run.availableSinceMs);
      }
    },
    brokenAfterMs: (uid) => runs.get(uid)?.brokenAfterMs ?? 0,
    longestAvailableMs(uid, nowMs) {
      const run = runs.get(uid);
      return run ? lengthOf(run, nowMs) : 0;
    },
  };
}
