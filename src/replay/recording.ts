import type { KubeObject } from '../kube/api.ts';
import { obj, str, timeMs } from '../kube/raw.ts';
import type { EventView } from '../kube/views.ts';
import { readEvent } from '../signals/detect-event.ts';
import type { Recorded } from './read-objects.ts';

/** One event of the recording. */
export interface RecordedEvent {
  event: EventView;
  /** When it was first and last said, by its own words. */
  firstMs: number;
  lastMs: number;
  line: number;
}

export interface Recording {
  events: RecordedEvent[];
  /** Lines of what is no event, or has no time that can be true. */
  unreadable: number[];
}

/** Before there was a Kubernetes, and after anybody will read this. */
const [earliestMs, latestMs] = [Date.UTC(2014, 5), Date.UTC(2100, 0)];
const isPlausible = (ms: number): boolean => ms >= earliestMs && ms < latestMs;

/** Pure. */
export function recordingOf(records: readonly Recorded[]): Recording {
  const recording: Recording = { events: [], unreadable: [] };
  for (const { value, line } of records) {
    const raw = unwrapped(value);
    const event = readEvent(raw as unknown as KubeObject);
    const times = timesIn(raw).filter(isPlausible);
    if (!event || times.length === 0) recording.unreadable.push(line);
    else recording.events.push({ event, firstMs: Math.min(...times), lastMs: Math.max(...times), line });
  }
  return recording;
}

/** As `kubectl get --watch --output-watch-events` writes it. */
function unwrapped(value: unknown): Record<string, unknown> {
  const raw = obj(value);
  return /^(ADDED|MODIFIED|DELETED)$/.test(str(raw['type'])) && raw['object'] ? obj(raw['object']) : raw;
}

const timesIn = (raw: Record<string, unknown>): number[] =>
  [
    raw['firstTimestamp'],
    raw['lastTimestamp'],
    raw['eventTime'],
    obj(raw['series'])['lastObservedTime'],
    obj(raw['metadata'])['creationTimestamp'],
  ].map(timeMs);
