import type { DeploymentObject, ReplicaSetObject } from '../common/shapes.ts';
import { millis } from '../common/status-writing.ts';

/** How many pods a rolling update may have too many or too few. */
interface RolloutBounds {
  surge: number;
  unavailable: number;
}

const scaled = (value: number | string | undefined, of: number, round: (n: number) => number): number =>
  typeof value === 'string' && value.endsWith('%') ? round((Number.parseFloat(value) * of) / 100) : Number(value ?? 0);

export const isRolling = ({ spec }: DeploymentObject): boolean => spec?.strategy?.type !== 'Recreate';

export const wantedBy = ({ spec }: DeploymentObject): number => spec?.replicas ?? 1;

/** Both default to a quarter. Surge is rounded up, unavailable down; if both are zero, one pod may be unavailable so that the update can move. */
export function rolloutBounds(deployment: DeploymentObject): RolloutBounds {
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

/** New sizes by name, only of those that change. */
export type ReplicaSizes = Record<string, number>;

/** How large the new ReplicaSet may be while the old ones still have pods. */
export function roomForNew(deployment: DeploymentObject, newSize: number, old: readonly ReplicaSetObject[]): number {
  const desired = wantedBy(deployment);
  if (!isRolling(deployment)) return desired;
  const free = desired + rolloutBounds(deployment).surge - (sum(old, sizeOf) + newSize);
  return free <= 0 ? newSize : newSize + Math.min(free, desired - newSize);
}

/** One step of a rolling update: the new ReplicaSet grows, or if it cannot, the old ones shrink. */
export function rollingStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject,
  old: readonly ReplicaSetObject[],
): ReplicaSizes {
  const desired = wantedBy(deployment);
  const size = sizeOf(fresh);
  const next = size > desired ? desired : roomForNew(deployment, size, old);
  return next === size ? shrinkOld(deployment, fresh, old) : { [fresh.metadata.name]: next };
}

/** Unhealthy pods go first because they serve nobody; then as many as availability allows, the oldest ReplicaSet first. */
function shrinkOld(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject,
  old: readonly ReplicaSetObject[],
): ReplicaSizes {
  const minAvailable = wantedBy(deployment) - rolloutBounds(deployment).unavailable;
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

const changed = (sizes: ReadonlyMap<ReplicaSetObject, number>): ReplicaSizes =>
  Object.fromEntries(
    [...sizes].filter(([set, size]) => size !== sizeOf(set)).map(([set, size]) => [set.metadata.name, size]),
  );

/** One step of Recreate: the old ReplicaSets go to zero, and the new one grows when no old pod is left. */
export function recreateStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
  oldPodsLeft: boolean,
): ReplicaSizes {
  const going = old.filter((set) => sizeOf(set) > 0);
  if (going.length > 0) return Object.fromEntries(going.map(({ metadata }) => [metadata.name, 0]));
  if (oldPodsLeft || !fresh || sizeOf(fresh) === wantedBy(deployment)) return {};
  return { [fresh.metadata.name]: wantedBy(deployment) };
}

export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

const desiredThen = ({ metadata }: ReplicaSetObject): number | undefined => {
  const text = metadata.annotations?.[desiredAnnotation];
  return text === undefined ? undefined : Number(text);
};

/** Whether somebody scaled the Deployment after its ReplicaSets were last sized. Their annotation holds the earlier number. */
export const wasScaled = (deployment: DeploymentObject, sets: readonly ReplicaSetObject[]): boolean =>
  sets.some((set) => sizeOf(set) > 0 && (desiredThen(set) ?? wantedBy(deployment)) !== wantedBy(deployment));

/**
 * Scales in the middle of a rollout, or while paused. A single ReplicaSet with pods takes all of it; several share it in
 * proportion, so that scaling up does not speed up a bad rollout.
 */
export function scaleStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
): ReplicaSizes {
  const desired = wantedBy(deployment);
  const all = [...old, ...(fresh ? [fresh] : [])];
  const living = all.filter((set) => sizeOf(set) > 0);
  const only = living.length > 1 ? undefined : (living[0] ?? fresh ?? oldestFirst(old).at(-1));
  if (living.length <= 1) return only && sizeOf(only) !== desired ? { [only.metadata.name]: desired } : {};
  if (fresh && isSaturated(deployment, fresh)) return toZero(old.filter((set) => sizeOf(set) > 0));
  return isRolling(deployment) ? proportional(deployment, living) : {};
}

const toZero = (sets: readonly ReplicaSetObject[]): ReplicaSizes =>
  Object.fromEntries(sets.map(({ metadata }) => [metadata.name, 0]));

const isSaturated = (deployment: DeploymentObject, set: ReplicaSetObject): boolean =>
  [sizeOf(set), desiredThen(set), availableOf(set)].every((count) => count === wantedBy(deployment));

function proportional(deployment: DeploymentObject, living: readonly ReplicaSetObject[]): ReplicaSizes {
  const desired = wantedBy(deployment);
  const allowed = desired === 0 ? 0 : desired + rolloutBounds(deployment).surge;
  const toAdd = allowed - sum(living, sizeOf);
  const byAge = oldestFirst(living);
  if (toAdd > 0) byAge.reverse();
  const largestFirst = byAge.sort((a, b) => sizeOf(b) - sizeOf(a));
  let added = 0;
  const sizes = largestFirst.map((set) => {
    const share = shareOf(set, allowed, toAdd, added);
    added += share;
    return [set.metadata.name, sizeOf(set) + share] as const;
  });
  const [largest] = largestFirst;
  const result = Object.fromEntries(sizes);
  if (largest) result[largest.metadata.name] = Math.max(0, result[largest.metadata.name]! + toAdd - added);
  return result;
}

/** How many pods this ReplicaSet gains or loses if it keeps its share of the total. */
function shareOf(set: ReplicaSetObject, allowed: number, toAdd: number, added: number): number {
  if (toAdd === 0 || sizeOf(set) === 0) return 0;
  const maxThen = Number(set.metadata.annotations?.[maxAnnotation]) || allowed;
  const share = Math.round((sizeOf(set) * allowed) / maxThen) - sizeOf(set);
  const remaining = toAdd - added;
  return toAdd > 0 ? Math.min(Math.max(share, 0), remaining) : Math.max(Math.min(share, 0), remaining);
}
