import type { Notice } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { hashOf } from '../../lib/hash.ts';
import { nextSlot, remainingMs } from '../../lib/window.ts';
import { isSettled, shownPhase } from '../cards/head.ts';
import { type Address, chatKey } from '../plan/route.ts';

/** Changed counts alone are not news. They are updated this long after the last post or edit. */
const countsEveryMs = 300_000;

/** The state that a message should show. */
export interface Wanted {
  /** Hash of the state (rendering.ts). */
  shown: string;
  /** Hash of the counts; undefined if there are none that can still change. */
  counts: string | undefined;
  /** For a message that changes all the time: it is edited at the earliest this long after the last post or edit. */
  apartMs?: number;
}

/** The known state of the message on the phone. */
export interface Shown extends Partial<Wanted> {
  message?: string;
  /** When it was posted or edited; after a restart, when this process first looked at it. */
  shownAtMs?: number;
}

export type Due = { do: 'post' } | { do: 'edit'; about: 'state' | 'counts' } | { do: 'wait'; ms: number };

/** Pure. A wait of 0 ms means that the message is up to date. */
export function whatIsDue(last: Shown, wanted: Wanted, nowMs: number): Due {
  if (!last.message) return { do: 'post' };
  const sinceMs = last.shownAtMs ?? nowMs;
  if (last.shown !== wanted.shown) {
    const restMs = remainingMs({ sinceMs, forMs: wanted.apartMs ?? 0 }, nowMs);
    return restMs > 0 ? { do: 'wait', ms: restMs } : { do: 'edit', about: 'state' };
  }
  // After a restart it is not known which counts were shown. They may differ.
  if (wanted.counts === undefined || wanted.counts === last.counts) return { do: 'wait', ms: 0 };
  const ms = remainingMs({ sinceMs, forMs: countsEveryMs }, nowMs);
  return ms > 0 ? { do: 'wait', ms } : { do: 'edit', about: 'counts' };
}

/** A hash of the counts that cards show and that can still change. Settled members are left out. */
export function countsOf(members: readonly Remediation[]): string | undefined {
  const open = members.filter((fix) => !isSettled(fix));
  return open.length === 0 ? undefined : hashOf(open.map((fix) => [fix.metadata.uid, shownCounts(fix)]));
}

/** How many are ready after a failed fix is part of its state (rendering.ts). */
function shownCounts(fix: Remediation): unknown[] {
  const { ready, desired, affected = [] } = fix.status?.sightings ?? {};
  return shownPhase(fix) === 'Failed' ? [] : [ready, desired, affected];
}

/**
 * The message that the vendor accepted, as far as this process knows. It is newer than the Notice's status until that
 * is patched.
 */
export interface Delivery extends Shown {
  postedAt?: string;
  attempts: number;
  /** The Notice's status says the same. */
  saved: boolean;
  posting: boolean;
  errorSavedAtMs?: number;
  errorLogged?: string;
}

export interface Deliveries {
  of(notice: Notice): Delivery;
  forget(name: string): void;
}

/** Read from the status once, then only from memory: a late watch event must not make us post again. */
export function createDeliveries(): Deliveries {
  const deliveries = new Map<string, Delivery>();
  return {
    of(notice) {
      const known = deliveries.get(notice.metadata.name);
      if (known?.message || !notice.status?.message) return known ?? remember(notice);
      return Object.assign(known ?? remember(notice), pick(notice));
    },
    forget: (name) => void deliveries.delete(name),
  };

  function remember(notice: Notice): Delivery {
    const delivery: Delivery = { ...pick(notice), attempts: notice.status?.attempts ?? 0, saved: true, posting: false };
    deliveries.set(notice.metadata.name, delivery);
    return delivery;
  }
}

function pick({ status }: Notice): Pick<Delivery, 'message' | 'shown' | 'postedAt'> {
  const { message, shown, postedAt } = status ?? {};
  return { ...(message && { message }), ...(shown && { shown }), ...(postedAt && { postedAt }) };
}

/** An attempt failed. The first attempt does not count while it is still under way. */
export const isStuck = ({ message, attempts, posting }: Delivery): boolean => !message && attempts > (posting ? 1 : 0);

const minuteMs = 60_000;
/**
 * Edits per chat, of all kinds together (a terminal has no limit, because no vendor counts there). Edits of counts
 * leave room for edits of state. Where a confirmation may be asked, edits of state leave room for that, because the
 * question lives for 30 s only.
 */
const editsPerMinute = 12;
const keptFrom = { counts: 6, state: 0, press: 0 } as const;
const keptForQuestions = 2;
const shortestPauseMs = 5_000;
const longestPauseMs = 30_000;

/** Per chat: the edit budget, and the pause after a failure, which no new event may shorten. */
export interface Pacing {
  /** An attempt failed. The next is made after at least `afterMs`, and the pause grows with each failure in a row. */
  failed(address: Address, afterMs: number, nowMs: number): void;
  arrived(address: Address): void;
  pausedForMs(address: Address, nowMs: number): number;
  /** 0: go ahead. Otherwise how long to wait; the newest state is rendered then. */
  waitMs(address: Address, about: keyof typeof keptFrom, nowMs: number, mayAsk?: boolean): number;
  spend(address: Address, nowMs: number): void;
  /** Posts of the last minute by the name of their Notice. A message counts even if its Notice is gone. */
  posts(address: Address, nowMs: number): ReadonlyMap<string, number>;
  /** Called before the vendor, so that two posts at once see each other. */
  reserve(address: Address, name: string, nowMs: number): void;
  /** It was not sent after all. */
  release(address: Address, name: string): void;
}

export function createPacing(): Pacing {
  const spent = new Map<string, number[]>();
  const outages = new Map<string, { failures: number; sinceMs: number; forMs: number }>();
  const posted = new Map<string, Map<string, number>>();
  const recent = (address: Address, nowMs: number): number[] =>
    (spent.get(chatKey(address)) ?? []).filter((at) => at > nowMs - minuteMs);
  return {
    failed(address, afterMs, nowMs) {
      const key = chatKey(address);
      const before = outages.get(key) ?? { failures: 0, sinceMs: nowMs, forMs: 0 };
      const leftMs = remainingMs(before, nowMs);
      const isSame = before.failures > 0 && leftMs > 0; // several attempts failed at once
      const grownMs = isSame ? 0 : Math.min(shortestPauseMs * 2 ** before.failures, longestPauseMs);
      const failures = before.failures + (isSame ? 0 : 1);
      outages.set(key, { failures, sinceMs: nowMs, forMs: Math.max(leftMs, afterMs, grownMs) });
    },
    arrived(address) {
      const outage = outages.get(chatKey(address));
      if (outage) outage.failures = 0;
    },
    pausedForMs(address, nowMs) {
      const outage = outages.get(chatKey(address));
      return outage ? remainingMs(outage, nowMs) : 0;
    },
    waitMs(address, about, nowMs, mayAsk = false) {
      if (address.channel === 'console') return 0;
      const kept = about === 'state' && mayAsk ? keptForQuestions : keptFrom[about];
      return nextSlot(recent(address, nowMs), editsPerMinute - kept, minuteMs, nowMs) - nowMs;
    },
    spend: (address, nowMs) => void spent.set(chatKey(address), [...recent(address, nowMs), nowMs]),
    posts(address, nowMs) {
      const all = [...(posted.get(chatKey(address)) ?? [])];
      return new Map(all.filter(([, atMs]) => atMs > nowMs - minuteMs));
    },
    reserve(address, name, nowMs) {
      posted.set(chatKey(address), new Map([...this.posts(address, nowMs), [name, nowMs]]));
    },
    release: (address, name) => void posted.get(chatKey(address))?.delete(name),
  };
}
