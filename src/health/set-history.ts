import type { SetRevisionView } from '../kube/views.ts';
import type { History } from './history.ts';

/** Feeds the history with what StatefulSets and DaemonSets report about their revisions. */
export interface SetHistory {
  observe(set: SetRevisionView, nowMs: number): void;
  forget(uid: string): void;
}

/**
 * A ReplicaSet reports for its own revision; a StatefulSet or DaemonSet only for all of its pods together. So its newest
 * revision is whole when the rollout is done and all pods are available. While one runs, the older revision counts as
 * scaled away: what it was until then stays.
 */
export function createSetHistory(history: History): SetHistory {
  const current = new Map<string, string>(); // the revision of each set, by its uid

  return {
    observe({ uid, key, namespace, desired, available, isCaughtUp, isRolledOut }, nowMs) {
      // It has no name: nobody can read a revision of a set again by one.
      const seen = { namespace, name: '', revision: 0, templateHash: '', createdAtMs: 0 };
      const before = current.get(uid);
      if (before !== undefined && before !== key)
        history.observe({ ...seen, uid: before, desired: 0, available: 0 }, nowMs);
      current.set(uid, key);
      if (isCaughtUp) history.observe({ ...seen, uid: key, desired, available: isRolledOut ? available : 0 }, nowMs);
    },
    forget(uid) {
      const key = current.get(uid);
      if (key !== undefined) history.forget(key);
      current.delete(uid);
    },
  };
}
