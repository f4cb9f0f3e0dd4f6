import { isSelected } from '../../config/selection.ts';
import { inWords } from '../../diagnosis/changed.ts';
import { podsOnInWords, readNode } from '../../diagnosis/node.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import type { Case } from '../scene.ts';

export async function nodeDownCase({ namespace, object }: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const node = await readNode(deps.reader, object);
  if (!node) return undefined;
  // Other people take care of namespaces that are not watched. Incidents of nodes are kept in tapfix's own namespace.
  const pods = node.pods?.filter((pod) => isSelected(deps.config, pod.namespace, namespace)) ?? [];
  return {
    diagnosis: node.why,
    changed: inWords([node.turned], deps.nowMs),
    evidence: pods.length > 0 ? [podsOnInWords(pods)] : [],
    fix: { refused: 'tapfix does not change nodes' },
  };
}
