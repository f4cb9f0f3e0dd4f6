import { LRUCache } from 'lru-cache';
import { type Clock, iso } from '../lib/clock.ts';
import { SignalOutcome } from '../signals/signal.ts';

/** The subject of a signal, in short. Nothing here comes from a message, because messages may contain anything. */
export interface LedgerSubject {
  /** Key of the workload, or of the object itself while the owner is unknown. */
  workload: string;
  class: string;
  reason: string;
  /** Key of the incident, if it belongs to a shared cause. */
  incident?: string;
}

/** One entry for the same outcome several times in a row. */
export interface Entry extends Omit<LedgerSubject, 'workload'> {
  outcome: SignalOutcome;
  first: string;
  last: string;
  count: number;
}

export interface LedgerPage {
  workload: string;
  /** Signals that were kept, and that wait for the outcome of their incident. */
  waiting: { class: string; reason: string; count: number; since: string }[];
  /** Newest first. */
  outcomes: Entry[];
}

/**
 * The outcome of every signal: each one that arrived ends in exactly one outcome, or still waits. The last outcomes of
 * each workload are kept, so that people can ask why there was, or was not, a message.
 */
export interface Ledger {
  /** A signal came in; ended() or waits() follows. */
  arrived(): void;
  ended(outcome: SignalOutcome, about: LedgerSubject, times?: number): void;
  /** It is part of an incident that is not recorded yet, and ends with it. */
  waits(key: string, about: LedgerSubject, times?: number): void;
  /** Ends all signals that wait with this incident. */
  settle(key: string, outcome: SignalOutcome): void;
  /** It was dropped at the source, before it was a signal about any workload. */
  dropped(outcome: SignalOutcome): void;
  waiting(): number;
  totals(): { seen: number; waiting: number; outcomes: Record<string, number> };
  of(workload: string): LedgerPage;
}

export interface LedgerDeps {
  clock: Clock;
  /** For the metric. */
  count(outcome: SignalOutcome, times: number): void;
  mostWorkloads?: number;
  entriesEach?: number;
}

interface Waiting {
  about: LedgerSubject;
  sinceMs: number;
  times: number;
}

export function createLedger({ clock, count, mostWorkloads = 2_000, entriesEach = 10 }: LedgerDeps): Ledger {
  const pages = new LRUCache<string, Entry[]>({ max: mostWorkloads });
  const waiting = new Map<string, Map<string, Waiting>>(); // by incident, then by what it is about
  const totals = new Map<SignalOutcome, number>();
  let seen = 0;
  let unjudged = 0;

  function end(outcome: SignalOutcome, times: number): void {
    totals.set(outcome, (totals.get(outcome) ?? 0) + times);
    count(outcome, times);
  }

  function record(outcome: SignalOutcome, { workload, ...about }: LedgerSubject, sinceMs: number, times: number): void {
    const page = pages.get(workload) ?? [];
    const [newest] = page;
    const last = iso(clock.now());
    if (newest && newest.outcome === outcome && isSame(newest, about)) {
      Object.assign(newest, { last, count: newest.count + times });
    } else {
      page.unshift({ ...about, outcome, first: iso(sinceMs), last, count: times });
      page.length = Math.min(page.length, entriesEach);
    }
    pages.set(workload, page);
  }

  const waitingNow = (): number =>
    [...waiting.values()].flatMap((all) => [...all.values()]).reduce((sum, { times }) => sum + times, unjudged);

  return {
    arrived() {
      seen += 1;
      unjudged += 1;
    },
    ended(outcome, about, times = 1) {
      unjudged -= times;
      end(outcome, times);
      // Most of a cluster may not be selected, and its noise would push out the entries that people ask for.
      if (outcome !== SignalOutcome.namespaceNotSelected) record(outcome, about, clock.now(), times);
    },
    waits(key, about, times = 1) {
      unjudged -= times;
      const all = waiting.get(key) ?? new Map<string, Waiting>();
      const of = [about.workload, about.class, about.reason].join(' ');
      const before = all.get(of);
      if (before) before.times += times;
      else waiting.set(key, all.set(of, { about, sinceMs: clock.now(), times }));
    },
    settle(key, outcome) {
      for (const { about, sinceMs, times } of waiting.get(key)?.values() ?? []) {
        end(outcome, times);
        record(outcome, about, sinceMs, times);
      }
      waiting.delete(key);
    },
    dropped(outcome) {
      seen += 1;
      end(outcome, 1);
    },
    waiting: waitingNow,
    totals: () => ({ seen, waiting: waitingNow(), outcomes: Object.fromEntries(totals) }),
    of: (workload) => ({
      workload,
      waiting: [...waiting.values()]
        .flatMap((all) => [...all.values()])
        .filter(({ about }) => about.workload === workload)
        .map(({ about, sinceMs, times }) => ({
          class: about.class,
          reason: about.reason,
          count: times,
          since: iso(sinceMs),
        })),
      outcomes: pages.peek(workload) ?? [],
    }),
  };
}

const isSame = (entry: Entry, about: Omit<LedgerSubject, 'workload'>): boolean =>
  entry.class === about.class && entry.reason === about.reason && entry.incident === about.incident;
