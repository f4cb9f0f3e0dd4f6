import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import { readHealth } from '../diagnosis/health.ts';
import { createOnce, createSnapshot } from '../diagnosis/readers.ts';
import { createHistory } from '../health/history.ts';
import { severityNow } from '../health/impact.ts';
import type { LiveHealth } from '../health/trouble.ts';
import { isTrueNow } from '../incidents/decide.ts';
import { fold, type Incident, type SeenClass } from '../incidents/incident.ts';
import { judgeSignal, type IncidentPlace, spaceOf } from '../incidents/intake.ts';
import { incidentKey, isClusterScoped, numberOf } from '../incidents/key.ts';
import { isAffectedBy, sharedCauseOf, whyNotRecorded } from '../incidents/pending.ts';
import { hasCode, ifForbidden, isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { viewNotice } from '../kube/notice.ts';
import { createOwnerResolver, type Root } from '../kube/owners.ts';
import {
  isCleared,
  isKeyedHere,
  type Remediation,
  type RemediationSpec,
  viewRemediation,
} from '../kube/remediation.ts';
import { isKnownKind, type Kind } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { UserError } from '../lib/errors.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import { closest } from '../lib/text.ts';
import { derive } from '../proposals/derive.ts';
import { remediationSpec } from '../proposals/record.ts';
import { classOf } from '../signals/classes.ts';
import { watchScopes } from '../signals/filter.ts';
import { type SurveyedSignal, survey } from '../signals/survey.ts';
import { type ExplainedCase, type Findings, type SeenObject, spoken, type ExplainTarget } from './findings.ts';

interface CaseGround {
  reader: Reader;
  config: Config;
  ownNamespace: string;
  nowMs: number;
  /** All Remediations that could be read. */
  fixes: readonly Remediation[];
  seen: readonly SeenObject[];
}

/** One incident, judged as the watcher would judge it when its patience is over. */
async function openCase(ground: CaseGround, { key, namespace, object }: IncidentPlace): Promise<ExplainedCase> {
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
  const symptomOf =
    incident && sharedCauseOf(incident, open, ownNamespace, as ? trueNow : incident.seen)?.spec.incident.key;
  const whyNot = as && (await whyNotRecorded(reader, { namespace, object: whole, affected: live.affected }));
  const isQuiet = symptomOf !== undefined || whyNot !== undefined || fixes.some((fix) => open.includes(fix));
  const draft =
    incident && as && !isQuiet ? await drafted(ground, { ...incident, object: whole }, as, live, fixes) : undefined;
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

/** The incident from all signals kept for this key, folded from oldest to newest as the watcher does. */
function folded({ config, nowMs, seen }: CaseGround, key: string): Incident | undefined {
  const atMs = ({ event }: SeenObject): number => event?.lastSeenMs ?? nowMs;
  return seen
    .toSorted((a, b) => atMs(a) - atMs(b))
    .reduce<Incident | undefined>((incident, one) => {
      const { signal, judged, event } = one;
      if (!('place' in judged) || judged.place.key !== key) return incident;
      const now = {
        ...judged.place,
        signal,
        row: classOf(signal.class, config),
        nowMs: atMs(one),
        times: event?.count ?? 1,
      };
      return fold(incident, now);
    }, undefined);
}

/** The spec that would be recorded. No log is read for it, because that needs a separate right. */
async function drafted(
  { reader, config, ownNamespace, nowMs }: CaseGround,
  incident: Incident,
  as: SeenClass,
  live: LiveHealth,
  earlier: readonly Remediation[],
): Promise<RemediationSpec | undefined> {
  const { key, namespace, object, firstSeenMs } = incident;
  const { class: failureClass, reason, message } = as;
  const severity = severityNow(as, live);
  // Whoever asks may read less than the watcher: then what the watcher would propose is not known here.
  const derived = as.readable
    ? await derive(
        { namespace, class: failureClass, object },
        { reader, history: createHistory(), config, nowMs },
      ).catch(ifForbidden(undefined))
    : { diagnosis: message, changed: [], evidence: [], rationale: 'no fix is known for this event reason' };
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

const liveUid = async (reader: Reader, namespace: string, { kind, name }: Root): Promise<string> =>
  isKnownKind(kind) ? ((await reader.get<KubeObject>({ kind, namespace, name }))?.metadata.uid ?? '') : '';

export interface GatherDeps {
  /** Only a reader: nothing is ever written. */
  reader: Reader;
  clock: Clock;
  config: Config;
  ownNamespace: string;
}

/** Repeats street 1, from the live objects to what would be recorded, for one object and the workload it belongs to. */
export async function gather(deps: GatherDeps, target: ExplainTarget): Promise<Findings> {
  const { config, ownNamespace, clock } = deps;
  const reader = createOnce(deps.reader);
  const nowMs = clock.now();
  const { kind, name, namespace } = target;
  const uid = await uidOf(reader, target);
  // In one namespace everything is read from whole lists, because there may be thousands of pods.
  const owners = createOwnerResolver(namespace ? createSnapshot(reader, namespace) : reader, clock);
  const root = await owners.rootOf(namespace, { kind, name, uid: uid ?? '' });
  if (!root) throw new UserError(await notThere(reader, target));

  async function related(sighting: SurveyedSignal): Promise<SeenObject[]> {
    const { signal } = sighting;
    const whose = await owners.rootOf(spaceOf(signal), signal.object);
    const isOurs = [whose, signal.object, signal.cause].some(
      (one) => one && (isSame(one, root!) || isSame(one, target)),
    );
    return isOurs ? [{ ...sighting, judged: judgeSignal(config, signal, whose, ownNamespace) }] : [];
  }
  const { sightings, unread } = await survey({ reader, namespace: namespace || undefined, config, nowMs });
  const seen: SeenObject[] = [];
  for (const sighting of sightings) seen.push(...(await related(sighting)));

  const space = isClusterScoped(root.kind) ? ownNamespace : namespace;
  const records = await readRecords(reader, space, ownNamespace);
  const own: IncidentPlace = { key: incidentKey(space, root), namespace: space, object: root };
  const kept = seen.flatMap(({ judged }) => ('place' in judged ? [judged.place] : []));
  const causes = records.fixes
    .filter((fix) => !isCleared(fix) && isAffectedBy(fix, space, root, ownNamespace))
    .map(placeOf);
  const places = new Map([own, ...kept, ...causes].map((place) => [place.key, place])).values();
  const ground = { reader, config, ownNamespace, nowMs, fixes: records.fixes, seen };
  const [first, ...others] = await Promise.all([...places].map((place) => openCase(ground, place)));
  return {
    target,
    root,
    isGone: uid === undefined,
    seen,
    cases: [first!, ...others],
    notices: records.notices,
    unread: [...unread, ...records.unread],
    isInstalled: records.isInstalled,
  };
}

const isSame = (a: { kind: string; name: string }, b: { kind: string; name: string }): boolean =>
  a.kind === b.kind && a.name === b.name;

const placeOf = ({ metadata, spec }: Remediation): IncidentPlace => ({
  key: spec.incident.key,
  namespace: metadata.namespace ?? '',
  object: spec.incident.object,
});

/** undefined: there is no such object. */
async function uidOf(reader: Reader, target: ExplainTarget): Promise<string | undefined> {
  const { kind, namespace, name } = target;
  try {
    return (await reader.get<KubeObject>({ kind, ...(namespace && { namespace }), name }))?.metadata.uid;
  } catch (error) {
    if (isForbidden(error)) throw new UserError(`you may not read ${spoken(target)}: ${(error as Error).message}`);
    throw error;
  }
}

/** People in a hurry mistype, so a similar name is suggested. */
async function notThere(reader: Reader, target: ExplainTarget): Promise<string> {
  const { kind, namespace, name } = target;
  const isNone = async (): Promise<boolean> => (await reader.get({ kind: 'Namespace', name: namespace })) === undefined;
  if (namespace && (await isNone().catch(() => false))) return `there is no namespace ${namespace}`;
  const others = await reader.list<KubeObject>(kind, namespace || undefined).catch(() => []);
  const names = others.map(({ metadata }) => metadata.name);
  const close = closest(name, names);
  return `there is no ${spoken(target)}${close ? `: did you mean ${close}?` : ''}`;
}

interface Records extends Pick<Findings, 'notices' | 'isInstalled'> {
  fixes: Remediation[];
  unread: Kind[];
}

/** Reads what tapfix has recorded. In a cluster that does not know tapfix's resources there is nothing. */
async function readRecords(reader: Reader, space: string, ownNamespace: string): Promise<Records> {
  const unread = new Set<Kind>();
  let isInstalled = true;
  const list = async (kind: Kind, namespace: string): Promise<KubeObject[]> => {
    try {
      return await reader.list<KubeObject>(kind, namespace);
    } catch (error) {
      if (isForbidden(error)) unread.add(kind);
      else if (hasCode(error, 404)) isInstalled = false;
      else throw error;
      return [];
    }
  };
  const spaces = [...new Set([space, ownNamespace])];
  const fixes = (await Promise.all(spaces.map((one) => list('Remediation', one)))).flat();
  const notices = await list('Notice', ownNamespace);
  return {
    fixes: fixes.flatMap((one) => viewRemediation(one) ?? []).filter(isKeyedHere),
    notices: notices.flatMap((one) => viewNotice(one) ?? []),
    unread: [...unread],
    isInstalled,
  };
}
