import type { Config } from '../config/schema.ts';
import { fold, type Incident, type SeenClass } from '../incidents/incident.ts';
import { remediationName } from '../incidents/key.ts';
import { createLedger, type Ledger } from '../incidents/ledger.ts';
import type { Remediation } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { remediationSpec } from '../proposals/record.ts';
import { classOf } from '../signals/classes.ts';
import { SignalOutcome } from '../signals/signal.ts';
import { createFuture, isOver, nextStep, type OfflineStep, type Open } from './decide-offline.ts';
import { type RecordedSighting, type RecordedSightings, sightingsIn } from './recorded-sightings.ts';
import type { Recording } from './recording.ts';

interface ReplayedFacts {
  incident: Incident;
  as: SeenClass;
  /** Remediations recorded earlier for the same key. */
  earlier: readonly Remediation[];
  affected: ReadonlySet<string>;
  config: Config;
  nowMs: number;
}

/**
 * Pure. The Remediation that would have been recorded, without what only a cluster could show: causes, counts, a fix.
 */
function aFixOf({ incident, as, earlier, affected, config, nowMs }: ReplayedFacts): Remediation {
  const { key, namespace, object, firstSeenMs, lastSeenMs, count } = incident;
  const { class: failureClass, severity, reason, message } = as;
  const spec = remediationSpec({
    incident: { key, object, firstSeenMs, class: failureClass, severity, reason, message },
    derived: { diagnosis: message, changed: [], evidence: [], rationale: 'there is no cluster to read' },
    earlier,
    notifyOnly: true,
    proposedBy: 'tapfix replay',
    config,
    nowMs,
  });
  const n = earlier.length + 1;
  return {
    metadata: {
      name: remediationName(key, n),
      namespace,
      uid: `${key} ${n}`,
      resourceVersion: '1',
      creationTimestamp: iso(nowMs),
    },
    spec,
    status: {
      sightings: {
        count,
        lastSeen: iso(lastSeenMs),
        ...(affected.size > 0 && { affected: [...affected].slice(0, 50) }),
      },
    },
  };
}

/** One message or edit that would have been posted. */
export interface Posting {
  atMs: number;
  fix: Remediation;
  /** True if it edits the message that is already posted. */
  isEdit: boolean;
}

export interface Replay extends Pick<RecordedSightings, 'notFailures' | 'unwatched'> {
  said: Posting[];
  ledger: Ledger;
  sightings: readonly RecordedSighting[];
  fromMs: number;
  untilMs: number;
}

const never = Number.POSITIVE_INFINITY;

/** Pure. Runs the recording through detection, filter, key, fold and patience; the events' times are the clock. */
export function replay({ events, unreadable }: Recording, config: Config, ownNamespace: string): Replay {
  const found = sightingsIn(events, config, ownNamespace);
  const fromMs = events.reduce((least, { firstMs }) => Math.min(least, firstMs), never);
  const untilMs = events.reduce((most, { lastMs }) => Math.max(most, lastMs), 0);
  let nowMs = events.length > 0 ? fromMs : 0;
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const ledger = createLedger({ clock, count: () => undefined, mostWorkloads: 100_000, entriesEach: 1_000 });
  const future = createFuture();
  const open = new Map<string, Open>();
  const agenda = new Map<string, number>(); // when a key is looked at next
  const said: Posting[] = [];
  const recorded = new Map<string, Remediation[]>(); // by key
  const causes = new Set<string>(); // keys of those that affect others

  const openCauses = (): Remediation[] =>
    [...causes].flatMap((key) => {
      const one = open.get(key);
      return one?.fix && !isOver(one, config, nowMs) ? [one.fix] : [];
    });

  function take({ atMs, signal, judged, about, touches }: RecordedSighting): void {
    nowMs = Math.max(nowMs, atMs);
    ledger.arrived();
    if (!('place' in judged)) return ledger.ended(judged.outcome, about);
    const { key } = judged.place;
    const before = open.get(key);
    const known = before && !isOver(before, config, nowMs) ? before : undefined;
    const incident = fold(known?.incident, { ...judged.place, signal, row: classOf(signal.class, config), nowMs });
    const affected = known?.affected ?? new Set<string>();
    if (touches) affected.add(touches);
    if (touches) causes.add(key);
    const whole = key === about.workload ? about : { ...about, incident: key };
    if (known?.fix) ledger.ended(SignalOutcome.repeated, whole);
    else ledger.waits(key, whole);
    open.set(key, { incident, affected, ...(known?.fix && { fix: touching(known.fix, affected) }) });
    agenda.set(key, Math.min(Math.max(nowMs, incident.dueMs), agenda.get(key) ?? never));
  }

  function judge(key: string): void {
    const one = open.get(key)!;
    const live = future.read(key, one.incident.seen, nowMs);
    act(key, one, nextStep(one, { live, openCauses: openCauses(), ownNamespace, config, nowMs, untilMs }));
  }

  function act(key: string, one: Open, step: OfflineStep): void {
    agenda.set(key, step.do === 'wait' || step.do === 'explain' ? step.untilMs : never);
    if (step.do === 'tell') {
      const earlier = recorded.get(key) ?? [];
      const fix = aFixOf({ ...one, as: step.as, earlier, config, nowMs });
      recorded.set(key, [...earlier, fix]);
      said.push({ atMs: nowMs, fix, isEdit: one.fix !== undefined });
      ledger.settle(key, SignalOutcome.recorded);
      open.set(key, { ...one, fix });
    } else if (step.do === 'forget') {
      ledger.settle(key, step.outcome);
      open.delete(key);
    } else {
      if (step.do === 'explain') ledger.settle(key, SignalOutcome.symptom);
      if (step.incident) open.set(key, { ...one, incident: step.incident });
    }
    if (agenda.get(key) === never) agenda.delete(key);
  }

  for (const { judged, signal, atMs } of found.sightings)
    if ('place' in judged) future.put(judged.place.key, signal.class, atMs);
  for (const _ of unreadable) ledger.dropped(SignalOutcome.unreadable);
  for (const times of found.notFailures.values())
    for (let n = 0; n < times; n++) ledger.dropped(SignalOutcome.notAFailure);

  let taken = 0;
  // Stops when the recording ends: an incident that is not due by then cannot be judged, and still waits.
  for (;;) {
    const sighting = found.sightings[taken];
    const [key, dueMs] = soonest(agenda);
    if (sighting && sighting.atMs <= dueMs) {
      taken += 1;
      take(sighting);
    } else if (dueMs <= untilMs) {
      nowMs = Math.max(nowMs, dueMs);
      judge(key);
    } else return { ...found, said, ledger, fromMs, untilMs };
  }
}

function soonest(agenda: ReadonlyMap<string, number>): [key: string, dueMs: number] {
  let first: [string, number] = ['', never];
  for (const entry of agenda) if (entry[1] < first[1]) first = entry;
  return first;
}

/** Each sighting improves what is known about the workloads that a shared cause affects. */
const touching = (fix: Remediation, affected: ReadonlySet<string>): Remediation =>
  affected.size === 0
    ? fix
    : {
        ...fix,
        status: { ...fix.status, sightings: { ...fix.status!.sightings!, affected: [...affected].slice(0, 50) } },
      };
