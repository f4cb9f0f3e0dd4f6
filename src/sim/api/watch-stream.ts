import type { Clock } from '../../lib/clock.ts';
import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { expired, invalid, problem, statusOf } from './http-refusals.ts';
import { integer, type ListQuery, revisionOf, selection } from './listing.ts';
import type { ApiAnswer, Obj, RequestTarget } from './model.ts';
import { type ObjectStore, type StoredChange, versioned } from './object-store.ts';

interface Line {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: object;
}

interface StreamDeps {
  store: ObjectStore;
  clock: Clock;
}

const bookmarkEveryMs = 60_000;
/** The real server sends a last bookmark this long before it ends a watch. */
const beforeTheEndMs = 2_000;
/** How long a watch without a timeout lives. The real server picks a random time between 30 and 60 minutes. */
const longestMs = 45 * 60_000;

/** Reads what a watch asks for, and refuses what this server cannot answer. */
function questionOf({ row, namespace }: RequestTarget, query: ListQuery) {
  if (query['sendInitialEvents']) {
    const why = problem('sendInitialEvents', 'Forbidden', 'the simulated API server has no such watch');
    throw invalid({ kind: 'ListOptions', group: 'meta.k8s.io', name: '' }, [why]);
  }
  const selects = selection(query, row);
  const isOurs = (object: Obj | undefined): boolean =>
    object !== undefined && (namespace === undefined || object.metadata.namespace === namespace) && selects(object);
  return {
    isOurs,
    /** 0 asks for everything there is, and for what comes. */
    from: revisionOf(query['resourceVersion'] || '0', 500),
    lifetimeMs: integer(query['timeoutSeconds'] || '0') * 1000 || longestMs,
    // Only the watch cache of the real server sends bookmarks, and Events have no watch cache.
    wantsBookmarks: query['allowWatchBookmarks'] === 'true' && row.kind !== 'Event',
  };
}

/** Opens a watch. A bad request is refused at once; a version that is too old becomes a line of the watch. */
export function follow(
  { store, clock }: StreamDeps,
  target: RequestTarget,
  query: ListQuery,
  signal?: AbortSignal,
): ApiAnswer {
  const { row } = target;
  const { isOurs, from, lifetimeMs, wantsBookmarks } = questionOf(target, query);
  const queue = createLineQueue<Line>();
  const pushChange = (change: StoredChange): void => {
    const line = change.row === row && change.revision > from ? lineOf(change, isOurs) : undefined;
    if (line) queue.push(line);
  };
  const past = from === 0 ? [] : store.since(row, from);
  if (!past) return tooOld(from, store.revision());
  if (from === 0)
    for (const object of store.all(row, target.namespace)) if (isOurs(object)) queue.push({ type: 'ADDED', object });
  past.forEach(pushChange);

  const over = new AbortController();
  const stopListening = store.listen(pushChange);
  const end = (): void => {
    stopListening();
    over.abort();
    signal?.removeEventListener('abort', end);
    queue.end();
  };
  if (signal?.aborted) end();
  else signal?.addEventListener('abort', end, { once: true });
  void clock.sleep(lifetimeMs, over.signal).then(end);
  if (wantsBookmarks) {
    const push = (): void => queue.push({ type: 'BOOKMARK', object: bookmark(row, store.revision()) });
    void everyMinute(clock, clock.now() + lifetimeMs, over.signal, push);
  }
  return { status: 200, lines: queue.lines(end) };
}

function tooOld(from: number, current: number): ApiAnswer {
  const queue = createLineQueue<Line>();
  queue.push({ type: 'ERROR', object: statusOf(expired(`too old resource version: ${from} (${current})`)) });
  queue.end();
  return { status: 200, lines: queue.lines(() => undefined) };
}

/** Runs `work` once a minute, and once more shortly before the end. */
async function everyMinute(clock: Clock, endsAtMs: number, signal: AbortSignal, work: () => void): Promise<void> {
  for (;;) {
    const inMs = Math.min(bookmarkEveryMs, endsAtMs - beforeTheEndMs - clock.now());
    if (inMs <= 0) return;
    await clock.sleep(inMs, signal);
    if (signal.aborted) return;
    work();
  }
}

const bookmark = (row: KindRow, revision: number): object => ({
  kind: row.kind,
  apiVersion: apiVersionOf(row),
  metadata: { resourceVersion: String(revision), creationTimestamp: null },
});

/** An object that leaves the selection is DELETED for this watch, in the last state that was selected. */
function lineOf({ revision, before, after }: StoredChange, isOurs: (object?: Obj) => boolean): Line | undefined {
  const was = isOurs(before);
  if (isOurs(after)) return { type: was ? 'MODIFIED' : 'ADDED', object: after! };
  return was ? { type: 'DELETED', object: versioned(before!, revision) } : undefined;
}

/** A queue of lines that wait for one reader. */
interface LineQueue<T> {
  push(line: T): void;
  /** Lines that already wait are still read; later ones are dropped. */
  end(): void;
  /** May be read once. `onLeave` is called when the reader stops or has read the end. */
  lines(onLeave: () => void): AsyncGenerator<T>;
}

function createLineQueue<T>(): LineQueue<T> {
  const waiting: T[] = [];
  let isOver = false;
  let wake: (() => void) | undefined;
  const nudge = (): void => {
    wake?.();
    wake = undefined;
  };
  return {
    push(line) {
      if (!isOver) waiting.push(line);
      nudge();
    },
    end() {
      isOver = true;
      nudge();
    },
    async *lines(onLeave) {
      try {
        for (;;) {
          const line = waiting.shift();
          if (line !== undefined) yield line;
          else if (isOver) return;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        onLeave();
      }
    },
  };
}
