import type { Config } from '../config/schema.ts';
import { type Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createQueue } from '../lib/queue.ts';
import { classOf } from '../signals/classes.ts';
import { filterOutcome } from '../signals/filter.ts';
import { identityOf, type Signal, SignalOutcome } from '../signals/signal.ts';
import type { Book } from './book.ts';
import { fold } from './incident.ts';
import { incidentKey } from './key.ts';
import type { OwnerResolver, Root } from './owner.ts';

export interface IntakeDeps {
  book: Book;
  clock: Clock;
  log: Log;
  current(): Config;
  ownNamespace: string;
  owners: OwnerResolver;
  count(outcome: SignalOutcome, failureClass: string): void;
  onIncident(key: string): void;
  signal: AbortSignal;
}

/** From signals to incidents. A signal whose owner cannot be read now is kept and tried again, never lost. */
export function createIntake({
  book,
  clock,
  log,
  current,
  ownNamespace,
  owners,
  count,
  onIncident,
  signal,
}: IntakeDeps) {
  const pending = new Map<string, Signal[]>();
  const queue = createQueue({
    clock,
    signal,
    handle: take,
    onError: (of, error) => log.warn({ of, err: messageOf(error) }, 'owner could not be read, trying again'),
  });

  const outcomeFor = (s: Signal, object: { kind: string; name: string }): SignalOutcome =>
    filterOutcome(current(), { class: s.class, namespace: s.namespace, ...object }, ownNamespace);

  /** Whoever ignores a workload does not want to hear of it behind a shared cause either. */
  function judge(s: Signal, object: Root, root: Root | undefined): SignalOutcome {
    const outcome = outcomeFor(s, object);
    return outcome === SignalOutcome.kept && root ? outcomeFor(s, root) : outcome;
  }

  /** A list repeats what was counted and told before: not news, whenever we happen to start. */
  const isKnownAlready = (s: Signal, key: string): boolean => s.listed === true && book.holderOf(key) !== undefined;

  function offer(s: Signal): void {
    // Cheap refusals first: most of a busy cluster's noise never costs a request.
    const outcome = outcomeFor(s, s.object);
    if (outcome === SignalOutcome.namespaceNotSelected || outcome === SignalOutcome.classDisabled)
      return count(outcome, s.class);
    const of = identityOf(s);
    pending.set(of, [...(pending.get(of) ?? []), s]);
    queue.add(of);
  }

  async function take(of: string): Promise<undefined> {
    const [first] = pending.get(of) ?? [];
    if (!first) return;
    const root = await owners.rootOf(first.namespace, first.object);
    const object = first.cause ? { ...first.cause, uid: '' } : root;
    const signals = pending.get(of) ?? [];
    pending.delete(of);
    for (const s of signals) {
      const outcome = object ? judge(s, object, root) : SignalOutcome.ownerUnknown;
      count(outcome, s.class);
      if (!object || outcome !== SignalOutcome.kept) continue;
      const key = incidentKey(s.namespace, object);
      if (!isKnownAlready(s, key)) {
        const row = classOf(s.class, current());
        book.incidents.set(key, fold(book.incidentOf(key), { key, object, signal: s, row, nowMs: clock.now() }));
      }
      onIncident(key);
    }
  }

  return { offer };
}
