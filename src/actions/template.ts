import { restartedAt } from '../kube/template-secrets.ts';
import type { PodTemplate } from '../kube/views.ts';

type Keys = Record<string, string> | undefined;

const generated = 'pod-template-hash';

/** The older revision wins where both have a key. Keys that only the current one has (injectors, restarts) stay. */
function mergeKeys(older: Keys, current: Keys): Keys {
  if (!older && !current) return undefined;
  return { ...current, ...older };
}

function without(keys: Keys, key: string): Keys {
  if (!keys) return undefined;
  const { [key]: _, ...rest } = keys;
  return rest;
}

/** The template that puts an older revision back. The pod spec is the older one as a whole. */
export function mergeTemplate(older: PodTemplate, current: PodTemplate): PodTemplate {
  const labels = without(mergeKeys(older.metadata?.labels, current.metadata?.labels), generated);
  const annotations = mergeKeys(older.metadata?.annotations, current.metadata?.annotations);
  return {
    ...older,
    metadata: { ...older.metadata, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

/** The parts by which two templates differ: spec, labels and annotations. */
export const essence = ({ metadata, spec }: PodTemplate): unknown => ({
  labels: without(metadata?.labels, generated) ?? {},
  annotations: metadata?.annotations ?? {},
  spec: spec ?? {},
});

/** The same without the time of a restart: pods of both would run exactly the same. */
export const withoutRestart = ({ metadata, spec }: PodTemplate): unknown =>
  essence({
    metadata: { ...metadata, annotations: without(metadata?.annotations, restartedAt) ?? {} },
    ...(spec && { spec }),
  });
