import type { Api, KubeObject } from '../../kube/api.ts';
import type { Kind, Ref } from '../../kube/resources.ts';
import { sameValue } from '../../lib/hash.ts';

export const refOf = (kind: Kind, { metadata: { name, namespace } }: KubeObject, subresource?: string): Ref => ({
  kind,
  name,
  ...(namespace && { namespace }),
  ...(subresource && { subresource }),
});

/** Counts of zero are left out, as Kubernetes' own types do. */
export const nonZero = <T extends Record<string, number>>(counts: T): Partial<T> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)) as Partial<T>;

/** Writes the status whole: what is no longer in it is removed. Nothing is written when it is already there. */
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
