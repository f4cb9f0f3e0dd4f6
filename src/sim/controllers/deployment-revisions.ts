import { createHash } from 'node:crypto';
import { canonical } from '../../lib/hash.ts';
import { controllerRef } from '../common/pod-facts.ts';
import type { DeploymentObject, ReplicaSetObject, Template } from '../common/shapes.ts';
import { desiredAnnotation, maxAnnotation, oldestFirst, rolloutBounds, roomForNew, wantedBy } from './replica-sizes.ts';

export const revisionAnnotation = 'deployment.kubernetes.io/revision';
const historyAnnotation = 'deployment.kubernetes.io/revision-history';

/** These annotations belong to one object; all others are copied from the Deployment to its newest ReplicaSet. */
const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
  'deprecated.deployment.rollback.to',
]);

const revisionOf = ({ metadata }: ReplicaSetObject): number => Number(metadata.annotations?.[revisionAnnotation]) || 0;

/** The ReplicaSet of the Deployment's current template, and all others. */
export function sorted(deployment: DeploymentObject, sets: readonly ReplicaSetObject[]) {
  const fresh = oldestFirst(sets).find((set) => sameTemplate(set.spec?.template, deployment.spec?.template));
  return { fresh, old: sets.filter((set) => set !== fresh) };
}

const nextRevision = (old: readonly ReplicaSetObject[]): number => Math.max(0, ...old.map(revisionOf)) + 1;

const copied = ({ metadata }: DeploymentObject): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key)));

export const sizeAnnotations = (deployment: DeploymentObject): Record<string, string> => ({
  [desiredAnnotation]: String(wantedBy(deployment)),
  [maxAnnotation]: String(wantedBy(deployment) + rolloutBounds(deployment).surge),
});

/** The annotations that the newest ReplicaSet lacks. A ReplicaSet that is used again becomes the newest revision and keeps its old number in the history. */
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

/** The old revisions beyond the limit, the oldest first, but never one that has or may have pods. */
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

/** The letters of generated names. There are no vowels and no 0, 1 or 3, so that a name never forms a word. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Writes a 32-bit hash as Kubernetes does: up to ten decimal digits, each as a letter of the alphabet. */
export function shortHash(value: unknown): string {
  const number = createHash('sha256').update(canonical(value)).digest().readUInt32BE(0);
  return [...String(number)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

const hashLabel = 'pod-template-hash';

/** The template without the hash label that a ReplicaSet adds. */
function withoutHash(template: Template = {}): Template {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

export const sameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  canonical(plain(withoutHash(a))) === canonical(plain(withoutHash(b)));

/** Removes empty fields, because Kubernetes treats them as missing; the API server also writes a null creationTimestamp into templates. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!value || typeof value !== 'object') return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)] as const)
    .filter(([, inner]) => inner !== null && inner !== undefined && !isEmpty(inner));
  return Object.fromEntries(kept);
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value as object).length === 0;

/** Cuts the name so that it fits with its suffix; a label has at most 63 characters. */
export const cutName = (name: string, suffix: string, most = 63): string =>
  `${name.slice(0, most - suffix.length - 1)}-${suffix}`;
