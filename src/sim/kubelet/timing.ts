/** How long things take on a pretended node. The back-offs are kubelet's own. */
export interface Timing {
  /** From a pod's arrival until its containers are started. */
  startMs: number;
  /** Until an end is noticed. */
  noticeMs: number;
  /** Between two tries at what does not work, and two reminders of a back-off. */
  resyncMs: number;
  /** From SIGTERM to the end. */
  stopMs: number;
  backoffMs: number;
  longestBackoffMs: number;
  /** A container that ran this long starts over with the shortest back-off. */
  forgiveAfterMs: number;
  heartbeatMs: number;
}

export const usualTiming: Timing = {
  startMs: 1_000,
  noticeMs: 1_000,
  resyncMs: 12_000,
  stopMs: 500,
  backoffMs: 10_000,
  longestBackoffMs: 300_000,
  forgiveAfterMs: 600_000,
  heartbeatMs: 10_000,
};

/** As Go writes a duration of whole seconds: 10s, 1m20s, 5m0s. */
export function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
