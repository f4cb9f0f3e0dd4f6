import type { Config } from '../config/schema.ts';
import { isBecauseTerminating } from '../health/event-words.ts';
import type { History } from '../health/history.ts';
import { createSetHistory } from '../health/set-history.ts';
import type { Api, KubeObject } from '../kube/api.ts';
import type { Roster } from '../kube/roster.ts';
import {
  type EventView,
  type ReplicaSetView,
  type SetRevisionView,
  viewReplicaSet,
  viewSetRevision,
} from '../kube/views.ts';
import { createWatch, type ReconnectSignal, type Watch } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { detectEvent, readEvent } from './detect.ts';
import { createOptionalWatch } from './optional-watch.ts';
import { type Signal, SignalOutcome } from './signal.ts';
import { clusterWide, namespaced, type Watcher } from './watchers.ts';
import { createSurroundings } from './surroundings.ts';

export interface SourceDeps {
  api: Api;
  clock: Clock;
  log: Log;
  current(): Config;
  onSignal(signal: Signal): void;
  count(outcome: SignalOutcome, failureClass: string): void;
  reconnected?: ReconnectSignal;
  /** Gets every object that is watched. */
  roster?: Roster | undefined;
}

type RevisionDeps = Pick<SourceDeps, 'api' | 'clock' | 'log' | 'reconnected' | 'roster'> & {
  namespace: string | undefined;
  history: History;
  /** Another watch saw the same objects until then. */
  unseenSinceMs?: number | undefined;
};

/** Feeds the history of revisions; both roles need to know which revisions were healthy. */
function watchRevisions(deps: RevisionDeps): Watch {
  const { history, clock } = deps;
  return watchHistory<ReplicaSetView>(deps, {
    kind: 'ReplicaSet',
    view: viewReplicaSet,
    observe: (view) => history.observe(view, clock.now()),
    forget: (uid) => history.forget(uid),
  });
}

/** The same for a kind that keeps no ReplicaSets and is watched itself. */
function watchSetRevisions(kind: 'StatefulSet' | 'DaemonSet', deps: RevisionDeps): Watch {
  const { history, clock } = deps;
  const known = createSetHistory(history);
  return watchHistory<SetRevisionView>(
    { ...deps, roster: undefined },
    {
      kind,
      view: viewSetRevision(kind),
      observe: (view) => known.observe(view, clock.now()),
      forget: (uid) => known.forget(uid),
    },
  );
}

/** Every watch that the history of revisions is fed by. */
export const revisionWatches: Readonly<Record<string, (deps: RevisionDeps) => Watch>> = {
  revisions: watchRevisions,
  'statefulset-revisions': (deps) => watchSetRevisions('StatefulSet', deps),
  'daemonset-revisions': (deps) => watchSetRevisions('DaemonSet', deps),
};

interface Revisions<V> {
  kind: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet';
  view(object: KubeObject): V | undefined;
  observe(view: V): void;
  forget(uid: string): void;
}

function watchHistory<V>(
  { api, clock, log, reconnected, namespace, history, unseenSinceMs, roster }: RevisionDeps,
  { kind, view, observe, forget }: Revisions<V>,
): Watch {
  let blindSinceMs = unseenSinceMs;
  return createWatch<V>({
    api,
    clock,
    log,
    reconnected,
    kind,
    namespace,
    roll: roster?.roll(kind, namespace),
    view,
    onGap: (fromMs, untilMs) => history.blind(fromMs, untilMs),
    onList(views) {
      if (blindSinceMs !== undefined) history.blind(blindSinceMs, clock.now());
      blindSinceMs = undefined;
      views.forEach(observe);
    },
    onChange: (change) => (change.type === 'upsert' ? observe(change.view) : forget(change.uid)),
  });
}

/** Kinds that own something, or whose owner is asked for. */
const owning: ReadonlySet<string> = new Set(['Pod', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

/** Whether it happened while we watched, or was already there when we began to watch (again). */
type How = Pick<Signal, 'listed' | 'atStart'>;
const news: How = {};
const inLaterList: How = { listed: true };
const inFirstList: How = { listed: true, atStart: true };

/** Every scope gets one of each. */
export const scopedWatches: readonly string[] = ['events', ...Object.keys(namespaced)];
export const clusterWatches: readonly string[] = Object.keys(clusterWide);

export interface SignalSource {
  /**
   * The watches by name. In a scope that is opened later, failures that exist already do not count as found at start.
   */
  inScope(scope: string | undefined, when: 'start' | 'later'): Record<string, Watch>;
  ofCluster(): Record<string, Watch>;
  /**
   * An operator's own events need not be Warnings. Kubernetes' own non-Warning events show nothing that status does
   * not.
   */
  otherEvents(scope: string | undefined, when: 'start' | 'later'): Watch;
  /** These namespaces are no longer watched: what is cached about them is dropped. */
  forgetNamespaces(isUnwatched: (namespace: string) => boolean): void;
}

/**
 * Turns Events and the status of objects into signals. The first list is handled like everything else: patience and the
 * live re-check judge it.
 */
export function createSignalSource(deps: SourceDeps): SignalSource {
  const { api, clock, log, reconnected, current, onSignal, count } = deps;
  const { around, caches } = createSurroundings();
  const ground = { api, clock, log, reconnected };

  function hand(signals: readonly Signal[], how: How): void {
    for (const signal of signals) onSignal({ ...signal, ...how });
  }

  function offer(signals: readonly Signal[], how: How, otherwise: SignalOutcome = SignalOutcome.notAFailure): void {
    if (signals.length === 0) count(otherwise, '');
    hand(signals, how);
  }

  /** An object that cannot be understood is only counted. */
  function readable<V>(object: KubeObject, view: (object: KubeObject) => V | undefined): V | undefined {
    const seen = view(object);
    if (seen === undefined) count(SignalOutcome.unreadable, '');
    return seen;
  }

  /** Events are handled a page at a time and none is kept, because there may be a hundred thousand. */
  function watchEvents(
    namespace: string | undefined,
    fieldSelector: string,
    matters: (event: EventView) => boolean,
    firstList: How,
  ): Watch {
    let list = firstList;
    const tell = (event: EventView, how: How): void => {
      const signal = detectEvent(event, current().extraReasons);
      const isEnding = !signal && isBecauseTerminating(event.message);
      offer(signal ? [signal] : [], how, isEnding ? SignalOutcome.namespaceTerminating : SignalOutcome.notAFailure);
    };
    return createWatch<EventView>({
      ...ground,
      kind: 'Event',
      namespace,
      fieldSelector,
      view(object) {
        const event = readable(object, readEvent);
        return event && matters(event) ? event : undefined;
      },
      onPage: (page) => page.forEach((event) => tell(event, list)),
      onList: () => void (list = inLaterList),
      onChange: (change) => void (change.type === 'upsert' && tell(change.view, news)),
    });
  }

  function watchStatus<V>(namespace: string | undefined, watcher: Watcher<V>, firstList: How): Watch {
    const { kind, view, matters, detect, echo } = watcher;
    const cache = watcher.cache?.(caches);
    let list = firstList;
    /** First come the signals about other objects: a node that is down takes its pods with it. */
    const tell = (views: readonly V[], how: How): void => {
      if (echo) hand(echo(views, around), how);
      if (detect) for (const one of views) offer(detect(one, clock.now(), around), how);
    };
    return createWatch<V>({
      ...ground,
      kind,
      namespace,
      roll: owning.has(kind) ? deps.roster?.roll(kind, namespace) : undefined,
      view(object) {
        const seen = readable(object, view);
        return seen !== undefined && matters(seen) ? seen : undefined;
      },
      onList(views) {
        cache?.replace(views, namespace);
        tell(views, list);
        list = inLaterList;
      },
      onChange(change) {
        if (change.type === 'upsert') {
          cache?.set(change.view);
          tell([change.view], news);
        } else {
          cache?.delete(change.uid);
          tell([], news);
        }
      },
    });
  }

  const isAskedFor = ({ reason }: EventView): boolean => current().extraReasons.some((one) => one.reason === reason);
  const firstOf = (when: 'start' | 'later'): How => (when === 'start' ? inFirstList : inLaterList);
  return {
    inScope(scope, when) {
      const watches: Record<string, Watch> = {
        events: watchEvents(scope, 'type=Warning', () => true, firstOf(when)),
      };
      for (const [name, use] of Object.entries(namespaced))
        use((watcher) => (watches[name] = watchStatus(scope, watcher, firstOf(when))));
      return watches;
    },
    ofCluster() {
      const watches: Record<string, Watch> = {};
      for (const [name, use] of Object.entries(clusterWide))
        use(
          (watcher) =>
            (watches[name] = createOptionalWatch(
              { ...ground, kind: watcher.kind },
              watchStatus(undefined, watcher, inFirstList),
            )),
        );
      return watches;
    },
    otherEvents: (scope, when) => watchEvents(scope, 'type!=Warning', isAskedFor, firstOf(when)),
    forgetNamespaces(isUnwatched) {
      for (const cache of [caches.pods, caches.claims]) cache.forget(isUnwatched);
    },
  };
}
