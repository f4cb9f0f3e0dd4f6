import { matchesAny } from '../lib/glob.ts';
import { isAlwaysOut } from '../lib/namespaces.ts';
import type { Config } from './schema.ts';

/** Exclude wins. A namespace that is always out is selected only when named literally (and is then notify-only). */
export function isSelected({ namespaces }: Config, namespace: string, ownNamespace: string): boolean {
  if (matchesAny(namespaces.exclude, namespace)) return false;
  if (isAlwaysOut(namespace, ownNamespace)) return namespaces.include.includes(namespace);
  return matchesAny(namespaces.include, namespace);
}

/**
 * Whether incidents of this namespace are ours to record, to post and to act on. Our own namespace holds the incidents of
 * cluster-scoped objects.
 */
export const isWatched = (config: Config, namespace: string, ownNamespace: string): boolean =>
  namespace === ownNamespace || isSelected(config, namespace, ownNamespace);
