import { type Api, ifForbidden, type KubeObject } from '../kube/api.ts';
import type { Root } from '../kube/owners.ts';
import { isBeingFixed, isBroken, phaseOf, type Remediation } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { Log } from '../lib/log.ts';
import { decidePending, type IncidentFacts } from './decide.ts';
import type { Episodes } from './episodes.ts';
import { type Incident, recreated } from './incident.ts';
import { whyNotRecorded } from './pending.ts';
import type { Readings } from './readings.ts';
import type { Recorder } from './recorder.ts';

/** Another proposal for the same trouble is never shown sooner than this, whatever happens meanwhile. */
export const shortestLifeMs = 60_000;

/**
 * The most Remediations in one episode. Somebody who changes the target ten times is working on it, and needs no more
 * proposals.
 */
export const mostOfAnEpisode = 10;

/** The object that has this name now; undefined if there is none, or it may not be read. */
export const objectNamed = (
  api: Pick<Api, 'get'>,
  namespace: string,
  { kind, name }: { kind: string; name: string },
): Promise<KubeObject | undefined> =>
  isKnownKind(kind)
    ? api.get<KubeObject>({ kind, namespace, name }).catch(ifForbidden(undefined))
    : Promise.resolve(undefined);

/**
 * Pure. Whether the incident of an object that was created again goes on in this record's episode. One that recovered is
 * over: if it breaks again, that is news. While a fix is decided or under way, its outcome comes first.
 */
export const mayGoOn = (fix: Remediation): boolean => {
  const isDecided = fix.spec.approval.state !== 'Pending' && ['', 'Proposed'].includes(phaseOf(fix));
  return isBroken(fix) && !isBeingFixed(fix) && !isDecided;
};

interface RecreationDeps {
  api: Pick<Api, 'get'>;
  log: Log;
  episodes: Episodes;
  readings: Readings;
  recorder: Recorder;
  incidentOf(fix: Remediation): Incident;
}

/**
 * An object that was deleted, and created again under its name, is the same trouble to people: if the new one is broken
 * as well, its Remediation follows that of the old one, and so takes over its message. If the new one stays healthy, the
 * episode ends.
 */
export function createRecreation({ api, log, episodes, readings, recorder, incidentOf }: RecreationDeps) {
  /** The new objects, by the uid of the Remediation that is about the old one. After a restart they are found again. */
  const targets = new Map<string, Root>();

  return {
    /** The object that has the incident now. */
    targetOf: (fix: Remediation): Root => targets.get(fix.metadata.uid) ?? fix.spec.incident.object,

    /** Looks for a new object in place of one that is gone. It is given all the patience that any failure is given. */
    async find(fix: Remediation, lost: Root, nowMs: number): Promise<Root | undefined> {
      const { key } = fix.spec.incident;
      const incident = incidentOf(fix);
      const { namespace } = incident;
      const live = mayGoOn(fix) ? await objectNamed(api, namespace, lost) : undefined;
      if (!live || live.metadata.uid === lost.uid || live.metadata.deletionTimestamp) return undefined;
      const object = { kind: lost.kind, name: lost.name, uid: live.metadata.uid };
      if (await whyNotRecorded(api, { namespace, object, affected: [] })) return undefined;
      targets.set(fix.metadata.uid, object);
      episodes.incidents.set(key, recreated(incident, object, nowMs));
      readings.restart(key);
      log.info({ key, fix: fix.metadata.name }, 'incident goes on with a new object of the same name');
      return object;
    },

    /** Records the successor once the new object has been broken for its patience. Returns when to look again. */
    async goOn(fix: Remediation, object: Root, facts: IncidentFacts): Promise<number | undefined> {
      const { key, firstSeen } = fix.spec.incident;
      const { live, nowMs } = facts;
      const { uid, namespace = '', name } = fix.metadata;
      const incident = { ...incidentOf(fix), object, firstSeenMs: Date.parse(firstSeen) };
      const step = decidePending({ ...facts, seen: incident.seen, lastSeenMs: incident.lastSeenMs });
      if (step.do === 'wait') return step.ms;
      const isTooSoon = nowMs - Date.parse(fix.metadata.creationTimestamp) < shortestLifeMs;
      if (step.do === 'forget' || isTooSoon || episodes.openOf(key).length >= mostOfAnEpisode) return undefined;
      const spec = await recorder.draft(incident, step.as, live, nowMs);
      if (!spec) return undefined;
      const fresh = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
      // Somebody may have decided meanwhile; then that decision counts.
      if (fresh?.metadata.uid !== uid || !mayGoOn(fresh)) return undefined;
      await recorder.record(incident, spec, live, fresh);
      targets.delete(uid);
      return undefined;
    },

    forget: (uid: string): void => void targets.delete(uid),
  };
}
