import type { LiveHealth } from '../health/live.ts';
import type { Api } from '../kube/api.ts';
import { type Remediation, type RemediationStatus, withCondition } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import type { Incident } from './incident.ts';

export type Sightings = NonNullable<RemediationStatus['sightings']>;

const atLeastEveryMs = 60_000;
const mostAffected = 50;

/** Pure. Who was ever affected stays listed: the card and the end of the episode speak of all of them. */
export function sightingsOf(fix: Remediation, incident: Incident | undefined, live: LiveHealth): Sightings {
  const before = fix.status?.sightings;
  const affected = [...new Set([...(before?.affected ?? []), ...live.affected])].slice(0, mostAffected);
  return {
    count: Math.max(before?.count ?? 0, incident?.count ?? 1),
    lastSeen: incident ? iso(incident.lastSeenMs) : (before?.lastSeen ?? fix.spec.incident.firstSeen),
    ready: live.ready,
    desired: live.desired,
    ...(affected.length > 0 ? { affected } : {}),
  };
}

/** Pure. Written at first, when who is affected changes, at once while a fix is being watched, else once a minute. */
export function sightingsDue(
  fix: Remediation,
  next: Sightings,
  nowMs: number,
  writtenAtMs: number | undefined,
): boolean {
  const now = fix.status?.sightings;
  if (!now) return true;
  const isSameAffected = (now.affected ?? []).join() === (next.affected ?? []).join();
  if (!isSameAffected) return true;
  const fields = ['count', 'lastSeen', 'ready', 'desired'] as const;
  if (fields.every((field) => now[field] === next[field])) return false;
  const isWatched = fix.status?.phase === 'Applied' || fix.status?.phase === 'Failed';
  return isWatched || writtenAtMs === undefined || nowMs - writtenAtMs >= atLeastEveryMs;
}

type Patcher = Pick<Api, 'get' | 'patch'>;
const statusOf = (fix: Remediation) =>
  ({ kind: 'Remediation', namespace: fix.metadata.namespace, name: fix.metadata.name, subresource: 'status' }) as const;

/** Our field alone, so no precondition but that it is still the same object. */
export const writeSightings = (api: Patcher, fix: Remediation, sightings: Sightings): Promise<Remediation> =>
  api.patch<Remediation>(statusOf(fix), 'merge', { metadata: { uid: fix.metadata.uid }, status: { sightings } });

function howItEnded(gone: boolean, ended: string | undefined): { reason: string; message: string } {
  if (gone) return { reason: 'Gone', message: 'it is no longer there' };
  return ended
    ? { reason: 'Ended', message: ended }
    : { reason: 'Healthy', message: 'healthy for the recovery window' };
}

/** The end of the episode. The list of conditions has two writers, so it is written against a fresh reading. */
export async function writeCleared(
  api: Patcher,
  seen: Remediation,
  { gone, ended }: Pick<LiveHealth, 'gone' | 'ended'>,
  nowMs: number,
): Promise<Remediation | undefined> {
  const { namespace, name, uid } = seen.metadata;
  const fix = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
  if (fix?.metadata.uid !== uid) return undefined;
  const conditions = withCondition(fix.status?.conditions, {
    type: 'IncidentCleared',
    status: 'True',
    ...howItEnded(gone, ended),
    lastTransitionTime: iso(nowMs),
  });
  const { resourceVersion } = fix.metadata;
  return api.patch<Remediation>(statusOf(fix), 'merge', { metadata: { uid, resourceVersion }, status: { conditions } });
}
