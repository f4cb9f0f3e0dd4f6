import type { Config } from '../config/schema.ts';
import type { LiveHealth } from '../health/trouble.ts';
import type { Api } from '../kube/api.ts';
import type { Root } from '../kube/owners.ts';
import {
  isAskedAgain,
  isBeingFixed,
  isCleared,
  phaseOf,
  type Remediation,
  type RemediationSpec,
} from '../kube/remediation.ts';
import { RetryLater } from '../lib/errors.ts';
import { sameValue } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';
import type { Outcome } from '../lib/queue.ts';
import { classOf } from '../signals/classes.ts';
import { decideCleared, decideUnseen, type IncidentFacts, isTrueNow } from './decide.ts';
import { adopted, type Episodes } from './episodes.ts';
import { type Incident, renewed, type SeenClass } from './incident.ts';
import type { ProposeAgain } from './propose-again.ts';
import type { Readings } from './readings.ts';
import type { Recorder } from './recorder.ts';
import { createRecreation, mostOfAnEpisode, objectNamed, shortestLifeMs } from './recreation.ts';
import { type SightingsWriter, writeCleared } from './sightings.ts';

const undecided: readonly string[] = ['', 'Proposed', 'Noticed'];

/**
 * Pure. Whether a successor may be created at all: nobody has decided, it is not too new, and there are not too many
 * already.
 */
export const mayBeReplaced = (fix: Remediation, openOfKey: number, nowMs: number): boolean =>
  undecided.includes(phaseOf(fix)) &&
  fix.spec.approval.state === 'Pending' &&
  !isCleared(fix) &&
  openOfKey < mostOfAnEpisode &&
  nowMs - Date.parse(fix.metadata.creationTimestamp) >= shortestLifeMs;

/**
 * The recorded class counts as over only when no reading has confirmed it for this long, so a moment between two tries
 * does not rename the incident.
 */
const untrueMs = 60_000;

/**
 * Pure. Whether the recorded class is over although something else is wrong. `sinceMs`: since when no reading confirmed
 * it.
 */
const isOverByNow = (sinceMs: number | undefined, nowMs: number): boolean =>
  sinceMs !== undefined && nowMs - sinceMs >= untrueMs;

/**
 * These classes say how it ended, not why: an incident that was recorded with its cause is not recorded again without
 * it.
 */
const outcomes: ReadonlySet<string> = new Set(['RolloutStuck', 'JobFailed', 'Evicted']);

/**
 * Pure. The class that names the incident now, of those that are true and whose patience is over: a more specific one
 * than the recorded one, else the same one; once that is over, the most specific of those that say why.
 */
export function classNow(
  fix: Remediation,
  { seen }: Incident,
  live: LiveHealth,
  { nowMs, isOver }: { nowMs: number; isOver: boolean },
): SeenClass | undefined {
  const recorded = seen.find((one) => one.class === fix.spec.incident.class);
  const ready = seen.filter((one) => one.dueMs <= nowMs && isTrueNow(one, live, nowMs));
  const better = ready.find((one) => recorded !== undefined && one.specificity > recorded.specificity);
  return (
    better ??
    ready.find((one) => one === recorded) ??
    (isOver ? ready.find((one) => !outcomes.has(one.class)) : undefined)
  );
}

/**
 * Pure. True for another class, another action or another target; never for other wording alone. If no action can be
 * derived any more, that means little: after a restart nobody remembers which revisions were healthy.
 */
function isAnother(fix: Remediation, next: RemediationSpec, targetChanged: boolean): boolean {
  if (next.incident.class !== fix.spec.incident.class || targetChanged) return true;
  return next.action !== undefined && !sameValue(next.action, fix.spec.action);
}

interface OpenDeps {
  api: Pick<Api, 'get' | 'patch'>;
  log: Log;
  current(): Config;
  episodes: Episodes;
  readings: Readings;
  sightings: SightingsWriter;
  recorder: Recorder;
  /** Whether the card shows something else than what would be done now. */
  hasTargetChanged(fix: Remediation): Promise<boolean>;
  proposeAgain: ProposeAgain;
}

/** How often we check whether the same would be proposed again, and how soon if another class names it now. */
const considerEveryMs = { same: 60_000, another: 10_000 };

/**
 * Incidents that are simply broken are read at most ten times a second in all, so that the API server is not
 * overloaded.
 */
const apartMs = 100;

/** Somebody waits for its result. */
const isWatched = (fix: Remediation): boolean => isBeingFixed(fix) || phaseOf(fix) === 'Failed';

/**
 * Follows a recorded incident to its end: counts sightings, replaces a proposal that is no longer right, and records
 * when it is over.
 */
export function createOpen(deps: OpenDeps) {
  const { api, log, current, episodes, readings, sightings, recorder, hasTargetChanged } = deps;
  const consideredAt = new Map<string, number>(); // by the Remediation's uid
  const askedAt = new Map<string, number>(); // the same
  const untrueSince = new Map<string, number>(); // the same: no reading since then has confirmed its class

  const incidentOf = (fix: Remediation) =>
    episodes.incidents.get(fix.spec.incident.key) ?? adopted(fix, classOf(fix.spec.incident.class, current()));
  const recreation = createRecreation({ api, log, episodes, readings, recorder, incidentOf });

  function look(fix: Remediation, object: Root, nowMs: number): Promise<IncidentFacts> {
    const { key, class: failureClass, firstSeen } = fix.spec.incident;
    const { readable } = classOf(failureClass, current());
    const affected = fix.status?.sightings?.affected ?? [];
    const subject = { namespace: fix.metadata.namespace ?? '', object, affected, sinceMs: Date.parse(firstSeen) };
    return readings.look(key, { class: failureClass, readable }, subject, nowMs);
  }

  async function follow(key: string, fix: Remediation, nowMs: number): Promise<Outcome> {
    let object = recreation.targetOf(fix);
    let facts = await look(fix, object, nowMs);
    const found = facts.live.gone ? await recreation.find(fix, object, nowMs) : undefined;
    if (found) [object, facts] = [found, await look(fix, found, nowMs)];
    const isNew = object !== fix.spec.incident.object;
    await sightings.writeIfDue(fix, episodes.incidents.get(key), facts.live, isNew);
    const { readable, forMs } = classOf(fix.spec.incident.class, current());
    const { cleared, againInMs } = readable
      ? decideCleared({ ...facts, holder: fix })
      : decideUnseen(facts, incidentOf(fix).lastSeenMs, forMs);
    if (cleared) return end(key, fix, facts, !readable);
    if (isNew) {
      const waitMs = await recreation.goOn(fix, object, facts);
      return { againInMs: waitMs === undefined ? againInMs : Math.min(waitMs, againInMs) };
    }
    doubt(fix, facts);
    await reconsider(key, fix, facts);
    await repeatIfAsked(fix, nowMs);
    return { againInMs: facts.live.healthy ? againInMs : Math.max(againInMs, paceMs(fix)) };
  }

  const paceMs = (fix: Remediation): number => (isWatched(fix) ? 0 : episodes.open().length * apartMs);

  /**
   * The recorded class may be over while something else is wrong. But a loop has healthy moments, and new pods need
   * some time.
   */
  function doubt(fix: Remediation, { live, nowMs }: IncidentFacts): void {
    const { uid } = fix.metadata;
    const recorded = incidentOf(fix).seen.find((one) => one.class === fix.spec.incident.class);
    const isSo = !recorded || isTrueNow(recorded.readable ? { ...recorded, forMs: 0 } : recorded, live, nowMs);
    if (live.healthy || isSo) untrueSince.delete(uid);
    else if (!untrueSince.has(uid)) untrueSince.set(uid, nowMs);
  }

  /** The diagnosis or the right fix may have changed while nobody has decided. */
  async function reconsider(key: string, fix: Remediation, { live, nowMs }: IncidentFacts): Promise<void> {
    const { uid, namespace, name } = fix.metadata;
    if (live.healthy || !mayBeReplaced(fix, episodes.openOf(key).length, nowMs)) return;
    const { class: recordedClass, object, firstSeen } = fix.spec.incident;
    const incident = { ...incidentOf(fix), object, firstSeenMs: Date.parse(firstSeen) };
    const isOver = isOverByNow(untrueSince.get(uid), nowMs);
    const as = classNow(fix, incident, live, { nowMs, isOver });
    const everyMs = as?.class === recordedClass ? considerEveryMs.same : considerEveryMs.another;
    if (!as || nowMs - (consideredAt.get(uid) ?? 0) < everyMs) return;
    consideredAt.set(uid, nowMs);
    const next = await recorder.draft(incident, as, live, nowMs).catch(unlessLater);
    if (!next || !isAnother(fix, next, await hasTargetChanged(fix))) return;
    const fresh = await api.get<Remediation>({ kind: 'Remediation', namespace: namespace ?? '', name });
    // Somebody may have decided meanwhile; then that decision counts.
    if (fresh?.metadata.uid !== uid || !mayBeReplaced(fresh, episodes.openOf(key).length, nowMs)) return;
    await recorder.record(incident, next, live, fresh);
    forget(uid);
  }

  function forget(uid: string): void {
    for (const memory of [consideredAt, askedAt, untrueSince]) memory.delete(uid);
    recreation.forget(uid);
  }

  /**
   * Handles the request by annotation, set with kubectl. A refusal is tried again while the annotation is there, but
   * logged only once.
   */
  async function repeatIfAsked(fix: Remediation, nowMs: number): Promise<void> {
    const { uid, namespace, name } = fix.metadata;
    if (!isAskedAgain(fix) || nowMs - (askedAt.get(uid) ?? 0) < considerEveryMs.same) return;
    const isFirst = !askedAt.has(uid);
    askedAt.set(uid, nowMs);
    const again = await deps.proposeAgain(fix).catch(unlessLater);
    if (!again || (!again.ok && !isFirst)) return;
    const about = { audit: true, channel: 'kubernetes', namespace, fix: name, action: fix.spec.action?.type };
    const why = again.ok ? {} : { reason: again.because, ...('why' in again && { why: again.why }) };
    log.info({ ...about, decision: again.ok ? 'ProposedAgain' : 'Refused', ...why }, 'decision');
  }

  async function end(
    key: string,
    fix: Remediation,
    { live, stable, nowMs }: IncidentFacts,
    isUnseen: boolean,
  ): Promise<Outcome> {
    // Its predecessors end with it.
    for (const one of episodes.openOf(key)) {
      const ended = await writeCleared(api, one, { ...live, isUnseen }, nowMs);
      if (ended) episodes.remember(ended);
      sightings.forget(one);
      forget(one.metadata.uid);
    }
    readings.forget(key);
    log.info({ key, namespace: fix.metadata.namespace, fix: fix.metadata.name }, 'incident cleared');
    if (live.gone) await lookForAnother(key, fix, nowMs);
    return nextEpisode(key, live.gone ? (stable?.sinceMs ?? nowMs) : nowMs);
  }

  /**
   * Somebody created another object of the same name: the signals that a list brought about it were taken as already
   * known.
   */
  async function lookForAnother(key: string, fix: Remediation, nowMs: number): Promise<void> {
    const seen = incidentOf(fix);
    const { kind, name } = seen.object;
    const live = await objectNamed(api, seen.namespace, seen.object);
    if (live)
      episodes.incidents.set(key, { ...seen, object: { kind, name, uid: live.metadata.uid }, lastSeenMs: nowMs });
  }

  /** A signal that came while the end was being written, or after the target was gone, belongs to the next episode. */
  function nextEpisode(key: string, overAtMs: number): Outcome {
    const last = episodes.incidents.get(key);
    episodes.incidents.delete(key);
    if (!last || last.lastSeenMs <= overAtMs) return undefined;
    episodes.incidents.set(key, renewed(last));
    return { againInMs: 0 };
  }

  return { follow, paceMs };
}

/** undefined: not possible now. */
const unlessLater = (error: unknown): undefined => {
  if (error instanceof RetryLater) return undefined;
  throw error;
};
