import type { ActionContext, ActionRefusal } from '../actions/action.ts';
import { parseAction, type ParsedAction } from '../actions/table.ts';
import type { Config } from '../config/schema.ts';
import type { HealthSubject } from '../diagnosis/health.ts';
import type { History } from '../health/history.ts';
import type { LiveHealth } from '../health/trouble.ts';
import type { Api, Reader } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Derived, DeriveDeps, Subject } from '../proposals/derive.ts';
import type { judgeRecovery } from './recovery.ts';

/** The dependencies of every part of the controller. */
export interface Deps {
  api: Api;
  clock: Clock;
  log: Log;
  /** The current configuration. */
  current(): Config;
  /** tapfix's own namespace. */
  namespace: string;
  /**
   * The user of our own credentials. On a laptop that is a person, but what we propose is not that person's decision.
   */
  identity?: string | undefined;
  history: History;
  readHealth(reader: Reader, subject: HealthSubject, nowMs: number): Promise<LiveHealth>;
  /** The rule that decides "recovered", if not the one of recovery.ts. */
  judge?: typeof judgeRecovery | undefined;
  /** How long a failure of this class must have lasted, by the configuration in force, before anything is done. */
  patienceMs(failureClass: string): number;
  /** undefined if the subject is gone. */
  derive(subject: Subject, deps: DeriveDeps): Promise<Derived | undefined>;
}

export const subjectOf = ({ metadata, spec }: Remediation): Subject => ({
  namespace: metadata.namespace!,
  class: spec.incident.class,
  object: spec.incident.object,
});

export const contextOf = ({ metadata }: Remediation, reader: Reader, atMs?: number): ActionContext => ({
  namespace: metadata.namespace!,
  fixUid: metadata.uid,
  reader,
  ...(atMs !== undefined && { atMs }),
});

export function parsedActionOf({ spec }: Remediation): ParsedAction | ActionRefusal {
  try {
    if (spec.action) return parseAction(spec.action);
    return { ok: false, reason: 'NoAction', say: 'there is nothing to apply' };
  } catch (error) {
    return { ok: false, reason: 'InvalidAction', say: messageOf(error) };
  }
}

export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one at a time, in the order of asking. A failure of one does not affect the next. */
export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
