import { no, type ActionPlan, type Prepared, type ActionRefusal } from '../actions/action.ts';
import { ApiError, hasCode } from '../kube/api.ts';
import type { Clock } from '../lib/clock.ts';
import { messageOf, RetryLater } from '../lib/errors.ts';
import { canonical } from '../lib/hash.ts';
import { type Hand, perform, isOverBudget } from '../actions/perform.ts';

/** No clear answer, or one that means "later". Only the next reading of the target shows whether it was done. */
export const isUnclear = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.code >= 500 || ([401, 408, 429].includes(error.code) && !isOverBudget(error));

/** Why the API server refused it, in its own words. */
export const refusedBy = (error: unknown, what: string): ActionRefusal =>
  isOverBudget(error)
    ? no('BudgetExhausted', `a disruption budget does not let the pod go now: ${messageOf(error)}`)
    : no('Refused', `the API server refused ${what}: ${messageOf(error)}`);

/** The precondition did not hold: nothing was changed, and the target must be read again. */
export const hasMoved = (error: unknown): boolean => [404, 409, 422].some((code) => hasCode(error, code));

const mostTries = 5;
const pauseMs = 200;
/** In a busy namespace the status changes all the time, so that does not lead to a final verdict. */
const busyMs = 2_000;

export interface Sending {
  hand: Hand;
  clock: Clock;
  dryRun: boolean;
  /** Reads the target and plans the write with the resourceVersion of that reading. */
  prepare(): Promise<Prepared>;
  /** Why a plan made from a fresh reading is no longer the one that was approved. */
  object(plan: ActionPlan): ActionRefusal | undefined;
}

/**
 * Reads, plans and writes, and does so again when the target changed in between (its status does, all the time).
 * Rehearsal and execution both use this. Throws when the answer is unclear, or the target keeps changing.
 */
export async function send({ hand, clock, dryRun, prepare, object }: Sending): Promise<Prepared> {
  let refused = '';
  for (let tries = 0; tries < mostTries; tries++) {
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const objection = object(prepared);
    if (objection) return objection;
    try {
      await perform(hand, prepared.write, dryRun);
      return prepared;
    } catch (error) {
      if (isUnclear(error)) throw error;
      const write = canonical(prepared.write);
      // If the very same request is refused twice, it is no race: the server does not want it.
      if (!hasMoved(error) || write === refused) return refusedBy(error, 'it');
      refused = write;
      await clock.sleep(pauseMs);
    }
  }
  throw new RetryLater('the target keeps changing', busyMs);
}
