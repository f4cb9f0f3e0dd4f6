import { arr, obj, type Raw, str } from '../../kube/raw.ts';
import type { PodTemplate } from '../../kube/views.ts';
import { sameValue } from '../../lib/hash.ts';
import { line } from '../../lib/plain.ts';
import { containerChanges } from './container.ts';
import { type Change, pairs, scalar, step } from './change.ts';

const mostNamed = 6;

/** Pure: what differs between two pod templates, in a few words each, what matters most first. */
export function templateChanges(before: PodTemplate, after: PodTemplate): string[] {
  const old = obj(before.spec);
  const now = obj(after.spec);
  const changes = [
    ...containers(old, now, 'containers', ''),
    ...containers(old, now, 'initContainers', 'init '),
    ...volumes(old, now),
    ...podFields(old, now),
    ...marks(before, after),
  ].sort((a, b) => a.rank - b.rank);
  const words = changes.map(({ text }) => line(text, 160));
  const more = words.length - mostNamed;
  return more > 0 ? [...words.slice(0, mostNamed), `and ${more} more`] : words;
}

function containers(old: Raw, now: Raw, field: string, prefix: string): Change[] {
  return pairs(arr(old[field]), arr(now[field])).flatMap(({ name, was, is }) => {
    if (!was) return [{ rank: 1, text: `${prefix}container ${name} added` }];
    if (!is) return [{ rank: 1, text: `${prefix}container ${name} removed` }];
    return containerChanges(`${prefix}${name}`, was, is);
  });
}

/** What a volume holds: a ConfigMap whose name ends in a hash of its content is how a config edit shows from outside. */
function sourceOf(volume: Raw): string {
  const [configMap, secret, claim] = [volume['configMap'], volume['secret'], volume['persistentVolumeClaim']].map(obj);
  if (str(configMap?.['name'])) return `ConfigMap ${str(configMap?.['name'])}`;
  if (str(secret?.['secretName'])) return `Secret ${str(secret?.['secretName'])}`;
  return str(claim?.['claimName']) ? `claim ${str(claim?.['claimName'])}` : '';
}

function volumes(old: Raw, now: Raw): Change[] {
  return pairs(arr(old['volumes']), arr(now['volumes'])).flatMap(({ name, was, is }) => {
    if (!was || !is) return [{ rank: 6, text: `volume ${name} ${was ? 'removed' : 'added'}` }];
    if (sameValue(was, is)) return [];
    const [from, to] = [sourceOf(was), sourceOf(is)];
    return [{ rank: 4, text: `volume ${name} ${from && to && from !== to ? step(from, to) : 'changed'}` }];
  });
}

/** Said otherwise, or the same twice. */
const elsewhere: ReadonlySet<string> = new Set(['containers', 'initContainers', 'volumes', 'serviceAccount']);

function podFields(old: Raw, now: Raw): Change[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !elsewhere.has(name));
  return names
    .filter((name) => !sameValue(old[name], now[name]))
    .map((name) => ({ rank: 7, text: `${name} ${scalar(old[name], now[name]) ?? 'changed'}` }));
}

const restartedAt = 'kubectl.kubernetes.io/restartedAt';

function marks(before: PodTemplate, after: PodTemplate): Change[] {
  const differing = (kind: 'labels' | 'annotations'): string[] => {
    const [old, now] = [obj(before.metadata?.[kind]), obj(after.metadata?.[kind])];
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
    return names.filter((name) => name !== 'pod-template-hash' && old[name] !== now[name]);
  };
  const annotation = (name: string): string =>
    name === restartedAt ? 'restarted by hand' : `annotation ${name} changed`;
  return [
    ...differing('annotations').map((name) => ({ rank: name === restartedAt ? 5 : 8, text: annotation(name) })),
    ...differing('labels').map((name) => ({ rank: 8, text: `label ${name} changed` })),
  ];
}
