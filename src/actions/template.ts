import type { PodTemplate } from '../kube/views.ts';

type Keys = Record<string, string> | undefined;

const generated = 'pod-template-hash';
/** The annotation that `kubectl rollout restart` writes. */
export const restartedAt = 'kubectl.kubernetes.io/restartedAt';

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

/** Literal values in `env` are often passwords. References to Secrets and ConfigMaps stay: they are only names. */
export function withoutEnvValues(template: PodTemplate): PodTemplate {
  return JSON.parse(JSON.stringify(template), (key, value: unknown) =>
    key === 'env' && Array.isArray(value) ? value.map(hideValue) : value,
  ) as PodTemplate;
}

const hideValue = (entry: { value?: unknown }): object => ('value' in entry ? { ...entry, value: '(hidden)' } : entry);
