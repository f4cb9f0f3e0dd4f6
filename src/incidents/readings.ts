import type { Config } from '../config/schema.ts';
import type { HealthSubject } from '../diagnosis/health.ts';
import { holdStable, sinceLastSignal, type Stable } from '../health/stability.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { gone } from '../health/workload-health.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { IncidentFacts } from './decide.ts';
import type { Episodes } from './episodes.ts';

export interface ReadingsDeps {
  episodes: Episodes;
  current(): Config;
  readHealth(subject: HealthSubject, nowMs: number): Promise<LiveHealth>;
}

/** The combined result of all readings of an episode. */
interface Run {
  stable: Stable | undefined;
  longestUptimeMs: number;
}

/** Nothing is known about it, except that somebody wrote events about it. */
const unread: LiveHealth = { ...gone, gone: false, healthy: false };

/** Fresh readings of the targets of incidents, and since when all of them have been good. */
export function createReadings({ episodes, current, readHealth }: ReadingsDeps) {
  const runs = new Map<string, Run>(); // by key

  /** `readable`: whether the object can show this class. */
  async function look(
    key: string,
    { class: failureClass, readable }: { class: string; readable: boolean },
    subject: HealthSubject,
    nowMs: number,
  ): Promise<IncidentFacts> {
    const before = runs.get(key);
    const live = await read(subject, failureClass, readable, nowMs).catch((error: unknown) => {
      if (before) runs.set(key, { ...before, stable: undefined }); // a failed reading does not show that it is healthy
      throw error;
    });
    const held = holdStable(before?.stable, live, nowMs);
    // An object that is gone sends no signals: those with its key come from another object of the same name.
    const stable = live.gone ? held : sinceLastSignal(held, episodes.incidents.get(key)?.lastSeenMs);
    const longestUptimeMs = Math.max(before?.longestUptimeMs ?? 0, live.longestUptimeMs);
    runs.set(key, { stable, longestUptimeMs });
    return { class: failureClass, live, stable, longestUptimeMs, config: current(), nowMs };
  }

  async function read(subject: HealthSubject, failureClass: string, readable: boolean, nowMs: number) {
    if (readable) return readHealth({ ...subject, class: failureClass }, nowMs);
    return isKnownKind(subject.object.kind) ? readHealth(subject, nowMs) : unread;
  }

  return {
    look,
    /** Begins again: another object has the name, and earlier readings say nothing about it. */
    restart(key: string): void {
      const run = runs.get(key);
      if (run) runs.set(key, { ...run, stable: undefined });
    },
    forget: (key: string): void => void runs.delete(key),
  };
}
export type Readings = ReturnType<typeof createReadings>;
