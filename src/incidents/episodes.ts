import { isCleared, type Remediation } from '../kube/remediation.ts';
import type { Change } from '../kube/watch.ts';
import type { FailureClass } from '../signals/classes.ts';
import type { Incident } from './incident.ts';
import { numberOf } from './key.ts';

/** What the tracker remembers: incidents of this process, and the Remediations that outlive it. */
export function createEpisodes() {
  const incidents = new Map<string, Incident>();
  const fixes = new Map<string, Remediation>(); // by uid
  const byKey = new Map<string, Map<string, Remediation>>(); // the same, by the incident's key: asked for at every signal

  function put(fix: Remediation): void {
    const { key } = fix.spec.incident;
    fixes.set(fix.metadata.uid, fix);
    byKey.set(key, (byKey.get(key) ?? new Map<string, Remediation>()).set(fix.metadata.uid, fix));
  }

  function drop(uid: string): Remediation | undefined {
    const fix = fixes.get(uid);
    const all = fix && byKey.get(fix.spec.incident.key);
    fixes.delete(uid);
    all?.delete(uid);
    if (fix && all?.size === 0) byKey.delete(fix.spec.incident.key);
    return fix;
  }

  const ofKey = (key: string): Remediation[] =>
    [...(byKey.get(key)?.values() ?? [])].sort((a, b) => numberOf(b.metadata.name) - numberOf(a.metadata.name));

  /** Those whose episode is not over, newest first: the first one holds the key. */
  const openOf = (key: string): Remediation[] => ofKey(key).filter((fix) => !isCleared(fix));
  const holderOf = (key: string): Remediation | undefined => openOf(key)[0];

  return {
    incidents,
    ofKey,
    openOf,
    holderOf,
    /** The incident of a key; after a restart, as its Remediation remembers it. */
    incidentOf(key: string, rowOf: (failureClass: string) => FailureClass): Incident | undefined {
      const holder = holderOf(key);
      return incidents.get(key) ?? (holder && adopted(holder, rowOf(holder.spec.incident.class)));
    },
    open: (): Remediation[] => [...fixes.values()].filter((fix) => !isCleared(fix)),
    remember(fix: Remediation): void {
      const known = fixes.get(fix.metadata.uid);
      if (known && Number(known.metadata.resourceVersion) > Number(fix.metadata.resourceVersion)) return;
      put(fix);
    },
    forget: (change: Extract<Change<Remediation>, { type: 'gone' }>): Remediation | undefined => drop(change.uid),
    /** A list is everything that exists: what is missing from it was deleted while we did not look. */
    replace(list: readonly Remediation[]): void {
      fixes.clear();
      byKey.clear();
      for (const fix of list) put(fix);
    },
  };
}
export type Episodes = ReturnType<typeof createEpisodes>;

/** As its Remediation remembers it. */
export function adopted(fix: Remediation, row: FailureClass): Incident {
  const { key, object, class: failureClass, severity, reason, message, firstSeen } = fix.spec.incident;
  const { count = 1, lastSeen = firstSeen } = fix.status?.sightings ?? {};
  const [firstMs, lastMs] = [Date.parse(firstSeen), Date.parse(lastSeen)];
  return {
    key,
    namespace: fix.metadata.namespace ?? '',
    object,
    seenIn: [],
    seen: [{ ...row, severity, class: failureClass, reason, message, firstMs, lastMs, dueMs: 0, count }],
    firstSeenMs: firstMs,
    lastSeenMs: lastMs,
    dueMs: 0,
    count,
    atStart: false,
  };
}
