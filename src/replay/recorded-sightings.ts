import type { Config } from '../config/schema.ts';
import { aboutOf, type Judged, judgeSignal, spaceOf } from '../incidents/intake.ts';
import { isClusterScoped } from '../incidents/key.ts';
import type { LedgerSubject } from '../incidents/ledger.ts';
import { longestChain, ownerByName, type Root } from '../kube/owners.ts';
import type { EventView } from '../kube/views.ts';
import { detectEvent } from '../signals/detect.ts';
import { isNormalFailure } from '../signals/reasons.ts';
import type { Signal } from '../signals/signal.ts';
import type { RecordedEvent } from './recording.ts';

interface Owner {
  kind: string;
  name: string;
}

/**
 * Messages in which controllers name what they created:
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/controller_utils.go
 */
const makers: readonly { reason: string; kinds: readonly string[]; made: string; words: RegExp }[] = [
  { reason: 'SuccessfulCreate', kinds: ['ReplicaSet', 'DaemonSet', 'Job'], made: 'Pod', words: /^Created pod: (\S+)/ },
  { reason: 'SuccessfulCreate', kinds: ['StatefulSet'], made: 'Pod', words: /^create Pod (\S+) in StatefulSet / },
  { reason: 'SuccessfulCreate', kinds: ['CronJob'], made: 'Job', words: /^Created job (\S+)/ },
  { reason: 'ScalingReplicaSet', kinds: ['Deployment'], made: 'ReplicaSet', words: /^Scaled up replica set (\S+) / },
];

const idOf = (namespace: string, { kind, name }: Owner): string => `${namespace}/${kind}/${name}`;

/** Pure. Finds owners without a cluster to ask: from what the recording itself says, and then from names. */
function createOwnersOf(events: readonly EventView[]) {
  const made = new Map<string, Owner>();
  for (const { object, reason, message } of events) {
    for (const maker of makers) {
      const [, name] =
        (maker.reason === reason && maker.kinds.includes(object.kind) && maker.words.exec(message)) || [];
      if (name) made.set(idOf(object.namespace, { kind: maker.made, name }), object);
    }
  }
  return (namespace: string, object: Root, nowMs: number): Root => {
    let root: Owner = object;
    for (let depth = 0; depth < longestChain; depth++) {
      const above = made.get(idOf(namespace, root)) ?? ownerByName(root.kind, root.name, nowMs);
      if (!above) break;
      root = above;
    }
    return root === object ? object : { kind: root.kind, name: root.name, uid: '' };
  };
}

/** One sighting of a failure, and the filter's verdict on it. */
export interface RecordedSighting {
  atMs: number;
  signal: Signal;
  judged: Judged;
  about: LedgerSubject;
  /** The affected workload, when a shared cause is to blame: "Deployment/api". */
  touches?: string;
}

export interface RecordedSightings {
  /** In the order of time. */
  sightings: RecordedSighting[];
  /** Warnings that report no failure, counted by reason. */
  notFailures: Map<string, number>;
  /** Events that tapfix does not watch. */
  unwatched: number;
}

/** Pure. The events of a recording, one by one: which workload each belongs to, and whether the filter keeps it. */
export function sightingsIn(events: readonly RecordedEvent[], config: Config, ownNamespace: string): RecordedSightings {
  const ownersOf = createOwnersOf(events.map(({ event }) => event));
  const isWatched = (event: EventView): boolean =>
    event.type === 'Warning' ||
    isNormalFailure(event) ||
    config.extraReasons.some(({ reason }) => reason === event.reason);
  const watched = events.filter(({ event }) => isWatched(event));
  const found: RecordedSightings = { sightings: [], notFailures: new Map(), unwatched: events.length - watched.length };

  for (const { event, firstMs, lastMs } of watched) {
    const signal = detectEvent(event, config.extraReasons);
    if (!signal) {
      found.notFailures.set(event.reason, (found.notFailures.get(event.reason) ?? 0) + 1);
      continue;
    }
    const root = ownersOf(spaceOf(signal), signal.object, lastMs);
    const judged = judgeSignal(config, signal, root, ownNamespace);
    const workload = `${root.kind}/${root.name}`;
    const touches = signal.cause && (isClusterScoped(signal.cause.kind) ? `${signal.namespace}/${workload}` : workload);
    const about = aboutOf(signal, root, ownNamespace);
    for (const atMs of timesOf(event.count, firstMs, lastMs))
      found.sightings.push({ atMs, signal, judged, about, ...(touches && { touches }) });
  }
  found.sightings.sort((a, b) => a.atMs - b.atMs);
  return found;
}

/**
 * Large enough that there are few sightings, and small enough that each is seen again before it would count as over.
 */
const apartMs = 5 * 60_000;

/**
 * An event that was counted up keeps its first and last time; the sightings between them are assumed to be evenly
 * spread.
 */
function timesOf(count: number, firstMs: number, lastMs: number): number[] {
  if (count < 2 || lastMs <= firstMs) return [lastMs];
  const steps = Math.min(count - 1, Math.ceil((lastMs - firstMs) / apartMs));
  return Array.from({ length: steps + 1 }, (_, step) => Math.round(firstMs + ((lastMs - firstMs) * step) / steps));
}
