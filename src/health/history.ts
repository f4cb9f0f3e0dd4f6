import { LRUCache } from 'lru-cache';
import type { ReplicaSetView } from '../kube/views.ts';

interface Run {
  availableSinceMs?: number;
  longestMs: number;
  /** With most of its pods available. */
  servingSinceMs?: number;
  longestServingMs: number;
  /** The longest run that it broke off by itself, not because it was scaled. */
  brokenAfterMs: number;
  desired: number;
  /** How many it was asked for when it last had fewer: to be asked for less is no recovery. */
  shortAt?: number;
  wasShort: boolean;
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
  /** The same with at least half of its pods. */
  longestServingMs(uid: string, nowMs: number): number;
  /** It was seen with fewer pods than it was asked for. */
  wasShort(uid: string): boolean;
  forget(uid: string): void;
}

export const isReplicaSetAvailable = (rs: ReplicaSetView): boolean => rs.desired > 0 && rs.available >= rs.desired;

const isServing = (rs: ReplicaSetView): boolean => rs.desired > 0 && rs.available * 2 >= rs.desired;

/** How long a run is by now, or the longest before it. */
const lengthOf = (sinceMs: number | undefined, longestMs: number, nowMs: number): number =>
  Math.max(longestMs, sinceMs === undefined ? 0 : nowMs - sinceMs);

export function createHistory(max = 20_000): History {
  const runs = new LRUCache<string, Run>({ max });

  function begin(run: Run, { desired }: ReplicaSetView, nowMs: number): void {
    if (run.shortAt !== undefined && desired < run.shortAt) return;
    delete run.shortAt;
    run.availableSinceMs ??= nowMs;
  }

  function end(run: Run, { desired }: ReplicaSetView, nowMs: number): void {
    const isScaled = desired === 0 || desired > run.desired;
    if (!isScaled && run.availableSinceMs !== undefined)
      run.brokenAfterMs = Math.max(run.brokenAfterMs, nowMs - run.availableSinceMs);
    run.longestMs = lengthOf(run.availableSinceMs, run.longestMs, nowMs);
    delete run.availableSinceMs;
    if (desired === 0) delete run.shortAt;
    else Object.assign(run, { shortAt: desired, wasShort: true });
  }

  function serve(run: Run, replicaSet: ReplicaSetView, nowMs: number): void {
    if (isServing(replicaSet)) run.servingSinceMs ??= nowMs;
    else {
      run.longestServingMs = lengthOf(run.servingSinceMs, run.longestServingMs, nowMs);
      delete run.servingSinceMs;
    }
  }

  return {
    observe(replicaSet, nowMs) {
      const known = runs.get(replicaSet.uid);
      if (!known && replicaSet.desired === 0) return; // old revisions are many, and tell nothing
      const run = known ?? { longestMs: 0, longestServingMs: 0, brokenAfterMs: 0, desired: 0, wasShort: false };
      (isReplicaSetAvailable(replicaSet) ? begin : end)(run, replicaSet, nowMs);
      serve(run, replicaSet, nowMs);
      run.desired = replicaSet.desired;
      runs.set(replicaSet.uid, run);
    },
    blind(fromMs, untilMs) {
      for (const run of runs.values()) {
        const { availableSinceMs, servingSinceMs } = run;
        if (availableSinceMs !== undefined) {
          run.longestMs = lengthOf(availableSinceMs, run.longestMs, Math.max(fromMs, availableSinceMs));
          run.availableSinceMs = Math.max(untilMs, availableSinceMs);
        }
        if (servingSinceMs !== undefined) {
          run.longestServingMs = lengthOf(servingSinceMs, run.longestServingMs, Math.max(fromMs, servingSinceMs));
          run.servingSinceMs = Math.max(untilMs, servingSinceMs);
        }
      }
    },
    brokenAfterMs: (uid) => runs.get(uid)?.brokenAfterMs ?? 0,
    longestAvailableMs(uid, nowMs) {
      const run = runs.get(uid);
      return run ? lengthOf(run.availableSinceMs, run.longestMs, nowMs) : 0;
    },
    longestServingMs(uid, nowMs) {
      const run = runs.get(uid);
      return run ? lengthOf(run.servingSinceMs, run.longestServingMs, nowMs) : 0;
    },
    wasShort: (uid) => runs.get(uid)?.wasShort ?? false,
    forget: (uid) => void runs.delete(uid),
  };
}
