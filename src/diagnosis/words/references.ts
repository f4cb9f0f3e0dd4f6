import { arr, obj, type Raw, str } from '../../kube/raw.ts';
import type { PodTemplate } from '../../kube/views.ts';
import type { Missing } from './missing.ts';

/** One thing that a pod cannot start without. */
export interface Reference {
  kind: Missing['kind'];
  name: string;
  key?: string;
  volume?: string;
}

const isNeeded = (source: Raw): boolean =>
  source['optional'] !== true && str(source['name'] ?? source['secretName']) !== '';

/** Pure. The ConfigMaps and Secrets, and keys of them, that pods of this template need. What is optional is not needed. */
export function referencesIn({ spec }: PodTemplate): Reference[] {
  const pod = obj(spec);
  const containers = [...arr(pod['initContainers']), ...arr(pod['containers'])];
  return [...containers.flatMap(ofContainer), ...arr(pod['volumes']).flatMap(ofVolume)];
}

function ofContainer(container: Raw): Reference[] {
  const variables = arr(container['env']).flatMap((variable) => {
    const from = obj(variable['valueFrom']);
    return [...keyOf('ConfigMap', obj(from['configMapKeyRef'])), ...keyOf('Secret', obj(from['secretKeyRef']))];
  });
  const whole = arr(container['envFrom']).flatMap((from) => [
    ...wholeOf('ConfigMap', obj(from['configMapRef'])),
    ...wholeOf('Secret', obj(from['secretRef'])),
  ]);
  return [...variables, ...whole];
}

const keyOf = (kind: Reference['kind'], source: Raw): Reference[] =>
  isNeeded(source) ? [{ kind, name: str(source['name']), key: str(source['key']) }] : [];

const wholeOf = (kind: Reference['kind'], source: Raw): Reference[] =>
  isNeeded(source) ? [{ kind, name: str(source['name']) }] : [];

function ofVolume(volume: Raw): Reference[] {
  const sources = [volume, ...arr(obj(volume['projected'])['sources'])];
  const at = { volume: str(volume['name']) };
  return sources.flatMap((source) =>
    [...itemsOf('ConfigMap', obj(source['configMap'])), ...itemsOf('Secret', obj(source['secret']))].map((one) => ({
      ...one,
      ...at,
    })),
  );
}

function itemsOf(kind: Reference['kind'], source: Raw): Reference[] {
  if (!isNeeded(source)) return [];
  const name = str(source['name'] ?? source['secretName']);
  return [{ kind, name }, ...arr(source['items']).map((item) => ({ kind, name, key: str(item['key']) }))];
}

/** Whether pods of this template would miss it as well. */
export const needs = (template: PodTemplate, { kind, name, key, volume }: Missing): boolean =>
  referencesIn(template).some(
    (reference) =>
      reference.kind === kind &&
      (name === '' ? reference.volume === volume : reference.name === name) &&
      (key === undefined || reference.key === key),
  );
