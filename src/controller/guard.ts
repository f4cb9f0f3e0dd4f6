import type { Refusal } from '../actions/action.ts';
import { isProtected } from '../actions/ownership.ts';
import type { Config } from '../config/schema.ts';
import { isSelected } from '../config/selection.ts';
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
