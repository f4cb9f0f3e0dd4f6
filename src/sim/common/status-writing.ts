import type { Api, KubeObject } from '../../kube/api.ts';
import type { Kind, Ref } from '../../kube/resources.ts';
import { sameValue } from '../../lib/hash.ts';
import type { StatusCondition } from './shapes.ts';

/** Kubernetes writes most times with whole seconds. */
export const stamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** The newer kind of events has times with microseconds. */
export const microStamp = (ms: number): string => new Date(ms).toISOString().replace(/Z$/, '000Z');

/** NaN when there is no time. */
export const millis = (text: string | null | undefined): number => (text ? Date.parse(text) : Number.NaN);

export const conditionOf = (
  conditions: readonly StatusCondition[] | undefined,
  type: string,
): StatusCondition | undefined => conditions?.find((condition) => condition.type === type);

export const without = (conditions: readonly StatusCondition[] | undefined, type: string): StatusCondition[] =>
  (conditions ?? []).filter((condition) => condition.type !== type);

/** Sets a condition as the workload controllers do: it stays unchanged with the same status and reason, and a new status is a transition. */
export function withCondition(
  conditions: readonly StatusCondition[] | undefined,
  next: Omit<StatusCondition, 'lastTransitionTime'>,
  nowMs: number,
): StatusCondition[] {
  const now = conditionOf(conditions, next.type);
  if (now?.status === next.status && now.reason === next.reason) return [...(conditions ?? [])];
  const since = now?.status === next.status ? now.lastTransitionTime : undefined;
  return [...without(conditions, next.type), { ...next, lastTransitionTime: since ?? stamp(nowMs) }];
}

export const refOf = (kind: Kind, { metadata: { name, namespace } }: KubeObject, subresource?: string): Ref => ({
  kind,
  name,
  ...(namespace && { namespace }),
  ...(subresource && { subresource }),
});

/** Leaves out zero counts, as Kubernetes' own types do. */
export const nonZero = <T extends Record<string, number>>(counts: T): Partial<T> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)) as Partial<T>;

/** Replaces the whole status, unless it is already the same. */
export async function writeStatus<T extends KubeObject & { status?: object }>(
  api: Api,
  kind: Kind,
  object: T,
  next: object,
): Promise<void> {
  const before = object.status ?? {};
  if (sameValue(before, next)) return;
  const gone = Object.fromEntries(Object.keys(before).map((key) => [key, null]));
  await api.patch(refOf(kind, object, 'status'), 'merge', { status: { ...gone, ...next } });
}
