import { LRUCache } from 'lru-cache';
import type { ReplicaSetView } from '../kube/views.ts';

/** A time without a break, and the longest one before it. */
interface Stretch {
  sinceMs?: number;
  longestMs: number;
}

const lengthOf = ({ sinceMs, longestMs }: Stretch, nowMs: number): number =>
  Math.max(longestMs, sinceMs === undefined ? 0 : nowMs - sinceMs);

function close(stretch: Stretch, nowMs: number): void {
  stretch.longestMs = lengthOf(stretch, nowMs);
  delete stretch.sinceMs;
}

/** Nobody watched between the two times, so that time is not counted. */
function skip(stretch: Stretch, fromMs: number, untilMs: number): void {
  const { sinceMs } = stretch;
  if (sinceMs === undefined) return;
  close(stretch, Math.max(fromMs, sinceMs));
  stretch.sinceMs = Math.max(untilMs, sinceMs);
}

interface Run {
  /** Times with all of its pods. */
  whole: Stretch;
  /** Times with at least half of its pods. */
  serving: Stretch;
  /** The longest time that it was whole before it broke by itself, not because it was scaled. */
  brokenAfterMs: number;
  desired: number;
  /** How many pods it wanted when it last had fewer. A lower wanted number alone is not a recovery. */
  shortAt?: number;
  /** When it was last seen with pods to run. */
  seenMs: number;
  /** When it was last read; a watch may be silent since. */
  readAtMs: number;
  /** Where the ReplicaSet is, if this process saw it. A revision of a set cannot be read again by its name. */
  place?: { namespace: string; name: string };
}

const newRun = (): Run => ({
  whole: { longestMs: 0 },
  serving: { longestMs: 0 },
  brokenAfterMs: 0,
  desired: 0,
  seenMs: 0,
  readAtMs: 0,
});

/** A revision, with what was seen of it and cannot be read again. */
export interface SeenRevision {
  uid: string;
  /** The longest times without a break: with all of its pods, and with at least half of them. */
  wholeMs: number;
  servingMs: number;
  brokenAfterMs: number;
  shortAt?: number;
  /** When it was last seen with pods to run. */
  seenMs: number;
}

/** When the watches of revisions were last heard from: a revision that runs was seen healthy until then, and no longer. */
export interface Heard {
  replicaSets: number;
  sets: number;
}

/** The same of a revision that may still be running: then its times grow. */
export interface RunningRevision extends SeenRevision {
  isRunning: boolean;
}

/**
 * The revisions that were healthy, as this process saw it, and those before it (restore). A Deployment without a readiness probe scales its good revision
 * to zero as soon as the bad one starts, so "was it healthy" cannot be read afterwards.
 */
export interface History {
  observe(replicaSet: ReplicaSetView, nowMs: number): void;
  /** Nobody watched in between: a run that was open then counts until the gap begins, and starts again when it ends. */
  blind(fromMs: number, untilMs: number): void;
  /** How long it had all of its pods before it broke by itself; 0 when it never did. */
  brokenAfterMs(uid: string): number;
  /** The longest time this revision was fully available without a break. */
  longestAvailableMs(uid: string, nowMs: number): number;
  /** The same, but with at least half of its pods. */
  longestServingMs(uid: string, nowMs: number): number;
  /** True if it had fewer pods than it wanted, and was not seen with as many since. */
  isShort(uid: string): boolean;
  forget(uid: string): void;
  /** The revisions of which there is something to say, each with what was seen until then. */
  seen(heard: Heard): RunningRevision[];
  /**
   * Revisions that have been healthy for `stableForMs` if they still are as they were last read: the silence of a quiet
   * cluster does not tell.
   */
  doubtful(times: {
    untilMs: number;
    nowMs: number;
    stableForMs: number;
  }): { namespace: string; name: string; uid: string }[];
  /** Adds what was seen before this process began, or by another one: of each time the longer one counts. */
  restore(seen: readonly SeenRevision[]): void;
}

export const isReplicaSetAvailable = (rs: ReplicaSetView): boolean => rs.desired > 0 && rs.available >= rs.desired;

const isServing = (rs: ReplicaSetView): boolean => rs.desired > 0 && rs.available * 2 >= rs.desired;

export function createHistory(max = 20_000): History {
  const runs = new LRUCache<string, Run>({ max });

  function begin(run: Run, { desired }: ReplicaSetView, nowMs: number): void {
    if (run.shortAt !== undefined && desired < run.shortAt) return;
    delete run.shortAt;
    run.whole.sinceMs ??= nowMs;
  }

  function end(run: Run, { desired }: ReplicaSetView, nowMs: number): void {
    const { sinceMs } = run.whole;
    const isScaled = desired === 0 || desired > run.desired;
    if (!isScaled && sinceMs !== undefined) run.brokenAfterMs = Math.max(run.brokenAfterMs, nowMs - sinceMs);
    close(run.whole, nowMs);
    if (desired === 0) delete run.shortAt;
    else run.shortAt = desired;
  }

  return {
    observe(replicaSet, nowMs) {
      const known = runs.get(replicaSet.uid);
      if (!known && replicaSet.desired === 0) return; // there are many old revisions, and they show nothing
      const run = known ?? newRun();
      (isReplicaSetAvailable(replicaSet) ? begin : end)(run, replicaSet, nowMs);
      if (isServing(replicaSet)) run.serving.sinceMs ??= nowMs;
      else close(run.serving, nowMs);
      run.desired = replicaSet.desired;
      if (replicaSet.desired > 0) run.seenMs = nowMs;
      run.readAtMs = nowMs;
      if (replicaSet.name !== '') run.place = { namespace: replicaSet.namespace, name: replicaSet.name };
      runs.set(replicaSet.uid, run);
    },
    blind(fromMs, untilMs) {
      for (const { whole, serving } of runs.values())
        for (const stretch of [whole, serving]) skip(stretch, fromMs, untilMs);
    },
    brokenAfterMs: (uid) => runs.get(uid)?.brokenAfterMs ?? 0,
    longestAvailableMs: (uid, nowMs) => lengthOf(runs.get(uid)?.whole ?? never, nowMs),
    longestServingMs: (uid, nowMs) => lengthOf(runs.get(uid)?.serving ?? never, nowMs),
    isShort: (uid) => runs.get(uid)?.shortAt !== undefined,
    forget: (uid) => void runs.delete(uid),
    seen: (heard) =>
      [...runs.entries()]
        .map(([uid, run]) => seenOf(uid, run, run.place ? heard.replicaSets : heard.sets))
        .filter(saysSomething),
    doubtful: ({ untilMs, nowMs, stableForMs }) =>
      [...runs.entries()].flatMap(([uid, { whole, readAtMs, place }]) => {
        const isStable = (atMs: number): boolean => lengthOf(whole, atMs) >= stableForMs;
        return place && isStable(nowMs) && !isStable(Math.max(untilMs, readAtMs)) ? [{ ...place, uid }] : [];
      }),
    restore(all) {
      for (const seen of all) {
        const { uid, shortAt } = seen;
        const known = runs.get(uid);
        const run = known ?? newRun();
        run.whole.longestMs = Math.max(run.whole.longestMs, seen.wholeMs);
        run.serving.longestMs = Math.max(run.serving.longestMs, seen.servingMs);
        run.brokenAfterMs = Math.max(run.brokenAfterMs, seen.brokenAfterMs);
        run.seenMs = Math.max(run.seenMs, seen.seenMs);
        if (!known && shortAt !== undefined) run.shortAt = shortAt; // what this process sees itself is newer
        runs.set(uid, run);
      }
    },
  };
}

function seenOf(uid: string, run: Run, heardMs: number) {
  const { whole, serving, brokenAfterMs, shortAt, seenMs, readAtMs } = run;
  const untilMs = Math.max(heardMs, readAtMs);
  const isRunning = serving.sinceMs !== undefined;
  const wholeMs = lengthOf(whole, untilMs);
  return {
    uid,
    wholeMs,
    servingMs: Math.max(wholeMs, lengthOf(serving, untilMs)),
    brokenAfterMs,
    ...(shortAt !== undefined && { shortAt }),
    seenMs: isRunning ? Math.max(seenMs, untilMs) : seenMs,
    isRunning,
  };
}

const saysSomething = ({ servingMs, shortAt }: SeenRevision): boolean => servingMs > 0 || shortAt !== undefined;

const never: Stretch = { longestMs: 0 };
