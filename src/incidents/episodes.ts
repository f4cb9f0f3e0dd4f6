import { isCleared, type Remediation } from '../kube/remediation.ts';
import type { StoreReader } from '../kube/store.ts';
import type { FailureClass } from '../signals/classes.ts';
import type { Incident } from './incident.ts';
import { numberOf } from './key.ts';

/** The incidents of this process, and the Remediations of each key. An episode lasts until these are cleared. */
export function createEpisodes(fixes: StoreReader<Remediation>, put: (fix: Remediation) => void) {
  const incidents = new Map<string, Incident>();

  /** Newest first. */
  const ofKey = (key: string): Remediation[] =>
    fixes.withKey(key).sort((a, b) => numberOf(b.metadata.name) - numberOf(a.metadata.name));

  /** Those whose episode is not over, newest first: the first one holds the key. */
  const openOf = (key: string): Remediation[] => ofKey(key).filter((fix) => !isCleared(fix));
  const holderOf = (key: string): Remediation | undefined => openOf(key)[0];

  return {
    incidents,
    ofKey,
    openOf,
    holderOf,
    /** The incident of a key; after a restart, as its Remediation records it. */
    incidentOf(key: string, rowOf: (failureClass: string) => FailureClass): Incident | undefined {
      const holder = holderOf(key);
      return incidents.get(key) ?? (holder && adopted(holder, rowOf(holder.spec.incident.class)));
    },
    open: (): Remediation[] => fixes.all().filter((fix) => !isCleared(fix)),
    /** For the server's answer to a write, or a fresh reading: the watch brings it only later. */
    remember: put,
  };
}
export type Episodes = ReturnType<typeof createEpisodes>;

/** The incident as its Remediation records it. */
export function adopted(fix: Remediation, row: FailureClass): Incident {
  const { key, object, class: failureClass, reason, message, firstSeen } = fix.spec.incident;
  const { count = 1, lastSeen = firstSeen } = fix.status?.sightings ?? {};
  const [firstMs, lastMs] = [Date.parse(firstSeen), Date.parse(lastSeen)];
  return {
    key,
    namespace: fix.metadata.namespace ?? '',
    object,
    seenIn: [],
    seen: [{ ...row, class: failureClass, reason, message, firstMs, lastMs, dueMs: 0, count }],
    firstSeenMs: firstMs,
    lastSeenMs: lastMs,
    dueMs: 0,
    count,
    atStart: false,
  };
}
