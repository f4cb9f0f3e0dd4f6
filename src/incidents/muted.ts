import type { Config } from '../config/schema.ts';
import type { Named } from '../signals/filter.ts';
import { filterOutcome } from '../signals/filter.ts';
import { SignalOutcome } from '../signals/signal.ts';
import { fold, type Incident, type Seen } from './incident.ts';

interface Asleep {
  incident: Incident;
  /** What a mute was for, if not the incident itself: the workload behind a shared cause. */
  subjects: readonly Named[];
}

/** More than anybody mutes; the oldest goes. */
const mostAsleep = 1_000;

/**
 * Incidents that somebody muted: not told, and not forgotten. To what stays as broken as it is nothing happens any more, so no
 * signal would come when the mute is over.
 */
export function createMuted() {
  const asleep = new Map<string, Asleep>(); // by key

  function put(key: string, one: Asleep): void {
    asleep.set(key, one);
    const [oldest] = asleep.keys();
    if (oldest !== undefined && asleep.size > mostAsleep) asleep.delete(oldest);
  }

  return {
    /** A signal that is muted, for what these are. */
    add(now: Seen, subjects: readonly Named[]): void {
      put(now.key, { incident: fold(asleep.get(now.key)?.incident, now), subjects });
    },
    /** An incident that is muted before anybody was told. */
    keep: (incident: Incident): void => put(incident.key, { incident, subjects: [] }),
    /** Those that no mute is for any more, as far as can be told here: each is judged like any other. */
    wake(config: Config, ownNamespace: string): Incident[] {
      const isMuted = (one: Named): boolean => filterOutcome(config, one, ownNamespace) === SignalOutcome.muted;
      const awake = [...asleep.values()].filter(({ subjects }) => !subjects.some(isMuted));
      for (const { incident } of awake) asleep.delete(incident.key);
      return awake.map(({ incident }) => ({ ...incident, atStart: false }));
    },
  };
}
export type Muted = ReturnType<typeof createMuted>;
