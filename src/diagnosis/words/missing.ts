/** What a container or a volume refers to, and does not find. */
export interface Missing {
  kind: 'ConfigMap' | 'Secret';
  /** Empty when the message does not say; its volume is known then. */
  name: string;
  key?: string;
  volume?: string;
}

const kinds = { configmap: 'ConfigMap', config: 'ConfigMap', secret: 'Secret' } as const;
const kindOf = (word: string): Missing['kind'] => kinds[word.toLowerCase() as keyof typeof kinds];

/** Pure. All that a kubelet says is missing: one volume may be made of several things. */
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
