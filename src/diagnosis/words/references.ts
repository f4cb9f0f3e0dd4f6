import { arr, obj, type Raw, str } from '../../kube/raw.ts';
import type { PodTemplate } from '../../kube/views.ts';

/** An object that a container or a volume refers to, and that does not exist. */
export interface Missing {
  kind: 'ConfigMap' | 'Secret';
  /** Empty if the message does not name it; then its volume is known. */
  name: string;
  key?: string;
  volume?: string;
}

const kinds = { configmap: 'ConfigMap', config: 'ConfigMap', secret: 'Secret' } as const;
const kindOf = (word: string): Missing['kind'] => kinds[word.toLowerCase() as keyof typeof kinds];

/** Pure. Everything that a kubelet reports as missing: one volume may have several sources. */
export function missingIn(message: string): Missing[] {
  const volume = /for volume "([^"]+)"/.exec(message)?.[1];
  const at = volume === undefined ? {} : { volume };
  const whole = [...message.matchAll(/\b(configmap|secret) "([^"]+)" not found/g)].map(([, kind, name]) => ({
    kind: kindOf(kind!),
    name: name!,
    ...at,
  }));
  const keys = [...message.matchAll(/couldn't find key (\S+) in (ConfigMap|Secret) [^/\s]+\/([^\s,\]]+)/g)].map(
    ([, key, kind, name]) => ({ kind: kindOf(kind!), name: name!, key: key!, ...at }),
  );
  const inVolume = [...message.matchAll(/references non-existent (config|secret) key: ([^\s,\]]+)/g)].map(
    ([, kind, key]) => ({ kind: kindOf(kind!), name: '', key: key!, ...at }),
  );
  return [...whole, ...keys, ...inVolume];
}

/** "ConfigMap web-config does not exist", "Secret db has no key password" */
export function missingInWords({ kind, name, key, volume }: Missing): string {
  const what = name ? `${kind} ${name}` : `the ${kind} of volume ${volume ?? '?'}`;
  return key === undefined ? `${what} does not exist` : `${what} has no key ${key}`;
}

/** One object that a pod cannot start without. */
interface Reference {
  kind: Missing['kind'];
  name: string;
  key?: string;
  volume?: string;
}

const isNeeded = (source: Raw): boolean =>
  source['optional'] !== true && str(source['name'] ?? source['secretName']) !== '';

/** Pure. The ConfigMaps and Secrets, and their keys, that pods of this template need. Optional ones are not needed. */
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
