import type { Config } from '../config/schema.ts';
import { type ClassSeverity, severityNow } from '../health/impact.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { type Api, isConflict, isNotFound } from '../kube/api.ts';
import {
  isBeingFixed,
  moreSevere,
  predecessorsIn,
  type Remediation,
  type RemediationStatus,
  type Severity,
  severityOf,
  withCondition,
} from '../kube/remediation.ts';
import { type Clock, iso } from '../lib/clock.ts';
import { classOf } from '../signals/classes.ts';
import type { Episodes } from './episodes.ts';
import type { Incident } from './incident.ts';

export type Sightings = NonNullable<RemediationStatus['sightings']>;

const atLeastEveryMs = 60_000;
const mostAffected = 50;

const isWorse = (severity: Severity, before: Severity): boolean =>
  severity !== before && moreSevere(severity, before) === severity;

interface SeverityFacts {
  /** The class of the incident, by the configuration in force. */
  own: ClassSeverity;
  /** The Remediation that this one follows. Its severity is the episode's as well. */
  predecessor?: Remediation | undefined;
  /** Set for an object that is new under its name: its pods are only starting. */
  isNew?: boolean;
  nowMs: number;
}

/**
 * Pure. The severity in force, and since when if it has risen. While a fix is being applied its pods are replaced, so
 * that none of them is ready for a moment is no news.
 */
function severityIn(
  fix: Remediation,
  live: LiveHealth,
  { own, predecessor, isNew, nowMs }: SeverityFacts,
): Pick<Sightings, 'severity' | 'severitySince'> {
  const before = severityOf(fix);
  const severity = isNew || isBeingFixed(fix) ? before : severityNow(own, live, before);
  const last = fix.status?.sightings ? undefined : predecessor; // its first sightings go on where the last ones ended
  const since = (last ?? fix).status?.sightings?.severitySince;
  if (isWorse(severity, last ? severityOf(last) : before)) return { severity, severitySince: iso(nowMs) };
  return { severity, ...(since !== undefined && { severitySince: since }) };
}

/** Pure. A workload that was ever affected stays listed: the card and the end of the episode name all of them. */
export function sightingsOf(
  fix: Remediation,
  incident: Incident | undefined,
  live: LiveHealth,
  facts: SeverityFacts,
): Sightings {
  const before = fix.status?.sightings;
  const affected = [...new Set([...(before?.affected ?? []), ...live.affected])].slice(0, mostAffected);
  return {
    count: Math.max(before?.count ?? 0, incident?.count ?? 1),
    lastSeen: incident ? iso(incident.lastSeenMs) : (before?.lastSeen ?? fix.spec.incident.firstSeen),
    ready: live.ready,
    desired: live.desired,
    ...severityIn(fix, live, facts),
    readiness: live.desired > 0 ? `${live.ready}/${live.desired}` : '',
    ...(affected.length > 0 ? { affected } : {}),
  };
}

/**
 * Pure. Written at first, when the severity or the affected workloads change, at once while a fix is being watched,
 * else once a minute.
 */
export function sightingsDue(
  fix: Remediation,
  next: Sightings,
  nowMs: number,
  writtenAtMs: number | undefined,
): boolean {
  const now = fix.status?.sightings;
  if (!now) return true;
  const isSameAffected = (now.affected ?? []).join() === (next.affected ?? []).join();
  if (!isSameAffected || next.severity !== severityOf(fix)) return true;
  const fields = ['count', 'lastSeen', 'ready', 'desired'] as const;
  if (fields.every((field) => now[field] === next[field])) return false;
  const isWatched = fix.status?.phase === 'Applied' || fix.status?.phase === 'Failed';
  return isWatched || writtenAtMs === undefined || nowMs - writtenAtMs >= atLeastEveryMs;
}

type Patcher = Pick<Api, 'get' | 'patch'>;
const statusOf = (fix: Remediation) =>
  ({ kind: 'Remediation', namespace: fix.metadata.namespace, name: fix.metadata.name, subresource: 'status' }) as const;

/** The controller writes the same status, most often when it is new. */
const mostTries = 5;

/**
 * Writes only our field, so other writes meanwhile do not matter. But nothing of it would be true for another
 * Remediation of the same name. Only a resourceVersion distinguishes them: when a status is patched, the API server
 * ignores the uid. undefined: this Remediation no longer exists.
 */
export async function writeSightings(
  api: Patcher,
  fix: Remediation,
  sightings: Sightings,
): Promise<Remediation | undefined> {
  const { namespace, name, uid } = fix.metadata;
  let live: Remediation | undefined = fix;
  for (let tries = 1; live?.metadata.uid === uid; tries++) {
    const { resourceVersion } = live.metadata;
    try {
      return await api.patch<Remediation>(statusOf(fix), 'merge', {
        metadata: { resourceVersion },
        status: { sightings },
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || tries === mostTries) throw error;
      live = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
    }
  }
  return undefined;
}

interface SightingsDeps {
  api: Patcher;
  clock: Clock;
  current(): Config;
  episodes: Episodes;
}

/** Remembers when sightings were last written, so that they are not written too often. */
export function createSightingsWriter({ api, clock, current, episodes }: SightingsDeps) {
  const writtenAt = new Map<string, number>(); // by the Remediation's uid

  function nextOf(fix: Remediation, incident: Incident | undefined, live: LiveHealth, isNew = false): Sightings {
    const { key, class: failureClass } = fix.spec.incident;
    const own = classOf(failureClass, current());
    const predecessor = predecessorsIn(episodes.ofKey(key))(fix);
    return sightingsOf(fix, incident, live, { own, predecessor, isNew, nowMs: clock.now() });
  }
  async function put(fix: Remediation, sightings: Sightings): Promise<void> {
    const written = await writeSightings(api, fix, sightings);
    if (written) episodes.remember(written);
    writtenAt.set(fix.metadata.uid, clock.now());
  }
  return {
    write: (fix: Remediation, incident: Incident, live: LiveHealth): Promise<void> =>
      put(fix, nextOf(fix, incident, live)),
    /** `isNew`: the object is new under its name, so its pods are only starting. */
    async writeIfDue(
      fix: Remediation,
      incident: Incident | undefined,
      live: LiveHealth,
      isNew?: boolean,
    ): Promise<void> {
      const next = nextOf(fix, incident, live, isNew);
      if (sightingsDue(fix, next, clock.now(), writtenAt.get(fix.metadata.uid))) await put(fix, next);
    },
    forget: ({ metadata }: Remediation): void => void writtenAt.delete(metadata.uid),
  };
}
export type SightingsWriter = ReturnType<typeof createSightingsWriter>;

/** How an episode ended. */
export interface Ending extends Pick<LiveHealth, 'gone' | 'ended'> {
  /** It has no readable state: all that is known is that it was not seen again. */
  isUnseen?: boolean;
}

function howItEnded({ gone, ended, isUnseen }: Ending): { reason: string; message: string } {
  if (gone) return { reason: 'Gone', message: 'it is no longer there' };
  if (isUnseen) return { reason: 'NoLongerSeen', message: 'no longer seen' };
  return ended
    ? { reason: 'Ended', message: ended }
    : { reason: 'Healthy', message: 'healthy for the recovery window' };
}

/** Writes the end of the episode. The list of conditions has two writers, so it is written against a fresh reading. */
export async function writeCleared(
  api: Patcher,
  seen: Remediation,
  ending: Ending,
  nowMs: number,
): Promise<Remediation | undefined> {
  const { namespace, name, uid } = seen.metadata;
  const fix = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
  if (fix?.metadata.uid !== uid) return undefined;
  const conditions = withCondition(fix.status?.conditions, {
    type: 'IncidentCleared',
    status: 'True',
    ...howItEnded(ending),
    lastTransitionTime: iso(nowMs),
  });
  const { resourceVersion } = fix.metadata;
  return api.patch<Remediation>(statusOf(fix), 'merge', { metadata: { uid, resourceVersion }, status: { conditions } });
}
