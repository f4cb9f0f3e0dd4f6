import { setImmediate as nextTurn } from 'node:timers/promises';
import { untilAborted } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { Log } from '../lib/log.ts';
import { type Api, ApiError, hasCode, isForbidden, type KubeObject, Unreachable, type WatchLine } from './api.ts';
import { errorOfStatus } from './client-errors.ts';
import { pageLimit } from './client.ts';
import type { Kind } from './resources.ts';
import { createGuard } from './watch-guard.ts';
import { createOutage } from './watch-outage.ts';

export type Change<V> = { type: 'upsert'; view: V } | { type: 'gone'; namespace: string; name: string; uid: string };

export interface WatchDeps<V> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  namespace?: string;
  fieldSelector?: string;
  /** The slim projection; undefined = nobody needs this object. It is called once per object, at the edge. */
  view(object: KubeObject): V | undefined;
  /**
   * A whole list was read: everything that exists now. Comes first, and again after each relist. What was deleted
   * while nobody watched is known only by its absence here: compare with what you hold.
   */
  onList(views: V[]): void;
  /** 'gone' also says that an object's view became undefined; it may come for one that was never seen. */
  onChange(change: Change<V>): void;
  /** It may not be listed: not now, perhaps later. */
  onForbidden?(): void;
  /** Nothing could be seen in between; what happened then is told from now on, late. */
  onGap?(fromMs: number, untilMs: number): void;
  random?: () => number;
  /** How long the server shall keep one watch open; by default random, so that our watches do not end all at once. */
  timeoutSeconds?: number;
  /** Silence after which a connection is dead; a healthy one has a bookmark about once a minute. */
  deadAfterMs?: number;
}

export interface Watch {
  /** Milliseconds since the server last said anything (a line, a bookmark, an answered list); Infinity before the first. */
  silentMs(): number;
  /** Whether the first list was read. */
  synced(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

/** A healthy watch has a bookmark about once a minute: after a longer silence what comes may be late. */
const longestSilenceMs = 75_000;

/** A server that ends each watch at once is asked no more often than this. */
const shortestWatchMs = 1_000;

/**
 * Of Events there are no bookmarks: the API server keeps no watch cache of them, and only that sends any. So that silence
 * still tells a dead connection from a quiet cluster, the server is asked to end these watches before it would count.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubeapiserver/default_storage_factory_builder.go (watch cache sizes)
 */
const lifetimeSeconds = (kind: Kind, random: () => number): number =>
  kind === 'Event' ? 45 + Math.floor(random() * 16) : 240 + Math.floor(random() * 61);

/**
 *         +--------------- the version is too old (410) ----------------+
 *         v                                                             |
 *   list, page by page --> watch from its version --> server ends it: resume from the last version seen
 *         |                         |
 *         +-- anything else: back off, then go on where it was, for ever
 */
export function createWatch<V>(deps: WatchDeps<V>): Watch {
  const { api, clock, log, kind, namespace, random = Math.random, deadAfterMs = 90_000 } = deps;
  const about = namespace === undefined ? { kind } : { kind, namespace };
  const selector: Record<string, string> = deps.fieldSelector ? { fieldSelector: deps.fieldSelector } : {};
  const outage = createOutage({ clock, log, random, about });
  const guard = createGuard(log, about);
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let brokenSinceMs: number | undefined; // when it was last heard before it broke
  let synced = false;
  let version: string | undefined; // the last one seen; undefined = list first

  function heard(): void {
    const nowMs = clock.now();
    const silentSinceMs = brokenSinceMs ?? (nowMs - heardAtMs > longestSilenceMs ? heardAtMs : undefined);
    brokenSinceMs = undefined;
    heardAtMs = nowMs;
    if (silentSinceMs !== undefined && Number.isFinite(silentSinceMs))
      guard('onGap', () => deps.onGap?.(silentSinceMs, nowMs));
  }

  async function list(signal: AbortSignal): Promise<string> {
    const views: V[] = [];
    let first: string | undefined;
    let query: Record<string, string> = { ...selector, limit: pageLimit };
    for (;;) {
      const { items, metadata } = await untilAborted(api.page(kind, namespace, query), signal);
      heard();
      first ??= metadata.resourceVersion ?? '';
      for (const item of items) {
        const view = guard('view', () => deps.view(item))?.value;
        if (view !== undefined) views.push(view);
      }
      if (!metadata.continue) break;
      query = { ...query, continue: metadata.continue };
      await nextTurn();
    }
    synced = true;
    outage.listed();
    guard('onList', () => deps.onList(views));
    return first;
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    const openedAtMs = clock.now();
    const timeoutSeconds = String(deps.timeoutSeconds ?? lifetimeSeconds(kind, random));
    const query = { ...selector, allowWatchBookmarks: 'true', resourceVersion: from, timeoutSeconds };
    const connection = new AbortController();
    const stop = (): void => connection.abort();
    signal.addEventListener('abort', stop, { once: true });
    void endWhenDead(connection, openedAtMs);
    try {
      for await (const line of api.watch(kind, namespace, query, connection.signal)) {
        if (connection.signal.aborted) break;
        take(line);
      }
      if (connection.signal.aborted) throw new Unreachable(`nothing heard for ${spokenDuration(deadAfterMs)}`);
    } finally {
      signal.removeEventListener('abort', stop);
      connection.abort();
    }
    const lastedMs = clock.now() - openedAtMs;
    if (lastedMs >= shortestWatchMs) return endedAsAsked();
    if (heardAtMs < openedAtMs) throw new Unreachable('the server ended the watch at once');
    await clock.sleep(shortestWatchMs - lastedMs, signal);
  }

  /** Whoever ends a watch in good order is there. */
  function endedAsAsked(): void {
    heard();
    outage.delivers();
  }

  async function endWhenDead(connection: AbortController, openedAtMs: number): Promise<void> {
    while (!connection.signal.aborted) {
      const leftMs = Math.max(heardAtMs, openedAtMs) + deadAfterMs - clock.now();
      if (leftMs <= 0) return connection.abort();
      await clock.sleep(leftMs, connection.signal);
    }
  }

  function take({ type, object }: WatchLine): void {
    if (type === 'ERROR') throw errorOfStatus(object);
    heard();
    outage.delivers();
    if (type !== 'BOOKMARK') tell(type, object);
    version = object.metadata?.resourceVersion || version;
  }

  function tell(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    const viewed = type === 'DELETED' ? { value: undefined } : guard('view', () => deps.view(object));
    if (!viewed) return;
    const { namespace = '', name, uid } = object.metadata ?? {};
    const change: Change<V> =
      viewed.value === undefined ? { type: 'gone', namespace, name, uid } : { type: 'upsert', view: viewed.value };
    guard('onChange', () => deps.onChange(change));
  }

  function pauseAfter(error: unknown): number {
    if (!refusesVersion(error)) return outage.failed(error);
    version = undefined;
    return outage.expired(error);
  }

  return {
    silentMs: () => clock.now() - heardAtMs,
    synced: () => synced,
    async run(signal) {
      while (!signal.aborted) {
        try {
          version ??= await list(signal);
          if (!signal.aborted) await follow(version, signal);
        } catch (error) {
          if (signal.aborted) return;
          brokenSinceMs ??= heardAtMs;
          if (!synced && isForbidden(error)) guard('onForbidden', () => deps.onForbidden?.());
          const pauseMs = pauseAfter(error);
          if (pauseMs > 0) await clock.sleep(pauseMs, signal);
        }
      }
    },
  };
}

/** Too old: 410. Too new, after etcd came back from a backup: "Too large resource version". Only a list helps. */
const refusesVersion = (error: unknown): boolean =>
  hasCode(error, 410) || (error instanceof ApiError && /\bresource ?version\b/i.test(error.message));
