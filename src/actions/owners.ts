import type { KubeObject, Reader } from '../kube/api.ts';
import { controllerOf } from '../kube/raw.ts';
import { isKnownKind, qualifiedKind } from '../kube/resources.ts';

export interface Owner {
  kind: string;
  name: string;
  uid: string;
  /** Absent when it is gone, or of a kind that nobody here can read. */
  live?: KubeObject;
}

const longestChain = 6;

/** Who controls it, who controls that, and so on: as far as the references lead. */
export async function readOwners(reader: Reader, namespace: string, object: KubeObject): Promise<Owner[]> {
  const owners: Owner[] = [];
  let next = controllerOf(object.metadata);
  while (next && owners.length < longestChain) {
    const { name, uid } = next;
    const kind = qualifiedKind(next.kind, next.apiVersion);
    const found = isKnownKind(kind) ? await reader.get<KubeObject>({ kind, namespace, name }) : undefined;
    const live = found?.metadata.uid === uid ? found : undefined;
    owners.push({ kind, name, uid, ...(live && { live }) });
    next = live && controllerOf(live.metadata);
  }
  return owners;
}
