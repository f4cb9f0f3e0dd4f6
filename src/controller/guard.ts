import type { Refusal } from '../actions/action.ts';
import { isProtected } from '../actions/ownership.ts';
import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { isForbidden } from '../kube/api.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';

export interface Place {
  namespace: string;
  /** tapfix's own namespace. */
  own: string;
  labels?: Record<string, string>;
}

/** Pure: why nothing may be changed in this namespace; undefined when it may. */
export function guard({ namespace, own, labels }: Place, config: Config): Refusal | undefined {
  if (isAlwaysOut(namespace, own) || isProtected({ labels: labels ?? {} })) {
    return no(
      'ProtectedNamespace',
      `Namespace ${namespace} is protected: tapfix only tells, it changes nothing there.`,
    );
  }
  if (!isSelected(config, namespace, own)) {
    return no('NotWatched', `Namespace ${namespace} is not among those that tapfix is configured for.`);
  }
  return undefined;
}

const no = (reason: string, say: string): Refusal => ({ ok: false, reason, say });

/** Without the right to read it we go on: the API server refuses a write to a protected namespace anyway. */
export async function readNamespaceLabels(reader: Reader, name: string): Promise<Record<string, string>> {
  try {
    return (await reader.get<KubeObject>({ kind: 'Namespace', name }))?.metadata.labels ?? {};
  } catch (error) {
    if (isForbidden(error)) return {};
    throw error;
  }
}
