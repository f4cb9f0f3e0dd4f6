import type { Config } from '../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../kube/api.ts';
import { levelOf } from '../kube/outage.ts';
import { timeMs } from '../kube/raw.ts';
import {
  conditionOf,
  isAfter,
  isCleared,
  isOver,
  isTrue,
  type Link,
  phaseOf,
  type Remediation,
  seenCleared,
} from '../kube/remediation.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { lateRecoveryMs } from './recovery.ts';

/** The facts about a Remediation that decide when it may be deleted. */
export interface Kept extends Link {
  resourceVersion: string | undefined;
  isOurs: boolean;
  /** Absent while its episode is open, or its result may still change. */
  ended: { sinceMs: number; notBeforeMs: number } | undefined;
}

/** If a namespace has more, the oldest are deleted first. Those that are not over stay, however many there are. */
export const mostPerNamespace = 200;

/** A backlog is deleted in several passes. */
const mostAtOnce = 200;

/**
 * Pure. Since when the controller has seen that the episode is over, and until when a failed fix may still turn out to
 * have helped. The watcher's own time is not used: it could be in the past, and the record of what was done would go.
 */
export function endOf(fix: Remediation): Kept['ended'] {
  if (!isOver(fix) || !isCleared(fix) || !isTrue(fix, seenCleared)) return undefined;
  const sinceMs = timeMs(conditionOf(fix, seenCleared)?.lastTransitionTime);
  const mayTurn = phaseOf(fix) === 'Failed' && isTrue(fix, 'Applied');
  const failedAtMs = timeMs(conditionOf(fix, 'Failed')?.lastTransitionTime);
  return { sinceMs, notBeforeMs: mayTurn ? failedAtMs + lateRecoveryMs : 0 };
}

/** Pure. Those whose time is over, and the oldest of those above the limit. */
export function overdue<T extends Kept>(all: readonly T[], retentionMs: number, nowMs: number): T[] {
  const needed = all.filter(({ follows, ended }) => follows && !ended);
  const isNeeded = (one: T): boolean => needed.some((next) => isAfter(next, one));
  const mayGo = all
    .filter((one) => one.isOurs && one.ended && one.ended.notBeforeMs <= nowMs && !isNeeded(one))
    .sort((a, b) => a.ended!.sinceMs - b.ended!.sinceMs);
  const left = new Map<string | undefined, number>();
  for (const { namespace } of all) left.set(namespace, (left.get(namespace) ?? 0) + 1);
  return mayGo.filter(({ namespace, ended }) => {
    const isTooMany = left.get(namespace)! > mostPerNamespace;
    if (!isTooMany && ended!.sinceMs + retentionMs > nowMs) return false;
    left.set(namespace, left.get(namespace)! - 1);
    return true;
  });
}

export interface RetentionDeps {
  api: Pick<Api, 'delete'>;
  log: Log;
  current(): Config;
  kept(): readonly Kept[];
}

/** Deletes Remediations that nobody needs any more, only if they are unchanged since that was decided. */
export function createRetention({ api, log, current, kept }: RetentionDeps): (nowMs: number) => Promise<void> {
  return async (nowMs) => {
    const gone: string[] = [];
    for (const { namespace, name, uid, resourceVersion } of overdue(kept(), current().retention, nowMs).slice(
      0,
      mostAtOnce,
    )) {
      const preconditions = { uid, ...(resourceVersion && { resourceVersion }) };
      try {
        await api.delete({ kind: 'Remediation', namespace: namespace!, name }, preconditions);
        gone.push(`${namespace}/${name}`);
      } catch (error) {
        if (isNotFound(error) || isConflict(error)) continue; // already gone, or changed: the watch reports it
        log[levelOf(error)](
          { namespace, name, error: messageOf(error) },
          'finished Remediations not deleted, trying again',
        );
        break;
      }
    }
    if (gone.length > 0) log.info({ count: gone.length, fixes: gone.slice(0, 20) }, 'finished Remediations deleted');
  };
}
