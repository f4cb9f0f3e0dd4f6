import { isShort } from '../health/refusals.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import type { Blocked } from '../kube/remediation.ts';
import { isKnownKind, type Kind } from '../kube/resources.ts';
import { isInTheWay } from './rollout.ts';
import { type Hand, evict } from './perform.ts';

export const nudgeAnnotation = 'tapfix.dev/nudge';

/**
 * A controller whose pods were refused backs off for up to 16 minutes; any update of the owner makes it retry at once.
 * The uid in the body is the precondition: a later owner of the same name is refused. A pod that a StatefulSet waits
 * for is evicted instead.
 */
export async function nudge(
  writer: Hand,
  namespace: string,
  owner: Blocked,
  mark: string,
  dryRun = false,
): Promise<void> {
  const ref = { kind: owner.kind as Kind, namespace, name: owner.name };
  if (owner.kind === 'Pod') return evict(writer, ref, { uid: owner.uid }, dryRun);
  const body = { metadata: { uid: owner.uid, annotations: { [nudgeAnnotation]: mark } } };
  await writer.patch(ref, 'merge', body, { dryRun });
}

/** A CronJob retries by itself, at its next scheduled time. */
export const canBeNudged = ({ kind }: Blocked): boolean => kind !== 'CronJob';

/** Owners that still exist and still have fewer pods than they want, and pods that are still in the way. */
export async function stillShort(reader: Reader, namespace: string, owners: readonly Blocked[]): Promise<Blocked[]> {
  const short: Blocked[] = [];
  await inBatches(owners.filter(canBeNudged), async (owner) => {
    if (!isKnownKind(owner.kind)) return;
    const live = await reader.get({ kind: owner.kind, namespace, name: owner.name });
    const waits = (object: KubeObject): boolean =>
      owner.kind === 'Pod' ? isInTheWay(object) : isShort(owner.kind, object);
    if (live?.metadata.uid === owner.uid && waits(live)) short.push(owner);
  });
  return short;
}

const batch = 10;

export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < items.length; i += batch) await Promise.all(items.slice(i, i + batch).map(work));
}
