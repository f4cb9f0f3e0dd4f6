import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { readHealth } from '../diagnosis/health.ts';
import { createHistory } from '../health/history.ts';
import { isTrueNow } from '../incidents/decide.ts';
import { fold, type Incident, type SeenClass } from '../incidents/incident.ts';
import type { Place } from '../incidents/judge.ts';
import { numberOf } from '../incidents/key.ts';
import type { Root } from '../incidents/owner.ts';
import { sharedCauseOf } from '../incidents/symptoms.ts';
import { whyNotTold } from '../incidents/why-not-told.ts';
import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { isCleared, type Remediation, type RemediationSpec } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import { derive } from '../proposals/derive.ts';
import { remediationSpec } from '../proposals/record.ts';
import { classOf } from '../signals/classes.ts';
import { watchScopes } from '../signals/filter.ts';
import type { Case, Seen } from './findings.ts';

export interface CaseGround {
  reader: Reader;
  config: Config;
  ownNamespace: string;
  nowMs: number;
  /** All that could be read. */
  fixes: readonly Remediation[];
  seen: readonly Seen[];
}

/** One incident, judged as the watcher would judge it when its patience is over. */
export async function openCase(ground: CaseGround, { key, namespace, object }: Place): Promise<Case> {
  const { reader, config, ownNamespace, nowMs } = ground;
  const incident = folded(ground, key);
  const named = incident?.seen.find(({ readable }) => readable);
  const whole = { ...object, uid: object.uid || (await liveUid(reader, namespace, object)) };
  const isWithin = (one: string): boolean => isSelected(config, one, ownNamespace);
  const reach = { scopes: watchScopes(config), isSelected: isWithin };
  const subject = { namespace, object: whole, reach, ...(named && { class: named.class, sinceMs: named.firstMs }) };
  const live = await readHealth(reader, subject, nowMs);
  const fixes = ground.fixes
    .filter(({ spec }) => spec.incident.key === key)
    .toSorted((a, b) => numberOf(b.metadata.name) - numberOf(a.metadata.name));
  const open = ground.fixes.filter((fix) => !isCleared(fix));
  const trueNow = live.gone ? [] : (incident?.seen ?? []).filter((one) => isTrueNow(one, live, nowMs));
  const [as] = trueNow;
  const symptomOf = incident && sharedCauseOf(incident, open, as ? trueNow : incident.seen)?.spec.incident.key;
  const whyNot = as && (await whyNotTold(reader, { namespace, object: whole, affected: live.affected }));
  const isQuiet = symptomOf !== undefined || whyNot !== undefined || fixes.some((fix) => open.includes(fix));
  const draft =
    incident && as && !isQuiet ? await drafted(ground, { ...incident, object: whole }, as, fixes) : undefined;
  return {
    key,
    object: whole,
    live,
    trueNow,
    fixes,
    ...(incident && { incident }),
    ...(symptomOf !== undefined && { symptomOf }),
    ...(whyNot && { whyNot }),
    ...(draft && { draft }),
  };
}

/** All that was kept for this key, oldest first, as the watcher folds it. */
function folded({ config, nowMs, seen }: CaseGround, key: string): Incident | undefined {
  const atMs = ({ event }: Seen): number => event?.lastSeenMs ?? nowMs;
  return seen
    .toSorted((a, b) => atMs(a) - atMs(b))
    .reduce<Incident | undefined>((incident, one) => {
      const { signal, judged, event } = one;
      if (!('place' in judged) || judged.place.key !== key) return incident;
      const now = { ...judged.place, signal, row: classOf(signal.class, config), nowMs: atMs(one), times: event?.count ?? 1 }; // prettier-ignore
      return fold(incident, now);
    }, undefined);
}

/** What would be written down. A log is not read for it: that is a right of its own. */
async function drafted(
  { reader, config, ownNamespace, nowMs }: CaseGround,
  incident: Incident,
  as: SeenClass,
  earlier: readonly Remediation[],
): Promise<RemediationSpec | undefined> {
  const { key, namespace, object, firstSeenMs } = incident;
  const { class: failureClass, severity, reason, message } = as;
  const derived = as.readable
    ? await derive(
        { namespace, class: failureClass, object },
        { reader, history: createHistory(), config, nowMs },
      ).catch(unlessForbidden)
    : { diagnosis: message, changed: [], evidence: [], rationale: 'nothing safe is known for this event reason' };
  if (!derived) return undefined;
  const about = { key, object, firstSeenMs, class: failureClass, severity, reason, message };
  const notifyOnly = isAlwaysOut(namespace, ownNamespace);
  return remediationSpec({
    incident: about,
    derived,
    earlier,
    notifyOnly,
    proposedBy: 'tapfix explain',
    config,
    nowMs,
  });
}

/** Whoever asks may see less than the watcher does: then what it would propose is not known here. */
const unlessForbidden = (error: unknown): undefined => {
  if (isForbidden(error)) return undefined;
  throw error;
};

const liveUid = async (reader: Reader, namespace: string, { kind, name }: Root): Promise<string> =>
  isKnownKind(kind) ? ((await reader.get<KubeObject>({ kind, namespace, name }))?.metadata.uid ?? '') : '';
