import type { ActionRefusal } from '../actions/action.ts';
import { stillShort } from '../actions/nudge.ts';
import type { ParsedAction } from '../actions/table.ts';
import type { Remediation } from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { RetryLater } from '../lib/errors.ts';
import { contextOf, type Deps, type Lock } from './context.ts';
import { interrupted } from './decide.ts';
import { nudgeUntilPodsAppear } from './nudging.ts';
import type { WithRights } from './rights.ts';
import { readRivals, whoGoesFirst } from './rivals.ts';
import { send } from './send.ts';
import { condition, readAgain, type StatusChange } from './write-status.ts';
import { type Hand } from '../actions/perform.ts';

const givingWayMs = 1_000;

export interface Executor {
  /** Performs the fix that Applying announced. undefined if it is no longer ours to do. */
  act(fix: Remediation, parsed: ParsedAction): Promise<StatusChange | undefined>;
  /** The fix is in place: nudges the waiting owners, if that is still worth it. */
  finish(fix: Remediation, parsed: ParsedAction, nudge: boolean): Promise<StatusChange | undefined>;
}

export function createExecutor(deps: Deps & { lock: Lock; withRights: WithRights }): Executor {
  const { api, clock, log, lock, withRights } = deps;

  async function nudge(fix: Remediation, hand: Hand): Promise<void> {
    const blocked = fix.status?.execution?.blocked ?? [];
    await nudgeUntilPodsAppear({ hand, reader: api, clock, log }, { ...contextOf(fix, api), blocked });
  }

  async function applied(fix: Remediation, { action, params }: ParsedAction, atMs: number): Promise<StatusChange> {
    const after = await action.snapshot(params, contextOf(fix, api));
    return {
      phase: 'Applied',
      conditions: [condition('Applied', true, 'Applied', `${action.noun} applied, watching`)],
      execution: { appliedAt: iso(atMs), after },
    };
  }

  async function write(
    fix: Remediation,
    { action, params }: ParsedAction,
    hand: Hand,
  ): Promise<ActionRefusal | undefined> {
    const context = contextOf(fix, api, clock.now());
    const sent = await send({
      hand,
      clock,
      dryRun: false,
      prepare: () => action.prepare(params, context),
      // Applying was entered with the hash that was shown: a plan with another hash is not what was approved.
      object: ({ targetHash }) => (targetHash === fix.status?.preview?.targetHash ? undefined : changed),
    });
    if (sent.ok) return undefined;
    const trace = await action.inspect(params, fix.status?.execution?.before ?? '{}', context);
    if (trace === 'ours') return undefined; // an earlier try, or the other process, did succeed
    return trace === 'other' ? changed : sent;
  }

  /** Runs under the lock, and only if the record is still in the same phase. */
  const withFresh = <T>(fix: Remediation, work: (fresh: Remediation) => Promise<T>): Promise<T | undefined> =>
    lock(async () => {
      const fresh = await readAgain(api, fix);
      return fresh && work(fresh);
    });

  return {
    act: (fix, parsed) =>
      withFresh(fix, async (fresh) => {
        const turn = whoGoesFirst(fresh, await readRivals(api, fresh, parsed));
        if (turn === 'wait') throw new RetryLater('another fix of the same target is about to end', givingWayMs);
        if (turn !== 'go') return failure(turn);
        return withRights(fresh, parsed.action.role, async (hand) => {
          const refusal = await write(fresh, parsed, hand);
          if (refusal) return failure(refusal);
          const atMs = clock.now();
          await nudge(fresh, hand);
          return applied(fresh, parsed, atMs);
        });
      }),
    finish: (fix, parsed, isWorthIt) =>
      withFresh(fix, async (fresh) => {
        const atMs = clock.now();
        const blocked = isWorthIt ? (fresh.status?.execution?.blocked ?? []) : [];
        const waiting = await stillShort(api, contextOf(fresh, api).namespace, blocked);
        if (waiting.length > 0) await withRights(fresh, parsed.action.role, (hand) => nudge(fresh, hand));
        return applied(fresh, parsed, atMs);
      }),
  };
}

const changed: ActionRefusal = { ok: false, reason: 'Interrupted', say: interrupted };

const failure = ({ reason, say }: ActionRefusal): StatusChange => ({
  phase: 'Failed',
  conditions: [condition('Failed', true, reason, say)],
});
