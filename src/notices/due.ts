import type { Remediation } from '../kube/remediation.ts';
import { hashOf } from '../lib/hash.ts';
import { isOverInChat, isSettled } from './head.ts';

/** Counts alone are no news: they are brought up to date this long after the message was last touched. */
const countsEveryMs = 300_000;

/** What a message ought to show. */
export interface Wanted {
  /** Hash of the state (state.ts). */
  shown: string;
  /** Hash of the counts; undefined: none that may still change. */
  counts: string | undefined;
  /** It changes all the time: this long after it was last touched it is brought up to date, not before. */
  apartMs?: number;
}

/** What is known of the message on the phone. */
export interface Shown extends Partial<Wanted> {
  message?: string;
  /** When it was posted or edited; after a restart, when this process first looked at it. */
  shownAtMs?: number;
}

export type Due = { do: 'post' } | { do: 'edit'; about: 'state' | 'counts' } | { do: 'wait'; ms: number };

/** Pure. Wait 0 ms: the message is as it should be. */
export function whatIsDue(last: Shown, wanted: Wanted, nowMs: number): Due {
  if (!last.message) return { do: 'post' };
  if (last.shown !== wanted.shown) {
    const restMs = (last.shownAtMs ?? nowMs) + (wanted.apartMs ?? 0) - nowMs;
    return restMs > 0 ? { do: 'wait', ms: restMs } : { do: 'edit', about: 'state' };
  }
  // After a restart it is not known which counts were shown: they may be other ones.
  if (wanted.counts === undefined || wanted.counts === last.counts) return { do: 'wait', ms: 0 };
  const ms = (last.shownAtMs ?? nowMs) + countsEveryMs - nowMs;
  return ms > 0 ? { do: 'wait', ms } : { do: 'edit', about: 'counts' };
}

/** Of the counts that cards show and that may still change; those of what is settled are history. */
export function countsOf(members: readonly Remediation[]): string | undefined {
  const open = members.filter((fix) => !isSettled(fix));
  return open.length === 0 ? undefined : hashOf(open.map((fix) => [fix.metadata.uid, shownCounts(fix)]));
}

/** A failure that is still open shows only how many are ready, and that is part of its state. */
function shownCounts(fix: Remediation): unknown[] {
  const { count = 1, ready, desired, affected = [] } = fix.status?.sightings ?? {};
  return isOverInChat(fix) ? [] : [count, ready, desired, affected];
}
