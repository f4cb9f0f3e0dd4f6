import type { DeploymentObject, ReplicaSetObject } from '../common/shapes.ts';
import { availableOf, fencesOf, isRolling, oldestFirst, sizeOf, type Sizes, sum, wantedBy } from './rollout.ts';

export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';

const desiredThen = ({ metadata }: ReplicaSetObject): number | undefined => {
  const text = metadata.annotations?.[desiredAnnotation];
  return text === undefined ? undefined : Number(text);
};

/** Somebody scaled the Deployment since its ReplicaSets were last sized: their annotation remembers what it wanted then. */
export const wasScaled = (deployment: DeploymentObject, sets: readonly ReplicaSetObject[]): boolean =>
  sets.some((set) => sizeOf(set) > 0 && (desiredThen(set) ?? wantedBy(deployment)) !== wantedBy(deployment));

/**
 * Scaling in the middle of a rollout, or while paused: a single living ReplicaSet takes it all; several share it in
 * proportion, so that a scale-up does not hasten a bad rollout.
 */
export function scaleStep(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject | undefined,
  old: readonly ReplicaSetObject[],
): Sizes {
  const desired = wantedBy(deployment);
  const all = [...old, ...(fresh ? [fresh] : [])];
  const living = all.filter((set) => sizeOf(set) > 0);
  const only = living.length > 1 ? undefined : (living[0] ?? fresh ?? oldestFirst(old).at(-1));
  if (living.length <= 1) return only && sizeOf(only) !== desired ? { [only.metadata.name]: desired } : {};
  if (fresh && isSaturated(deployment, fresh)) return toZero(old.filter((set) => sizeOf(set) > 0));
  return isRolling(deployment) ? proportional(deployment, living) : {};
}

const toZero = (sets: readonly ReplicaSetObject[]): Sizes =>
  Object.fromEntries(sets.map(({ metadata }) => [metadata.name, 0]));

const isSaturated = (deployment: DeploymentObject, set: ReplicaSetObject): boolean =>
  [sizeOf(set), desiredThen(set), availableOf(set)].every((count) => count === wantedBy(deployment));

function proportional(deployment: DeploymentObject, living: readonly ReplicaSetObject[]): Sizes {
  const desired = wantedBy(deployment);
  const allowed = desired === 0 ? 0 : desired + fencesOf(deployment).surge;
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

/** What this ReplicaSet would have of the new total if it kept its part of the total it was sized for. */
function shareOf(set: ReplicaSetObject, allowed: number, toAdd: number, added: number): number {
  if (toAdd === 0 || sizeOf(set) === 0) return 0;
  const maxThen = Number(set.metadata.annotations?.[maxAnnotation]) || allowed;
  const share = Math.round((sizeOf(set) * allowed) / maxThen) - sizeOf(set);
  const left = toAdd - added;
  return toAdd > 0 ? Math.min(Math.max(share, 0), left) : Math.max(Math.min(share, 0), left);
}
