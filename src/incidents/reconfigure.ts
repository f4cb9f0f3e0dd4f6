import type { Config } from '../config/schema.ts';
import { classOf } from '../signals/classes.ts';
import { filterOutcome } from '../signals/filter.ts';
import { SignalOutcome } from '../signals/signal.ts';
import { type Incident, type SeenClass, withSeen } from './incident.ts';
import { isClusterScoped } from './key.ts';

/** Pure. What nobody was told of yet, as this configuration has it: with its patience, or dropped with the reason. */
export function reconfigured(
  incident: Incident,
  config: Config,
  ownNamespace: string,
): Incident | Exclude<SignalOutcome, 'Kept'> {
  const { kind, name } = incident.object;
  const spaces = isClusterScoped(kind) ? incident.seenIn : [incident.namespace];
  /** Of what has no namespace one that is still watched, and touched by it, is enough. */
  const outcomeOf = (one: SeenClass): SignalOutcome => {
    const outcomes = spaces.map((namespace) =>
      filterOutcome(config, { class: one.class, namespace, kind, name }, ownNamespace),
    );
    return outcomes.find((outcome) => outcome === SignalOutcome.kept) ?? outcomes[0] ?? SignalOutcome.kept;
  };
  const kept = incident.seen.filter((one) => outcomeOf(one) === SignalOutcome.kept);
  if (kept.length === 0) return outcomeOf(incident.seen[0]) as Exclude<SignalOutcome, 'Kept'>;
  return withSeen(
    incident,
    kept.map((one) => {
      const row = classOf(one.class, config);
      return { ...one, ...row, dueMs: one.dueMs - one.forMs + row.forMs };
    }),
  );
}
