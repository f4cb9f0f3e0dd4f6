import type { DeploymentObject, ReplicaSetObject } from '../common/shapes.ts';
import { millis } from '../common/stamp.ts';

/** How far a rolling update may go, in pods. */
export interface Fences {
  surge: number;
  unavailable: number;
}

const scaled = (value: number | string | undefined, of: number, round: (n: number) => number): number =>
  typeof value === 'string' && value.endsWith('%') ? round((Number.parseFloat(value) * of) / 100) : Number(value ?? 0);

export const isRolling = ({ spec }: DeploymentObject): boolean => spec?.strategy?.type !== 'Recreate';

export const wantedBy = ({ spec }: DeploymentObject): number => spec?.replicas ?? 1;

/** A quarter each way unless said otherwise; surge is rounded up, the rest down; both zero would be a standstill. */
export function fencesOf(deployment: DeploymentObject): Fences {
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 };
  const desired = wantedBy(deployment);
  const { maxSurge = '25%', maxUnavailable = '25%' } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const surge = scaled(maxSurge, desired, Math.ceil);
  const unavailable = Math.min(scaled(maxUnavailable, desired, Math.floor), desired);
  return { surge, unavailable: surge === 0 && unavailable === 0 ? Math.min(1, desired) : unavailable };
}

export const sizeOf = ({ spec }: ReplicaSetObject): number => spec?.replicas ?? 1;
export const availableOf = ({ status }: ReplicaSetObject): number => status?.availableReplicas ?? 0;
export const sum = (sets: readonly ReplicaSetObject[], count: (set: ReplicaSetObject) => number): number =>
  sets.reduce((total, set) => total + count(set), 0);

export const oldestFirst = (sets: readonly ReplicaSetObject[]): ReplicaSetObject[] =>
  [...sets].sort(
    (a, b) =>
      millis(a.metadata.creationTimestamp) - millis(b.metadata.creationTimestamp) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );

/** New sizes by name; only those that change. */
export type Sizes = Record<string, number>;

/** How large a new ReplicaSet may be beside the old ones. */
export function roomForNew(deployment: DeploymentObject, newSize: number, old: readonly ReplicaSetObject[]): number {
  const desired = wantedBy(deployment);
  if (!isRolling(deployment)) return desired;
  const free = desired + fencesOf(deployment).surge - (sum(old, sizeOf) + newSize);
  return free <= 0 ? newSize : newSize + Math.min(free, desired - newSize);
}

/** One step of a rolling update: first the new one grows, and only when it cannot, the old ones shrink. */
export function rollingStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject,
  old: readonly ReplicaSetObject[],
): Sizes {
  const desired = wantedBy(deployment);
  const size = sizeOf(fresh);
  const next = size > desired ? desired : roomForNew(deployment, size, old);
  return next === size ? shrinkOld(deployment, fresh, old) : { [fresh.metadata.name]: next };
}

/** Unhealthy pods go first, since that costs nothing; then as many as availability allows, the oldest ReplicaSet first. */
function shrinkOld(deployment: DeploymentObject, fresh: ReplicaSetObject, old: readonly ReplicaSetObject[]): Sizes {
  const minAvailable = wantedBy(deployment) - fencesOf(deployment).unavailable;
  const sizes = new Map(oldestFirst(old).map((set) => [set, sizeOf(set)]));
  const all = [...old, fresh];
  const notYetThere = sizeOf(fresh) - availableOf(fresh);
  let mayGo = sum(all, sizeOf) - minAvailable - notYetThere;
  if (mayGo <= 0 || sum(old, sizeOf) === 0) return {};
  for (const [set, size] of sizes) {
    const unhealthy = Math.min(mayGo, Math.max(size - availableOf(set), 0));
    sizes.set(set, size - unhealthy);
    mayGo -= unhealthy;
  }
  let spare = sum(all, availableOf) - minAvailable;
  for (const [set, size] of sizes) {
    const going = Math.min(size, Math.max(spare, 0));
    sizes.set(set, size - going);
    spare -= going;
  }
  return changed(sizes);
}

const changed = (sizes: ReadonlyMap<ReplicaSetObject, number>): Sizes =>
  Object.fromEntries(
    [...sizes].filter(([set, size]) => size !== sizeOf(set)).map(([set, size]) => [set.metadata.name, size]),
  );

/** One step of Recreate: everything old goes; the new one comes when no old pod is left. */
export function recreateStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
  oldPodsLeft: boolean,
): Sizes {
  const going = old.filter((set) => sizeOf(set) > 0);
  if (going.length > 0) return Object.fromEntries(going.map(({ metadata }) => [metadata.name, 0]));
  if (oldPodsLeft || !fresh || sizeOf(fresh) === wantedBy(deployment)) return {};
  return { [fresh.metadata.name]: wantedBy(deployment) };
}
