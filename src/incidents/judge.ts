import type { Config } from '../config/schema.ts';
import { filterOutcome } from '../signals/filter.ts';
import { type Signal, SignalOutcome } from '../signals/signal.ts';
import { incidentKey, isClusterScoped } from './key.ts';
import type { Root } from './owner.ts';

/** Of what has no namespace there is none, whatever its Event was stored in. */
export const spaceOf = ({ namespace, object }: Signal): string => (isClusterScoped(object.kind) ? '' : namespace);

/** By the config alone, whatever it belongs to: most of a busy cluster's noise never costs a request. */
export const outcomeFor = (
  config: Config,
  signal: Signal,
  { kind, name }: { kind: string; name: string },
  ownNamespace: string,
): SignalOutcome =>
  filterOutcome(config, { class: signal.class, namespace: spaceOf(signal), kind, name }, ownNamespace);

/** Which incident a signal is part of. */
export interface Place {
  key: string;
  namespace: string;
  object: Root;
}

export type Judged = { outcome: typeof SignalOutcome.kept; place: Place } | { outcome: Exclude<SignalOutcome, 'Kept'> };

/**
 * Pure. Part of an incident, or dropped with the reason. The shared cause is whose incident it is; but whoever ignores a
 * workload does not want to hear of it behind a shared cause either. `root`: undefined when nobody knows whose it is.
 */
export function judgeSignal(config: Config, signal: Signal, root: Root | undefined, ownNamespace: string): Judged {
  const place = placeOf(signal, root, ownNamespace);
  if (!place) return { outcome: SignalOutcome.ownerUnknown };
  for (const one of [place.object, ...(root ? [root] : [])]) {
    const outcome = outcomeFor(config, signal, one, ownNamespace);
    if (outcome !== SignalOutcome.kept) return { outcome };
  }
  return { outcome: SignalOutcome.kept, place };
}

/** Pure. Whose incident it would be, whoever wants to hear of it. */
export function placeOf(signal: Signal, root: Root | undefined, ownNamespace: string): Place | undefined {
  const object = signal.cause ? { ...signal.cause, uid: '' } : root;
  if (!object) return undefined;
  const namespace = isClusterScoped(object.kind) ? ownNamespace : signal.namespace;
  return { key: incidentKey(namespace, object), namespace, object };
}
