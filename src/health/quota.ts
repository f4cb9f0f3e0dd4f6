import type { LiveHealth } from './live.ts';
import { gone } from './workload.ts';

/** An owner of pods that a quota refuses. */
export interface BlockedOwner {
  kind: string;
  name: string;
  uid: string;
  /** The workload a person would name: the Deployment of a ReplicaSet. */
  workload: string;
  ready: number;
  desired: number;
  /** The API server's words. */
  refusal: string;
  /** It would be let in now, and only waits for its next try. */
  fits: boolean;
}

/** Pure. The incident is over when nobody is refused any more, or the quota is gone. */
export function quotaHealth(exists: boolean, blocked: readonly BlockedOwner[]): LiveHealth {
  if (!exists) return gone;
  const workloads = new Map(blocked.map((owner) => [owner.workload, owner]));
  const short = [...workloads.values()];
  const hasRoom = short.length > 0 && blocked.every(({ fits }) => fits);
  return {
    ...gone,
    gone: false,
    healthy: short.length === 0,
    troubles: short.length > 0 && !hasRoom ? ['QuotaExceeded'] : [],
    hasRoom,
    why:
      short.length === 0 ? '' : `${short.length} ${short.length === 1 ? 'workload is' : 'workloads are'} refused pods`,
    ready: short.reduce((sum, owner) => sum + owner.ready, 0),
    desired: short.reduce((sum, owner) => sum + owner.desired, 0),
    affected: short.map((owner) => owner.workload).sort(),
  };
}
