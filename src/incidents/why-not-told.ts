import { type Api, isForbidden, type KubeObject, unlessForbidden } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import { SignalOutcome } from '../signals/signal.ts';
import type { Root } from './owner.ts';

export const ignoreAnnotation = 'tapfix.dev/ignore';
const hasIgnore = (object: KubeObject | null | undefined): boolean =>
  object?.metadata.annotations?.[ignoreAnnotation] === 'true';

/** With rights in a few namespaces only, the namespace itself may not be readable: then its annotations say nothing. */
const unknownIfForbidden = (error: unknown): null => {
  if (isForbidden(error)) return null;
  throw error;
};

async function everyOne<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) if (!(await holds(item))) return false;
  return true;
}

/** What only the live objects say against telling anybody; undefined: nothing. */
export async function whyNotTold(
  api: Pick<Api, 'get'>,
  { namespace, object, affected }: { namespace: string; object: Root; affected: readonly string[] },
): Promise<SignalOutcome | undefined> {
  const space = await readNamespace(api, namespace);
  if (space === undefined || space?.metadata.deletionTimestamp) return SignalOutcome.namespaceTerminating;
  const isIgnored =
    hasIgnore(space) ||
    (await isIgnoredByItself(api, namespace, `${object.kind}/${object.name}`)) ||
    (affected.length > 0 && (await everyOne(affected, (workload) => isIgnoredByItself(api, namespace, workload))));
  return isIgnored ? SignalOutcome.ignoredByAnnotation : undefined;
}

const readNamespace = (api: Pick<Api, 'get'>, name: string): Promise<KubeObject | null | undefined> =>
  api.get<KubeObject>({ kind: 'Namespace', name }).catch(unknownIfForbidden);

/** "Deployment/api", or of a cause that has no namespace of its own "shop/Deployment/api". */
async function isIgnoredByItself(api: Pick<Api, 'get'>, own: string, workload: string): Promise<boolean> {
  const parts = workload.split('/');
  const [kind = '', name = ''] = parts.slice(-2);
  const namespace = parts.length > 2 ? parts[0]! : own;
  if (namespace !== own && hasIgnore(await readNamespace(api, namespace))) return true;
  return isKnownKind(kind) && hasIgnore(await api.get<KubeObject>({ kind, namespace, name }).catch(unlessForbidden));
}
