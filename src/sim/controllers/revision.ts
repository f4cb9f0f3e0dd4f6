import { controllerRef } from '../common/pods.ts';
import { cutName, hashLabel, sameTemplate, shortHash, withoutHash } from '../common/names.ts';
import type { DeploymentObject, ReplicaSetObject } from '../common/shapes.ts';
import { fencesOf, oldestFirst, roomForNew, wantedBy } from './rollout.ts';
import { desiredAnnotation, maxAnnotation } from './scaling.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';

/** Annotations that are each object's own; all others are copied from the Deployment to its newest ReplicaSet. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
]);

export const revisionOf = ({ metadata }: ReplicaSetObject): number =>
  Number(metadata.annotations?.[revisionAnnotation]) || 0;

/** The ReplicaSet of the Deployment's present template, and all others. */
export function sorted(deployment: DeploymentObject, sets: readonly ReplicaSetObject[]) {
  const fresh = oldestFirst(sets).find((set) => sameTemplate(set.spec?.template, deployment.spec?.template));
  return { fresh, old: sets.filter((set) => set !== fresh) };
}

const nextRevision = (old: readonly ReplicaSetObject[]): number => Math.max(0, ...old.map(revisionOf)) + 1;

const copied = ({ metadata }: DeploymentObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key)));

export const sizeAnnotations = (deployment: DeploymentObject): Record<string, string> => ({
  [desiredAnnotation]: String(wantedBy(deployment)),
  [maxAnnotation]: String(wantedBy(deployment) + fencesOf(deployment).surge),
});

/** What the newest ReplicaSet's annotations lack. One that is taken up again becomes the newest revision and remembers what it was. */
export function annotationsToAdd(
  deployment: DeploymentObject,
  fresh: ReplicaSetObject,
  old: readonly ReplicaSetObject[],
): Record<string, string> {
  const now = fresh.metadata.annotations ?? {};
  const wanted: Record<string, string> = copied(deployment);
  const [was, next] = [now[revisionAnnotation], nextRevision(old)];
  if (revisionOf(fresh) < next) {
    wanted[revisionAnnotation] = String(next);
    if (was !== undefined) wanted[historyAnnotation] = [now[historyAnnotation], was].filter(Boolean).join(',');
  }
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => now[key] !== value));
}

export function newReplicaSet(deployment: DeploymentObject, old: readonly ReplicaSetObject[]) {
  const { name, uid } = deployment.metadata;
  const { template = {}, selector, minReadySeconds } = deployment.spec ?? {};
  const hash = shortHash(withoutHash(template));
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  return {
    metadata: {
      name: cutName(name, hash, 253),
      labels,
      annotations: {
        ...copied(deployment),
        ...sizeAnnotations(deployment),
        [revisionAnnotation]: String(nextRevision(old)),
      },
      ownerReferences: [controllerRef('apps/v1', 'Deployment', name, uid)],
    },
    spec: {
      replicas: roomForNew(deployment, 0, old),
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

/** Old revisions beyond the limit, the oldest first; never one that still has, or may have, pods. */
export function outdated({ spec }: DeploymentObject, old: readonly ReplicaSetObject[]): ReplicaSetObject[] {
  const living = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  const tooMany = living.length - (spec?.revisionHistoryLimit ?? 10);
  return living
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(tooMany, 0))
    .filter(({ spec, status, metadata }) => {
      const hasSeenAll = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
      return spec?.replicas === 0 && (status?.replicas ?? 0) === 0 && hasSeenAll;
    });
}
