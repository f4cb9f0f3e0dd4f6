import { type Api, type KubeObject, unlessForbidden } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { Log } from '../lib/log.ts';
import type { Outcome } from '../lib/queue.ts';
import { SignalOutcome } from '../signals/signal.ts';
import type { Book } from './book.ts';
import { decideUntold, type Facts, isTrueNow } from './decide.ts';
import { type Incident, patientAgain, type SeenClass, withSeen } from './incident.ts';
import type { Ledger } from './ledger.ts';
import type { Root } from './owner.ts';
import type { Readings } from './readings.ts';
import { sharedCauseOf } from './symptoms.ts';
import type { Teller } from './teller.ts';
import { whyNotTold } from './why-not-told.ts';

export interface UntoldDeps {
  api: Pick<Api, 'get'>;
  log: Log;
  book: Book;
  ledger: Ledger;
  readings: Readings;
  teller: Teller;
}

const outcomes = {
  gone: SignalOutcome.targetGone,
  healed: SignalOutcome.healedBeforeTold,
  untrue: SignalOutcome.noLongerTrue,
  unseen: SignalOutcome.noLongerSeen,
} as const;

/** How soon a symptom is looked at again: its cause may be over. */
const symptomMs = 30_000;

/** An incident whose patience is over: the live state is read again, and what is still broken is told. */
export function createUntold({ api, log, book, ledger, readings, teller }: UntoldDeps) {
  async function judge(incident: Incident, nowMs: number): Promise<Outcome> {
    const { key, namespace, seen, firstSeenMs, lastSeenMs } = incident;
    const cause = sharedCauseOf(incident, book.open());
    if (cause) return explain(incident, cause.spec.incident.key);
    if (incident.symptomOf) {
      book.incidents.set(key, patientAgain(incident, nowMs)); // what explained it is over: now it speaks for itself
      return { againInMs: 0 };
    }
    const object = await withUid(incident);
    const named = seen.find(({ readable }) => readable) ?? seen[0];
    // A list tells of what was long before we first saw it.
    const sinceMs = Math.min(firstSeenMs, named.saidAtMs ?? firstSeenMs);
    const facts = await readings.look(key, named, { namespace, object, sinceMs }, nowMs);
    const step = decideUntold({ ...facts, seen, lastSeenMs });
    if (step.do === 'wait') return { againInMs: step.ms };
    if (step.do === 'forget') return forget(incident, outcomes[step.because]);
    // Much is seen that is not so: what is missing of a StatefulSet, say, a quota may have refused.
    const [first, ...others] = seen.filter((one) => isTrueNow(one, facts.live, nowMs));
    const behind = first && sharedCauseOf(incident, book.open(), [first, ...others]);
    // A signal that came while it was judged was not judged with it.
    if (behind && book.incidents.get(key) !== incident) return { againInMs: 0 };
    if (behind) return explain(withSeen(incident, [first, ...others]), behind.spec.incident.key);
    return tell({ ...incident, object }, step.as, facts, incident);
  }

  function explain(incident: Incident, symptomOf: string): Outcome {
    const { key } = incident;
    ledger.settle(key, SignalOutcome.symptom);
    if (incident.symptomOf !== symptomOf) log.info({ key, of: symptomOf }, 'incident is a symptom');
    book.incidents.set(key, { ...incident, symptomOf });
    return { againInMs: symptomMs };
  }

  /** An event names a quota, or an owner by its pods' names, without a uid: the live one is what it means. */
  async function withUid({ namespace, object }: Incident): Promise<Root> {
    if (object.uid || !isKnownKind(object.kind)) return object;
    const live = await api.get<KubeObject>({ kind: object.kind, namespace, name: object.name }).catch(unlessForbidden);
    return { ...object, uid: live?.metadata.uid ?? '' };
  }

  async function tell(incident: Incident, as: SeenClass, { live, nowMs }: Facts, judged: Incident): Promise<Outcome> {
    const { key, namespace, object } = incident;
    const whyNot = await whyNotTold(api, { namespace, object, affected: live.affected });
    if (whyNot) return forget(judged, whyNot);
    const spec = await teller.draft(incident, as, nowMs);
    if (!spec) return forget(judged, SignalOutcome.targetGone);
    try {
      await teller.record(incident, spec, live);
    } finally {
      if (book.holderOf(key)) ledger.settle(key, SignalOutcome.told); // whatever else there was to write
    }
    return { againInMs: 1_000 };
  }

  function forget(judged: Incident, outcome: SignalOutcome): Outcome {
    const { key, seen } = judged;
    // A signal that came while it was judged was not judged with it.
    if (book.incidents.get(key) !== judged) return { againInMs: 0 };
    book.incidents.delete(key);
    readings.forget(key);
    ledger.settle(key, outcome);
    log.info({ key, class: seen[0].class, outcome }, 'incident not told');
    return undefined;
  }

  return { judge };
}
