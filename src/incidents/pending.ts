import { type Api, ifForbidden, type KubeObject } from '../kube/api.ts';
import type { Root } from '../kube/owners.ts';
import type { Remediation } from '../kube/remediation.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { Log } from '../lib/log.ts';
import type { Outcome } from '../lib/queue.ts';
import { SignalOutcome } from '../signals/signal.ts';
import { decidePending, type IncidentFacts, isTrueNow } from './decide.ts';
import type { Episodes } from './episodes.ts';
import { type Incident, patientAgain, type SeenClass, withSeen } from './incident.ts';
import { isClusterScoped } from './key.ts';
import type { Ledger } from './ledger.ts';
import type { Readings } from './readings.ts';
import type { Recorder } from './recorder.ts';

const ignoreAnnotation = 'tapfix.dev/ignore';
const hasIgnore = (object: KubeObject | null | undefined): boolean =>
  object?.metadata.annotations?.[ignoreAnnotation] === 'true';

async function everyOne<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (!(await holds(item))) return false;
  return true;
}

/** The reason, found only in the live objects, not to record it; undefined: there is none. */
export async function whyNotRecorded(
  api: Pick<Api, 'get'>,
  { namespace, object, affected }: { namespace: string; object: Root; affected: readonly string[] },
): Promise<SignalOutcome | undefined> {
  const [space, isItself] = await Promise.all([
    readNamespace(api, namespace),
    isIgnoredByItself(api, namespace, `${object.kind}/${object.name}`),
  ]);
  if (space === undefined || space?.metadata.deletionTimestamp) return SignalOutcome.namespaceTerminating;
  const isIgnored =
    hasIgnore(space) ||
    isItself ||
    (affected.length > 0 && (await everyOne(affected, (workload) => isIgnoredByItself(api, namespace, workload))));
  return isIgnored ? SignalOutcome.ignoredByAnnotation : undefined;
}

/** null if the namespace may not be read (rights in a few namespaces only): then its annotations say nothing. */
const readNamespace = (api: Pick<Api, 'get'>, name: string): Promise<KubeObject | null | undefined> =>
  api.get<KubeObject>({ kind: 'Namespace', name }).catch(ifForbidden(null));

/** "Deployment/api", or for a cluster-scoped cause "shop/Deployment/api". */
async function isIgnoredByItself(api: Pick<Api, 'get'>, own: string, workload: string): Promise<boolean> {
  const parts = workload.split('/');
  const [kind = '', name = ''] = parts.slice(-2);
  const namespace = parts.length > 2 ? parts[0]! : own;
  if (namespace !== own && hasIgnore(await readNamespace(api, namespace))) return true;
  return (
    isKnownKind(kind) && hasIgnore(await api.get<KubeObject>({ kind, namespace, name }).catch(ifForbidden(undefined)))
  );
}

/** Classes that a workload shows when a shared cause keeps it from its pods: symptoms, not news of its own. */
const symptomClasses: ReadonlySet<string> = new Set(['RolloutStuck', 'Evicted', 'ProbeFailing']);
const isOnlySymptoms = (seen: readonly SeenClass[]): boolean => seen.every((one) => symptomClasses.has(one.class));

/**
 * Pure. Whether this Remediation is of a shared cause that affects the workload: only those list whom they affect.
 * Somebody who may write one in a namespace must not silence another namespace with it, so only a cluster-scoped cause,
 * which is in tapfix's own namespace, is believed about workloads of other namespaces.
 */
export function isAffectedBy(
  { metadata, spec, status }: Remediation,
  namespace: string,
  object: { kind: string; name: string },
  ownNamespace: string,
): boolean {
  const own = `${object.kind}/${object.name}`;
  const affected = status?.sightings?.affected ?? [];
  if (metadata.namespace === namespace && affected.includes(own)) return true;
  const isOfTheCluster = metadata.namespace === ownNamespace && isClusterScoped(spec.incident.object.kind);
  return isOfTheCluster && affected.includes(`${namespace}/${own}`);
}

/** Pure. The open shared cause that explains all of these classes; by default all classes of the incident. */
export function sharedCauseOf(
  incident: Incident,
  open: readonly Remediation[],
  ownNamespace: string,
  seen: readonly SeenClass[] = incident.seen,
): Remediation | undefined {
  if (seen.length === 0 || !isOnlySymptoms(seen)) return undefined;
  return open.find((fix) => isAffectedBy(fix, incident.namespace, incident.object, ownNamespace));
}

/** A shared cause is judged, and lists whom it affects, within this time after its patience. */
const judgedWithinMs = 10_000;

/**
 * Pure. Whether a shared cause was seen in the same namespace and is not decided yet: it may explain a symptom that needs
 * no patience of its own.
 */
export const mayHaveCause = ({ namespace }: Incident, others: Iterable<Incident>, nowMs: number): boolean =>
  [...others].some(
    ({ object, seenIn, dueMs }) =>
      (object.kind === 'ResourceQuota' || isClusterScoped(object.kind)) &&
      seenIn.includes(namespace) &&
      nowMs < dueMs + judgedWithinMs,
  );

interface PendingDeps {
  api: Pick<Api, 'get'>;
  log: Log;
  ownNamespace: string;
  episodes: Episodes;
  ledger: Ledger;
  readings: Readings;
  recorder: Recorder;
}

const outcomes = {
  gone: SignalOutcome.targetGone,
  healed: SignalOutcome.healedBeforeTold,
  untrue: SignalOutcome.noLongerTrue,
  unseen: SignalOutcome.noLongerSeen,
} as const;

/** How soon a symptom is judged again, because its cause may be over. */
const symptomMs = 30_000;

/** How soon it is judged again while a cause of it may be about to be recorded. */
const undecidedMs = 1_000;

/** Whatever is still unclear then is posted as it is: nothing that is broken stays quiet. */
const longestUnclearMs = 60_000;

/** Handles an incident whose patience is over: reads the live state again, and records what is still broken. */
export function createPending({ api, log, ownNamespace, episodes, ledger, readings, recorder }: PendingDeps) {
  async function judge(incident: Incident, nowMs: number): Promise<Outcome> {
    const { key, namespace, seen, firstSeenMs, lastSeenMs } = incident;
    const cause = sharedCauseOf(incident, episodes.open(), ownNamespace);
    if (cause) return explain(incident, cause.spec.incident.key);
    if (incident.symptomOf) {
      episodes.incidents.set(key, patientAgain(incident, nowMs)); // its cause is over: now it is judged by itself
      return { againInMs: 0 };
    }
    const object = await withUid(incident);
    const named = seen.find(({ readable }) => readable) ?? seen[0];
    // A list also reports failures from long before we first saw them.
    const sinceMs = Math.min(firstSeenMs, named.saidAtMs ?? firstSeenMs);
    const facts = await readings.look(key, named, { namespace, object, sinceMs }, nowMs);
    const step = decidePending({ ...facts, seen, lastSeenMs });
    if (step.do === 'wait') return { againInMs: step.ms };
    if (step.do === 'forget') return forget(incident, outcomes[step.because]);
    // Many signals turn out not to be true: for example, a quota may have refused the pods that a StatefulSet is
    // missing.
    const [first, ...others] = seen.filter((one) => isTrueNow(one, facts.live, nowMs));
    const behind = first && sharedCauseOf(incident, episodes.open(), ownNamespace, [first, ...others]);
    // A signal that came meanwhile was not judged with the rest.
    if (behind && episodes.incidents.get(key) !== incident) return { againInMs: 0 };
    if (behind) return explain(withSeen(incident, [first, ...others]), behind.spec.incident.key);
    const isUndecided = isOnlySymptoms([step.as]) && mayHaveCause(incident, episodes.incidents.values(), nowMs);
    if (isUndecided && nowMs < step.as.dueMs + longestUnclearMs) return { againInMs: undecidedMs };
    return tell({ ...incident, object }, step.as, facts, incident);
  }

  function explain(incident: Incident, symptomOf: string): Outcome {
    const { key } = incident;
    ledger.settle(key, SignalOutcome.symptom);
    if (incident.symptomOf !== symptomOf) log.info({ key, of: symptomOf }, 'incident is a symptom');
    episodes.incidents.set(key, { ...incident, symptomOf });
    return { againInMs: symptomMs };
  }

  /** An event names a quota, or an owner by its pods' names, without a uid. It means the object that exists now. */
  async function withUid({ namespace, object }: Incident): Promise<Root> {
    if (object.uid || !isKnownKind(object.kind)) return object;
    const live = await api
      .get<KubeObject>({ kind: object.kind, namespace, name: object.name })
      .catch(ifForbidden(undefined));
    return { ...object, uid: live?.metadata.uid ?? '' };
  }

  async function tell(
    incident: Incident,
    as: SeenClass,
    { live, nowMs }: IncidentFacts,
    judged: Incident,
  ): Promise<Outcome> {
    const { key, namespace, object } = incident;
    const drafting = recorder.draft(incident, as, live, nowMs, nowMs > as.dueMs + longestUnclearMs);
    drafting.catch(() => undefined); // of no interest if it is not recorded
    const whyNot = await whyNotRecorded(api, { namespace, object, affected: live.affected });
    if (whyNot) return forget(judged, whyNot);
    const spec = await drafting;
    if (!spec) return forget(judged, SignalOutcome.targetGone);
    try {
      await recorder.record(incident, spec, live);
    } finally {
      if (episodes.holderOf(key)) ledger.settle(key, SignalOutcome.recorded); // also if a later write failed
    }
    return { againInMs: 1_000 };
  }

  function forget(judged: Incident, outcome: SignalOutcome): Outcome {
    const { key, seen } = judged;
    // A signal that came meanwhile was not judged with the rest.
    if (episodes.incidents.get(key) !== judged) return { againInMs: 0 };
    episodes.incidents.delete(key);
    readings.forget(key);
    ledger.settle(key, outcome);
    log.info({ key, class: seen[0].class, outcome }, 'incident not posted');
    return undefined;
  }

  return { judge };
}
