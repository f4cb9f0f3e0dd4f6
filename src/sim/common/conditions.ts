import type { Condition } from './shapes.ts';
import { stamp } from './stamp.ts';

export const conditionOf = (conditions: readonly Condition[] | undefined, type: string): Condition | undefined =>
  conditions?.find((condition) => condition.type === type);

export const without = (conditions: readonly Condition[] | undefined, type: string): Condition[] =>
  (conditions ?? []).filter((condition) => condition.type !== type);

/** Sets it as the workload controllers do: the same status and reason leave it as it is, a new status is a transition. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  next: Omit<Condition, 'lastTransitionTime'>,
  nowMs: number,
): Condition[] {
  const now = conditionOf(conditions, next.type);
  if (now?.status === next.status && now.reason === next.reason) return [...(conditions ?? [])];
  const since = now?.status === next.status ? now.lastTransitionTime : undefined;
  return [...without(conditions, next.type), { ...next, lastTransitionTime: since ?? stamp(nowMs) }];
}
