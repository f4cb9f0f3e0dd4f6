import type { Notice } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import { hashOf } from '../../lib/hash.ts';
import { nextSlot } from '../../lib/window.ts';
import { isOverInChat, isSettled } from '../cards/head.ts';
import { type Address, chatKey } from '../plan/route.ts';

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

/** What the vendor took, as this process knows it: newer than the Notice's status until that is patched. */
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

/** From the status once, then only from here: a late watch event must not make us post again. */
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

/** An attempt failed; one that is under way for the first time may still succeed. */
export const isStuck = ({ message, attempts, posting }: Delivery): boolean => !message && attempts > (posting ? 1 : 0);

const minuteMs = 60_000;
/**
 * Of one chat, all kinds together (a terminal has none: no vendor counts there). Counts leave room for news, and where
 * somebody can be asked once more news leaves room for that: the question lives for 30 s only.
 */
const editsPerMinute = 12;
const keptFrom = { counts: 6, state: 0, press: 0 } as const;
const keptForQuestions = 2;
const shortestPauseMs = 5_000;
const longestPauseMs = 30_000;

/** Per chat: the budget of edits, and the pause after a failure, which no new event may cut short. */
export interface Pacing {
  /** An attempt failed: the next is made no sooner than `afterMs`, and later the more of them failed in a row. */
  failed(address: Address, afterMs: number, nowMs: number): void;
  arrived(address: Address): void;
  pausedForMs(address: Address, nowMs: number): number;
  /** 0: go. Otherwise how long to wait; the newest state is rendered then. */
  waitMs(address: Address, about: keyof typeof keptFrom, nowMs: number, mayAsk?: boolean): number;
  spend(address: Address, nowMs: number): void;
  /** Posts of the last minute by the name of their Notice: it may be gone, and the message still counts. */
  posts(address: Address, nowMs: number): ReadonlyMap<string, number>;
  /** Before the vendor is called, so that two at once see each other. */
  reserve(address: Address, name: string, nowMs: number): void;
  /** It was not sent after all. */
  release(address: Address, name: string): void;
}

export function createPacing(): Pacing {
  const spent = new Map<string, number[]>();
  const outages = new Map<string, { failures: number; untilMs: number }>();
  const posted = new Map<string, Map<string, number>>();
  const recent = (address: Address, nowMs: number): number[] =>
    (spent.get(chatKey(address)) ?? []).filter((at) => at > nowMs - minuteMs);
  return {
    failed(address, afterMs, nowMs) {
      const key = chatKey(address);
      const { failures, untilMs } = outages.get(key) ?? { failures: 0, untilMs: 0 };
      const isSame = failures > 0 && nowMs < untilMs; // of several at once
      const grownMs = isSame ? 0 : Math.min(shortestPauseMs * 2 ** failures, longestPauseMs);
      const nextMs = nowMs + Math.max(afterMs, grownMs);
      outages.set(key, { failures: failures + (isSame ? 0 : 1), untilMs: Math.max(untilMs, nextMs) });
    },
    arrived(address) {
      const outage = outages.get(chatKey(address));
      if (outage) outage.failures = 0;
    },
    pausedForMs: (address, nowMs) => Math.max((outages.get(chatKey(address))?.untilMs ?? 0) - nowMs, 0),
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
