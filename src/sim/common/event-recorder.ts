import { LRUCache } from 'lru-cache';
import { type Api, isNotFound, type KubeObject } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';
import { microStamp, stamp } from './status-writing.ts';

/** The object that an event is about, as Kubernetes refers to it. */
interface ObjectRef {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface Happening {
  about: ObjectRef;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

interface RecorderDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** The component that reports the event, for example "replicaset-controller". */
  component: string;
  /** The node of a kubelet. */
  host?: string;
}

export interface EventRecorder {
  event(about: ObjectRef, type: Happening['type'], reason: string, message: string): void;
}

export const refTo = ({ apiVersion = 'v1', kind = '', metadata }: KubeObject, fieldPath?: string): ObjectRef => ({
  apiVersion,
  kind,
  name: metadata.name,
  ...(metadata.namespace && { namespace: metadata.namespace }),
  uid: metadata.uid,
  resourceVersion: metadata.resourceVersion,
  ...(fieldPath && { fieldPath }),
});

/** Events about cluster-scoped objects are stored in the namespace "default". */
const homeOf = ({ namespace }: ObjectRef): string => namespace ?? 'default';

/** Makes names of Events. Two sources get different names for the same object in the same millisecond. */
function createNames(clock: Clock, source: string) {
  const offset = BigInt(Number.parseInt(hashOf(source, 5), 16) % 1_000_000);
  let last = 0n;
  return ({ name }: ObjectRef): string => {
    const nanos = BigInt(clock.now()) * 1_000_000n + offset;
    last = nanos > last ? nanos : last + 1n;
    return `${name}.${last.toString(16)}`;
  };
}

/** Writes one Event after the other in the background, and gives up on a failure, as the real recorders do. */
function createWriter({ api, log }: Pick<RecorderDeps, 'api' | 'log'>) {
  let tail = Promise.resolve();
  return (about: ObjectRef, write: (api: Api) => Promise<unknown>): void => {
    tail = tail
      .then(() => write(api))
      .then(
        () => undefined,
        (error: unknown) => log.debug({ about: about.name, error: messageOf(error) }, 'event not written'),
      );
  };
}

/** Records in the older convention, which kubelet and most controllers use: firstTimestamp, lastTimestamp, count, source. */
export function createEventRecorder({ api, clock, log, component, host }: RecorderDeps): EventRecorder {
  const nameFor = createNames(clock, `${component}/${host ?? ''}`);
  const correlator = createCorrelator(nameFor);
  const write = createWriter({ api, log });
  const source = { component, ...(host !== undefined && { host }) };

  function body(
    { about, type, reason }: Happening,
    verdict: Exclude<EventVerdict, { do: 'drop' }>,
    nowMs: number,
  ): object {
    const { name, message, combined } = verdict;
    return {
      metadata: { name, namespace: homeOf(about) },
      involvedObject: about,
      type,
      reason,
      message,
      source,
      firstTimestamp: stamp(verdict.do === 'count' ? verdict.firstMs : nowMs),
      lastTimestamp: stamp(nowMs),
      count: verdict.do === 'count' ? verdict.count : 1,
      eventTime: null,
      reportingComponent: combined ? '' : component,
      reportingInstance: combined ? '' : (host ?? ''),
    };
  }

  return {
    event(about, type, reason, message) {
      const nowMs = clock.now();
      const happening = { about, type, reason, message };
      const verdict = correlator.judge(happening, nowMs);
      if (verdict.do === 'drop') return;
      const place = { kind: 'Event', namespace: homeOf(about) } as const;
      const full = body(happening, verdict, nowMs);
      write(about, async () => {
        if (verdict.do === 'create') return api.create(place, full);
        const repeat = { count: verdict.count, lastTimestamp: stamp(nowMs), message: verdict.message };
        try {
          return await api.patch({ ...place, name: verdict.name }, 'merge', repeat);
        } catch (error) {
          if (!isNotFound(error)) throw error;
          return api.create(place, full); // the Event has expired after an hour
        }
      });
    },
  };
}

/** A series is written when it begins, and from then on this often. */
const seriesRefreshMs = 1_800_000;

/** Records in the newer convention, which the scheduler uses: eventTime, series, action, reportingComponent. */
export function createSeriesRecorder({ api, clock, log, component }: RecorderDeps) {
  const nameFor = createNames(clock, component);
  const write = createWriter({ api, log });
  const known = new Map<string, { name: string; count: number; writtenMs: number }>();
  const reportingInstance = `${component}-sim`;

  return (about: ObjectRef, type: Happening['type'], reason: string, action: string, note: string): void => {
    const nowMs = clock.now();
    const place = { kind: 'Event', namespace: homeOf(about) } as const;
    const key = [about.uid, about.resourceVersion, type, reason, action].join('\n');
    const series = known.get(key);
    if (series) {
      series.count += 1;
      if (series.count > 2 && nowMs - series.writtenMs < seriesRefreshMs) return;
      series.writtenMs = nowMs;
      const patch = { series: { count: series.count, lastObservedTime: microStamp(nowMs) } };
      return write(about, () => api.patch({ ...place, name: series.name }, 'merge', patch));
    }
    const name = nameFor(about);
    if (known.size > 4096) known.clear();
    known.set(key, { name, count: 1, writtenMs: nowMs });
    const times = { eventTime: microStamp(nowMs), firstTimestamp: null, lastTimestamp: null };
    const who = { reportingComponent: component, reportingInstance, source: {} };
    write(about, () =>
      api.create(place, {
        metadata: { name, namespace: place.namespace },
        involvedObject: about,
        type,
        reason,
        action,
        message: note,
        ...times,
        ...who,
      }),
    );
  };
}

/** The decision about an event: create an Event, increase the count of an existing one, or drop it. */
type EventVerdict =
  | { do: 'create'; name: string; message: string; combined: boolean }
  | { do: 'count'; name: string; message: string; count: number; firstMs: number; combined: boolean }
  | { do: 'drop' };

/** The limits of client-go's recorder: https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go */
const burst = 25;
const oneMoreEveryMs = 300_000;
const alike = 10;
const alikeWithinMs = 600_000;
const remembered = { max: 4096 };

const objectKey = ({ kind, namespace, name, uid, apiVersion }: ObjectRef): string =>
  [kind, namespace, name, uid, apiVersion].join('\n');

/**
 * Thins out the events of one source. Events that differ only in their message are combined from the tenth within ten
 * minutes on, and repeats are counted. For one object and type at most 25 are written at once, then one every five
 * minutes. Dropped events still count, so a count may jump.
 */
export function createCorrelator(nameFor: (about: ObjectRef) => string) {
  const similar = new LRUCache<string, { messages: Set<string>; lastMs: number }>(remembered);
  const written = new LRUCache<string, { count: number; firstMs: number; name: string }>(remembered);
  const budgets = new LRUCache<string, { tokens: number; atMs: number }>(remembered);

  function isOneOfMany({ about, type, reason, message }: Happening, nowMs: number): boolean {
    const key = [objectKey(about), type, reason].join('\n');
    const seen = similar.get(key);
    const group = seen && nowMs - seen.lastMs <= alikeWithinMs ? seen : { messages: new Set<string>(), lastMs: 0 };
    group.messages.add(message);
    group.lastMs = nowMs;
    similar.set(key, group);
    if (group.messages.size < alike) return false;
    group.messages.delete(group.messages.values().next().value!);
    return true;
  }

  function isWithinBudget({ about, type }: Happening, nowMs: number): boolean {
    const key = [objectKey(about), type].join('\n');
    const { tokens, atMs } = budgets.get(key) ?? { tokens: burst, atMs: nowMs };
    const now = Math.min(burst, tokens + (nowMs - atMs) / oneMoreEveryMs);
    budgets.set(key, { tokens: now >= 1 ? now - 1 : now, atMs: nowMs });
    return now >= 1;
  }

  return {
    judge(happening: Happening, nowMs: number): EventVerdict {
      const { about, type, reason } = happening;
      const combined = isOneOfMany(happening, nowMs);
      const message = combined ? `(combined from similar events): ${happening.message}` : happening.message;
      const own = combined ? [] : [about.fieldPath, message];
      const key = [objectKey(about), type, reason, ...own].join('\n');
      const before = written.get(key);
      const name = before?.name ?? nameFor(about);
      const [count, firstMs] = [(before?.count ?? 0) + 1, before?.firstMs ?? nowMs];
      written.set(key, { count, firstMs, name });
      if (!isWithinBudget(happening, nowMs)) return { do: 'drop' };
      return before
        ? { do: 'count', name, message, count, firstMs, combined }
        : { do: 'create', name, message, combined };
    },
  };
}
