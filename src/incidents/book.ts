import { isCleared, type Remediation } from '../kube/remediation.ts';
import type { Change } from '../kube/watch.ts';
import type { Incident } from './incident.ts';
import { numberOf } from './key.ts';

/** What the tracker remembers: incidents of this process, and the Remediations that outlive it. */
export function createBook() {
  const incidents = new Map<string, Incident>();
  const fixes = new Map<string, Remediation>(); // by uid

  const ofKey = (key: string): Remediation[] =>
    [...fixes.values()]
      .filter((fix) => fix.spec.incident.key === key)
      .sort((a, b) => numberOf(b.metadata.name) - numberOf(a.metadata.name));

  /** The one that holds the key: the newest whose episode is not over. */
  const holderOf = (key: string): Remediation | undefined => ofKey(key).find((fix) => !isCleared(fix));

  return {
    incidents,
    ofKey,
    holderOf,
    /** The incident of a key; after a restart, as its Remediation remembers it. */
    incidentOf(key: string): Incident | undefined {
      const holder = holderOf(key);
      return incidents.get(key) ?? (holder && adopted(key, holder));
    },
    open: (): Remediation[] => [...fixes.values()].filter((fix) => !isCleared(fix)),
    remember(fix: Remediation): void {
      const known = fixes.get(fix.metadata.uid);
      if (known && Number(known.metadata.resourceVersion) > Number(fix.metadata.resourceVersion)) return;
      fixes.set(fix.metadata.uid, fix);
    },
    forget(change: Extract<Change<Remediation>, { type: 'gone' }>): Remediation | undefined {
      const fix = fixes.get(change.uid);
      fixes.delete(change.uid);
      return fix;
    },
    /** A list is everything that exists: what is missing from it was deleted while we did not look. */
    replace(list: readonly Remediation[]): void {
      fixes.clear();
      for (const fix of list) fixes.set(fix.metadata.uid, fix);
    },
  };
}
export type Book = ReturnType<typeof createBook>;

/** As its Remediation remembers it. */
export function adopted(key: string, fix: Remediation): Incident {
  const { object, class: failureClass, severity, reason, message, firstSeen } = fix.spec.incident;
  const sightings = fix.status?.sightings;
  return {
    key,
    namespace: fix.metadata.namespace ?? '',
    object,
    class: failureClass,
    severity,
    specificity: Number.MAX_SAFE_INTEGER, // what was told is not renamed by a restart
    reason,
    message,
    firstSeenMs: Date.parse(firstSeen),
    lastSeenMs: Date.parse(sightings?.lastSeen ?? firstSeen),
    dueMs: 0,
    count: sightings?.count ?? 1,
  };
}
