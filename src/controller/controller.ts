import { isAfter, linkOf, type Remediation } from '../kube/remediation.ts';
import type { StoreChange } from '../kube/store.ts';
import { levelOf } from '../kube/outage.ts';
import { messageOf } from '../lib/errors.ts';
import { createQueue, type Queue } from '../lib/queue.ts';
import { createLock, type Deps } from './context.ts';
import { createEventWriter } from './kube-events.ts';
import { createReconcile, isOfInterest } from './reconcile.ts';
import { createRetention, endOf, type Kept } from './retention.ts';
import { createRights } from './rights.ts';
import { createSweeper } from './sweep.ts';

export interface ControllerDeps extends Deps {
  /**
   * Whether this installation is responsible for it. A verdict of ours would get in the way of another installation.
   */
  isOurs(fix: Remediation): boolean;
  metrics?: { phase(phase: string): void };
}

export interface Controller {
  /** All Remediations: at the start, and after each relist. */
  onFixes(fixes: readonly Remediation[]): void;
  onFix(change: StoreChange<Remediation>): void;
  /** Runs until the signal aborts; a pass that is under way is finished first. */
  run(signal: AbortSignal): Promise<void>;
}

const sweepEveryMs = 60_000;
const keyOf = (namespace: string | undefined, name: string): string => `${namespace}/${name}`;

interface Known extends Kept {
  isOfInterest: boolean;
}

/**
 * Changes workloads, and is the only writer of `status.phase`. Everything it knows is in the Remediations; in memory it
 * keeps only an index.
 */
export function createController(deps: ControllerDeps): Controller {
  const { api, clock, log, current } = deps;
  const known = new Map<string, Known>();
  let queue: Queue | undefined;
  const lock = createLock();
  const namespaces = (): string[] => [...known.values()].map(({ namespace = '' }) => namespace);
  const sweep = createSweeper({ api, log, lock, current, namespace: deps.namespace, namespaces });
  const forget = createRetention({ api, log, current, kept: () => [...known.values()] });
  const reconcile = createReconcile({
    api,
    clock,
    log,
    current,
    namespace: deps.namespace,
    identity: deps.identity,
    history: deps.history,
    readHealth: deps.readHealth,
    judge: deps.judge,
    patienceMs: deps.patienceMs,
    derive: deps.derive,
    lock,
    withRights: createRights(deps),
    events: createEventWriter(deps),
    successorOf: (fix) => [...known.values()].find((one) => isAfter(one, linkOf(fix)))?.name,
    onPhase: (phase) => deps.metrics?.phase(phase),
  });

  function upsert(fix: Remediation): void {
    const { namespace, name, resourceVersion } = fix.metadata;
    const { follows } = fix.spec;
    const isOurs = deps.isOurs(fix);
    const entry = {
      ...linkOf(fix),
      resourceVersion,
      isOurs,
      ended: endOf(fix),
      isOfInterest: isOurs && isOfInterest(fix, clock.now()),
    };
    known.set(keyOf(namespace, name), entry);
    if (entry.isOfInterest) queue?.add(keyOf(namespace, name));
    const followed = follows && keyOf(namespace, follows.name);
    if (followed && known.get(followed)?.isOfInterest) queue?.add(followed);
  }

  return {
    onFixes(fixes) {
      known.clear();
      for (const fix of fixes) upsert(fix);
    },
    onFix(change) {
      if (change.type === 'upsert') upsert(change.view);
      else known.delete(keyOf(change.namespace, change.name));
    },
    async run(signal) {
      queue = createQueue({
        clock,
        signal,
        handle: (key) => reconcile(...(key.split('/') as [string, string])),
        onError: (key, error, retryInMs, failures) =>
          log[levelOf(error, failures)]({ key, error: messageOf(error), retryInMs }, 'pass failed'),
      });
      for (const [key, { isOfInterest }] of known) if (isOfInterest) queue.add(key);
      while (!signal.aborted) {
        await sweep(clock.now());
        await forget(clock.now());
        await clock.sleep(sweepEveryMs, signal);
      }
      await queue.idle();
    },
  };
}
