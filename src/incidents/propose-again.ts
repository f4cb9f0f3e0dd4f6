import type { Config } from '../config/schema.ts';
import type { Api } from '../kube/api.ts';
import { type Again, isCleared, phaseOf, type Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { classOf } from '../signals/classes.ts';
import { adopted, type Episodes } from './episodes.ts';
import { classNow } from './open.ts';
import type { Readings } from './readings.ts';
import type { Recorder } from './recorder.ts';
import { mostOfAnEpisode } from './recreation.ts';

export interface ProposeAgainDeps {
  api: Pick<Api, 'get'>;
  clock: Clock;
  current(): Config;
  episodes: Episodes;
  readings: Readings;
  recorder: Recorder;
}

const repeatable: readonly string[] = ['Expired', 'Failed'];

/** Proposes again, from a fresh reading, when nobody decided in time or the fix failed. */
export function createProposeAgain({ api, clock, current, episodes, readings, recorder }: ProposeAgainDeps) {
  const underWay = new Set<string>(); // keys

  async function fresh({ metadata }: Remediation): Promise<Remediation | undefined> {
    const { namespace = '', name, uid } = metadata;
    const live = await api.get<Remediation>({ kind: 'Remediation', namespace, name });
    return live?.metadata.uid === uid ? live : undefined;
  }

  function whyNot(fix: Remediation): Extract<Again, { ok: false }> | undefined {
    const { key } = fix.spec.incident;
    if (isCleared(fix) || !repeatable.includes(phaseOf(fix))) return { ok: false, because: 'over' };
    if (episodes.holderOf(key)?.metadata.uid !== fix.metadata.uid) return { ok: false, because: 'replaced' };
    return episodes.openOf(key).length >= mostOfAnEpisode ? { ok: false, because: 'too often' } : undefined;
  }

  async function propose(seen: Remediation): Promise<Again> {
    const fix = await fresh(seen);
    if (!fix) return { ok: false, because: 'gone' };
    episodes.remember(fix);
    const refused = whyNot(fix);
    if (refused) return refused;
    const { key, class: recordedClass, object, firstSeen } = fix.spec.incident;
    const nowMs = clock.now();
    const row = classOf(recordedClass, current());
    const known = episodes.incidents.get(key) ?? adopted(fix, row);
    const incident = { ...known, object, firstSeenMs: Date.parse(firstSeen), atStart: false };
    const subject = { namespace: incident.namespace, object, sinceMs: incident.firstSeenMs };
    const { live } = await readings.look(key, { class: recordedClass, readable: row.readable }, subject, nowMs);
    if (live.healthy) return { ok: false, because: live.gone ? 'gone' : 'healthy' };
    const as =
      classNow(fix, incident, live, { nowMs, isOver: true }) ??
      incident.seen.find((one) => one.class === recordedClass) ??
      incident.seen[0];
    const spec = await recorder.draft(incident, as, live, nowMs);
    if (!spec) return { ok: false, because: 'gone' };
    if (!spec.action) return { ok: false, because: 'nothing', why: spec.rationale };
    return { ok: true, name: await recorder.record(incident, spec, live, fix) };
  }

  /** Two people may press at the same time: one creates the proposal, the other gets the answer that it exists. */
  return async (fix: Remediation): Promise<Again> => {
    const { key } = fix.spec.incident;
    if (underWay.has(key)) return { ok: false, because: 'replaced' };
    underWay.add(key);
    try {
      return await propose(fix);
    } finally {
      underWay.delete(key);
    }
  };
}
export type ProposeAgain = ReturnType<typeof createProposeAgain>;
