import type { Clock } from '../../lib/clock.ts';
import { apiVersionOf, type KindRow } from './kinds.ts';
import { createLineQueue } from './line-queue.ts';
import type { Answer, Obj } from './model.ts';
import { integer, type Query, revisionOf, selection } from './reading.ts';
import { expired, invalid, problem, statusOf } from './refusal.ts';
import type { Target } from './route.ts';
import { type Change, type Store, versioned } from './store.ts';

interface Line {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: object;
}

export interface StreamDeps {
  store: Store;
  clock: Clock;
}

const bookmarkEveryMs = 60_000;
/** The real one sends a last bookmark so long before it ends a watch. */
const beforeTheEndMs = 2_000;
/** The real one: random between 30 and 60 minutes when nobody says. */
const longestMs = 45 * 60_000;

/** What a watch asks for; refuses what nobody could answer. */
function questionOf({ row, namespace }: Target, query: Query) {
  if (query['sendInitialEvents']) {
    const why = problem('sendInitialEvents', 'Forbidden', 'the simulated API server has no such watch');
    throw invalid({ kind: 'ListOptions', group: 'meta.k8s.io', name: '' }, [why]);
  }
  const selects = selection(query, row);
  const isOurs = (object: Obj | undefined): boolean =>
    object !== undefined && (namespace === undefined || object.metadata.namespace === namespace) && selects(object);
  return {
    isOurs,
    /** 0: whatever there is, and what comes. */
    from: revisionOf(query['resourceVersion'] || '0', 500),
    lifetimeMs: integer(query['timeoutSeconds'] || '0') * 1000 || longestMs,
    // The real one keeps no watch cache of Events, and only that sends bookmarks.
    wantsBookmarks: query['allowWatchBookmarks'] === 'true' && row.kind !== 'Event',
  };
}

/** An open watch. What is wrong with the question is refused at once; a version that is too old is told in a line. */
export function follow({ store, clock }: StreamDeps, target: Target, query: Query, signal?: AbortSignal): Answer {
  const { row } = target;
  const { isOurs, from, lifetimeMs, wantsBookmarks } = questionOf(target, query);
  const queue = createLineQueue<Line>();
  const tell = (change: Change): void => {
    const line = change.row === row && change.revision > from ? lineOf(change, isOurs) : undefined;
    if (line) queue.push(line);
  };
  const past = from === 0 ? [] : store.since(row, from);
  if (!past) return tooOld(from, store.revision());
  if (from === 0)
    for (const object of store.all(row, target.namespace)) if (isOurs(object)) queue.push({ type: 'ADDED', object });
  past.forEach(tell);

  const over = new AbortController();
  const stopListening = store.listen(tell);
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

function tooOld(from: number, current: number): Answer {
  const queue = createLineQueue<Line>();
  queue.push({ type: 'ERROR', object: statusOf(expired(`too old resource version: ${from} (${current})`)) });
  queue.end();
  return { status: 200, lines: queue.lines(() => undefined) };
}

/** Once a minute, and once more shortly before the end. */
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

/** What leaves the selection is deleted as far as this watch is concerned, in its last state that was selected. */
function lineOf({ revision, before, after }: Change, isOurs: (object?: Obj) => boolean): Line | undefined {
  const was = isOurs(before);
  if (isOurs(after)) return { type: was ? 'MODIFIED' : 'ADDED', object: after! };
  return was ? { type: 'DELETED', object: versioned(before!, revision) } : undefined;
}
