import { setImmediate as nextTurn } from 'node:timers/promises';
import { backoffMs, type Clock, untilAborted } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import {
  type Api,
  ApiError,
  hasCode,
  isForbidden,
  isUnserved,
  type KubeObject,
  type Page,
  Unreachable,
  type WatchLine,
} from './api.ts';
import { errorOfStatus } from './client-transport.ts';
import { createContact, type Sight } from './contact.ts';
import { pagesOf, TooLarge } from './bounds.ts';
import type { Kind } from './resources.ts';
import type { Roll } from './roster.ts';

/**
 * Shared by the watches of one process: the first watch that reaches the server again after an outage wakes those that
 * still wait because of the same outage.
 */
export interface ReconnectSignal {
  /** Call it when an outage is over. */
  again(): void;
  /** A signal that aborts at the next again(). */
  next(): AbortSignal;
}

export function createReconnectSignal(): ReconnectSignal {
  let waiting = new AbortController();
  return {
    again() {
      const woken = waiting;
      waiting = new AbortController();
      woken.abort();
    },
    next: () => waiting.signal,
  };
}

/** The result of the work; undefined when it threw. */
type Guard = <T>(what: string, work: () => T) => { value: T } | undefined;

const mostComplaints = 50;

/** Runs other parts' code. What it throws, or rejects with later, is logged once and does not end the watch. */
function createGuard(log: Log, about: object): Guard {
  const complaints = new Set<string>();

  function complain(what: string, error: unknown): void {
    const message = messageOf(error);
    const complaint = `${what}: ${message}`;
    if (complaints.has(complaint) || complaints.size >= mostComplaints) return;
    complaints.add(complaint);
    const stack = error instanceof Error ? error.stack : undefined;
    log.error({ ...about, what, error: message, stack }, 'watch handler threw');
  }

  return (what, work) => {
    try {
      const value = work();
      if (value instanceof Promise) value.catch((error: unknown) => complain(what, error));
      return { value };
    } catch (error) {
      complain(what, error);
      return undefined;
    }
  };
}

interface FailuresDeps {
  clock: Clock;
  log: Log;
  random: () => number;
  /** The watched kind and namespace, for the log. */
  about: object;
  onOver?(): void;
}

interface Failures {
  /** Records one more failure; returns how long to wait. */
  failed(error: unknown): number;
  /** The server no longer knows our resourceVersion; returns how long to wait before listing again. */
  expired(error: unknown): number;
  /** A list was read. */
  listed(): void;
  /** The watch delivers. */
  delivers(): void;
}

/** A server may ask for a pause, but not for an unlimited one. */
const longestPauseMs = 60_000;

/** The pause that the server asked for, and a little more: those who wait together do not all ask at once. */
const askedPauseMs = (error: unknown, random: () => number): number | undefined =>
  error instanceof ApiError && error.retryAfterMs !== undefined
    ? Math.min(error.retryAfterMs, longestPauseMs) * (1 + random() / 10)
    : undefined;

/** A watch that is not served for longer, while others are, has a trouble of its own. */
const longestUnservedMs = 30_000;

/**
 * Whether it may be over as soon as another watch reaches the server. That is not so for a pause that the server asked
 * for, nor for a missing right.
 */
const isDown = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && error.code >= 500 && error.retryAfterMs === undefined);

/**
 * Counts failures in a row. What keeps this watch alone from working is two log lines, its beginning and its end,
 * however long it lasts. An outage of the server itself is logged elsewhere, once for all watches: see outage.ts.
 */
function countFailures({ clock, log, random, about, onOver }: FailuresDeps): Failures {
  let failures = 0;
  let expiries = 0;
  let sinceMs = 0;
  let isLogged = false;

  /** A watch that the server does not serve is opened again and again; most often it works soon. */
  const isWorthALine = (error: unknown): boolean =>
    !isUnserved(error) || (!error.isSaid && clock.now() - sinceMs >= longestUnservedMs);

  function over(): void {
    if (failures === 0) return;
    log[isLogged ? 'info' : 'debug']({ ...about, failures, downMs: clock.now() - sinceMs }, 'watch is back');
    isLogged = false;
    failures = 0;
    onOver?.();
  }

  return {
    failed(error) {
      failures += 1;
      if (failures === 1) sinceMs = clock.now();
      const retryInMs = askedPauseMs(error, random) ?? backoffMs(failures, random);
      const fields = { ...about, error: messageOf(error), retryInMs: Math.round(retryInMs) };
      if (!isLogged && isWorthALine(error)) {
        isLogged = true;
        log.warn(fields, 'watch is broken');
      } else log.debug(fields, 'watch is still broken');
      return retryInMs;
    },
    expired(error) {
      expiries += 1;
      log.debug({ ...about, error: messageOf(error) }, 'watch has expired');
      // Normal once. But lists that are always too old already must not become a busy loop of lists.
      return expiries === 1 ? 0 : backoffMs(expiries - 1, random);
    },
    listed: over,
    delivers() {
      over();
      expiries = 0;
    },
  };
}

export type Change<V> = { type: 'upsert'; view: V } | { type: 'gone'; namespace: string; name: string; uid: string };

export interface WatchDeps<V> {
  api: Api;
  clock: Clock;
  log: Log;
  kind: Kind;
  namespace?: string | undefined;
  fieldSelector?: string;
  /** Every object is entered here, also those that nobody needs. */
  roll?: Roll | undefined;
  /** The slim projection; undefined = nobody needs this object. Called once per object, at the edge. */
  view(object: KubeObject): V | undefined;
  /**
   * A whole list was read: everything that exists now. Called first, and again after each relist. An object that was
   * deleted while nobody watched is only missing here: compare with what you hold.
   */
  onList(views: V[]): void;
  /** For users that keep nothing: each page of a list as it comes. onList then gets an empty list. */
  onPage?(views: V[]): void;
  /** 'gone' also means that an object's view became undefined. It may come for an object that was never seen. */
  onChange(change: Change<V>): void;
  /** The kind may not be listed now, but perhaps later. */
  onForbidden?(): void;
  /** Nothing could be seen in between. What happened then is reported from now on, late. */
  onGap?(fromMs: number, untilMs: number): void;
  random?: () => number;
  /** Shared with the other watches of this process. */
  reconnected?: ReconnectSignal | undefined;
  /**
   * How long the server is asked to keep one watch open. Random by default, so that our watches do not all end at once.
   */
  timeoutSeconds?: number;
  /** A connection that is silent for this long is dead. A healthy one is ended, and opened again, within a minute. */
  deadAfterMs?: number;
}

export interface Watch {
  /**
   * Milliseconds since the server last sent anything (a line, a bookmark, an answered list); Infinity before the first.
   */
  silentMs(): number;
  /** Whether the first list was read. */
  synced(): boolean;
  sight(): Sight;
  /** Lists and reports everything again, because its meaning may have changed although nothing happened. */
  relist(): void;
  run(signal: AbortSignal): Promise<void>;
}

/** A server that ends each watch at once is asked again only after this long. */
const shortestWatchMs = 1_000;

/** Watches that are woken together do not all ask at once. */
const spreadMs = 1_000;

/**
 * Silence must distinguish a dead connection from a quiet cluster. So the server is asked to end each watch before
 * silence would count as death: an orderly end is a sign of life. Bookmarks are not enough. For Events there are none
 * at all (only the API server's watch cache sends them, and it keeps no such cache for Events), and for other kinds a
 * 1.36 server was seen to keep a quiet watch waiting for 118 s.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/kubeapiserver/default_storage_factory_builder.go (watch cache sizes)
 */
const lifetimeSeconds = (random: () => number): number => 45 + Math.floor(random() * 16);

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
  const failures = countFailures({ clock, log, random, about, onOver: () => deps.reconnected?.again() });
  const guard = createGuard(log, about);
  const contact = createContact(clock);
  let synced = false;
  let version: string | undefined; // the last one seen; undefined = list first
  let isAskedToList = false;
  let open: AbortController | undefined;
  let isSkipLogged = false;

  function heard(): void {
    const gap = contact.heard();
    if (gap) guard('onGap', () => deps.onGap?.(gap.fromMs, gap.untilMs));
  }

  async function list(signal: AbortSignal): Promise<string> {
    let views: V[] = [];
    let first: string | undefined;
    deps.roll?.begin();
    const ask = (query: Record<string, string>, longestBytes: number): Promise<Page<KubeObject>> =>
      untilAborted(api.page(kind, namespace, query, longestBytes), signal);
    for await (const { items, metadata } of pagesOf(ask, selector, skipped)) {
      heard();
      first ??= metadata.resourceVersion ?? '';
      for (const item of items) {
        guard('roll', () => deps.roll?.saw(item));
        const view = guard('view', () => deps.view(item))?.value;
        if (view !== undefined) views.push(view);
      }
      if (deps.onPage) {
        const page = views;
        views = [];
        guard('onPage', () => deps.onPage?.(page));
      }
      if (metadata.continue) await nextTurn();
    }
    synced = true;
    deps.roll?.complete();
    failures.listed();
    guard('onList', () => deps.onList(views));
    return first ?? '';
  }

  async function follow(from: string, signal: AbortSignal): Promise<void> {
    const openedAtMs = clock.now();
    const timeoutSeconds = String(deps.timeoutSeconds ?? lifetimeSeconds(random));
    const query = { ...selector, allowWatchBookmarks: 'true', resourceVersion: from, timeoutSeconds };
    const connection = new AbortController();
    open = connection;
    const stop = (): void => connection.abort();
    signal.addEventListener('abort', stop, { once: true });
    void endWhenDead(connection, openedAtMs);
    try {
      for await (const line of api.watch(kind, namespace, query, connection.signal)) {
        if (connection.signal.aborted) break;
        take(line);
      }
      if (isAskedToList) return;
      if (connection.signal.aborted) throw new Silent(`nothing heard for ${spokenDuration(deadAfterMs)}`);
    } finally {
      signal.removeEventListener('abort', stop);
      connection.abort();
    }
    const lastedMs = clock.now() - openedAtMs;
    if (lastedMs >= shortestWatchMs) return endedAsAsked();
    if (contact.heardAtMs() < openedAtMs) throw new Unreachable('the server ended the watch at once');
    await clock.sleep(shortestWatchMs - lastedMs, signal);
  }

  /** A server that ends a watch in good order is alive. */
  function endedAsAsked(): void {
    heard();
    failures.delivers();
  }

  async function endWhenDead(connection: AbortController, openedAtMs: number): Promise<void> {
    while (!connection.signal.aborted) {
      const leftMs = Math.max(contact.heardAtMs(), openedAtMs) + deadAfterMs - clock.now();
      if (leftMs <= 0) return connection.abort();
      await clock.sleep(leftMs, connection.signal);
    }
  }

  function take({ type, object }: WatchLine): void {
    if (type === 'ERROR') throw errorOfStatus(object);
    heard();
    failures.delivers();
    if (type === 'TOO LARGE') skipped(object);
    if (type !== 'BOOKMARK') tell(type, object);
    version = object.metadata?.resourceVersion || version;
  }

  /** One warning in the log is enough: a tenant may do this as often as it likes. */
  function skipped(what: KubeObject | TooLarge): void {
    deps.roll?.skipped();
    const { namespace: of, name } = what instanceof TooLarge ? {} : what.metadata;
    const fields = { ...about, ...(of && { namespace: of }), ...(name && { name }) };
    if (isSkipLogged) log.debug(fields, 'an object is too large to be watched');
    else log.warn(fields, 'an object is too large to be watched');
    isSkipLogged = true;
  }

  /** An object that became too large to be read is gone for those who hold it, as it is in a list. */
  function tell(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'TOO LARGE', object: KubeObject): void {
    const isUnread = type === 'DELETED' || type === 'TOO LARGE';
    if (type === 'DELETED') guard('roll', () => deps.roll?.left(object.metadata));
    else if (!isUnread) guard('roll', () => deps.roll?.saw(object));
    const viewed = isUnread ? { value: undefined } : guard('view', () => deps.view(object));
    if (!viewed) return;
    const { namespace = '', name, uid } = object.metadata ?? {};
    const change: Change<V> =
      viewed.value === undefined ? { type: 'gone', namespace, name, uid } : { type: 'upsert', view: viewed.value };
    guard('onChange', () => deps.onChange(change));
  }

  function pauseAfter(error: unknown): number {
    if (error instanceof TooLarge) version = undefined; // what follows this version cannot be read: list instead
    if (!refusesVersion(error)) return failures.failed(error);
    version = undefined;
    return failures.expired(error);
  }

  /** Waits until the pause ends, or until another watch gets an answer from the server that gave us no good one. */
  async function rest(pauseMs: number, error: unknown, signal: AbortSignal): Promise<void> {
    const untilMs = clock.now() + pauseMs;
    const woken = isDown(error) ? deps.reconnected?.next() : undefined;
    await clock.sleep(pauseMs, woken ? AbortSignal.any([signal, woken]) : signal);
    if (woken?.aborted) await clock.sleep(Math.min(random() * spreadMs, untilMs - clock.now()), signal);
  }

  async function listAndFollow(signal: AbortSignal): Promise<void> {
    contact.begin();
    while (!signal.aborted) {
      try {
        if (isAskedToList) version = undefined;
        isAskedToList = false;
        version ??= await list(signal);
        if (!signal.aborted && !isAskedToList) await follow(version, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (isAskedToList) continue; // the connection broke because we ended it
        contact.failed(error, error instanceof Silent);
        deps.roll?.doubt();
        if (!synced && isForbidden(error)) guard('onForbidden', () => deps.onForbidden?.());
        const pauseMs = pauseAfter(error);
        if (pauseMs > 0) await rest(pauseMs, error, signal);
      }
    }
  }

  return {
    silentMs: () => clock.now() - contact.heardAtMs(),
    synced: () => synced,
    sight: () => ({ ...about, synced, ...contact.state() }),
    relist() {
      isAskedToList = true;
      open?.abort();
    },
    async run(signal) {
      await listAndFollow(signal);
      deps.roll?.end();
    },
  };
}

/** The connection is open, but nothing arrives. */
class Silent extends Unreachable {}

/**
 * 410: our version is too old. "Too large resource version": it is too new, after etcd was restored from a backup. Only
 * a new list helps.
 */
const refusesVersion = (error: unknown): boolean =>
  hasCode(error, 410) || (error instanceof ApiError && /\bresource ?version\b/i.test(error.message));
