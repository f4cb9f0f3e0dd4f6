import { type Api, isNotFound, type KubeObject } from '../../kube/api.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { hashOf } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';
import { createCorrelator, type Happening, type ObjectRef, type Verdict } from './correlate.ts';
import { microStamp, stamp } from './stamp.ts';

export interface RecorderDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** "replicaset-controller": who speaks. */
  component: string;
  /** The node that kubelet speaks for. */
  host?: string;
}

export interface Recorder {
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

/** Events about what has no namespace are kept in this one. */
const homeOf = ({ namespace }: ObjectRef): string => namespace ?? 'default';

/** Of two speakers about the same object in the same millisecond each gets a name of its own. */
function createNames(clock: Clock, speaker: string) {
  const offset = BigInt(Number.parseInt(hashOf(speaker, 5), 16) % 1_000_000);
  let last = 0n;
  return ({ name }: ObjectRef): string => {
    const nanos = BigInt(clock.now()) * 1_000_000n + offset;
    last = nanos > last ? nanos : last + 1n;
    return `${name}.${last.toString(16)}`;
  };
}

/** Writes one after the other, in the background; what cannot be written is given up, as the real recorders do. */
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

/** The older convention, of kubelet and most controllers: firstTimestamp, lastTimestamp, count, source. */
export function createRecorder({ api, clock, log, component, host }: RecorderDeps): Recorder {
  const nameFor = createNames(clock, `${component}/${host ?? ''}`);
  const correlator = createCorrelator(nameFor);
  const write = createWriter({ api, log });
  const source = { component, ...(host !== undefined && { host }) };

  function body({ about, type, reason }: Happening, verdict: Exclude<Verdict, { do: 'drop' }>, nowMs: number): object {
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
          return api.create(place, full); // events are forgotten after an hour
        }
      });
    },
  };
}

/** A series is written down when it begins, and from then on this often. */
const seriesRefreshMs = 1_800_000;

/** The newer convention, of the scheduler: eventTime, series, action, reportingComponent. */
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
