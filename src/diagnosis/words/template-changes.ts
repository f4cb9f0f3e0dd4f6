import { arr, obj, type Raw, str } from '../../kube/raw.ts';
import { legibleAt, type Position, restartedAt } from '../../kube/template-secrets.ts';
import type { PodTemplate } from '../../kube/views.ts';
import { sameValue } from '../../lib/hash.ts';
import { line } from '../../lib/text.ts';
import { imageStep } from './images.ts';
import { step } from '../../lib/text.ts';

/** One difference; the lower its rank, the more it matters. */
interface Change {
  rank: number;
  text: string;
}

const longestScalar = 60;

/**
 * "a → b" for two values at this position; undefined if they are not worth showing, may not be read, or differ only in
 * what may not be read.
 */
function scalar(at: Position, before: unknown, after: unknown): string | undefined {
  const [from, to] = [before, after].map((value) => {
    if (value === undefined) return '';
    return typeof value === 'object' ? undefined : legibleAt(at, value);
  });
  if (from === undefined || to === undefined || from === to) return undefined;
  return Math.max(from.length, to.length) <= longestScalar ? step(from, to) : undefined;
}

/**
 * Two lists of named things, matched by name, in the order of the newer one; `was` or `is` is missing if there is none.
 */
function pairs(before: readonly Raw[], after: readonly Raw[]): { name: string; was?: Raw; is?: Raw }[] {
  const old = new Map(before.map((item) => [str(item['name']), item]));
  const now = new Map(after.map((item) => [str(item['name']), item]));
  return [...new Set([...now.keys(), ...old.keys()])].map((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    return { name, ...(was && { was }), ...(is && { is }) };
  });
}

/**
 * Pure: the differences between two versions of one container. Values go to a chat, so a value that may be a secret is
 * only named.
 */
function containerChanges(name: string, was: Raw, is: Raw): Change[] {
  const changes = [
    ...image(was, is),
    ...amounts(was, is, 'limits', 'limit'),
    ...amounts(was, is, 'requests', 'request'),
    ...env(was, is),
    ...envFrom(was, is),
    ...['command', 'args'].flatMap((field) => freeText(field, was[field], is[field])),
    ...Object.entries(probes).flatMap(([field, said]) => probe(said, was[field], is[field])),
    ...others(was, is),
  ];
  return changes.map(({ rank, text }) => ({ rank, text: `${name} ${text}` }));
}

function image(was: Raw, is: Raw): Change[] {
  const [before, after] = [str(was['image']), str(is['image'])];
  return before === after ? [] : [{ rank: 0, text: `image ${imageStep(before, after)}` }];
}

/** "limit memory 256Mi → 64Mi" */
function amounts(was: Raw, is: Raw, field: 'limits' | 'requests', said: string): Change[] {
  const [old, now] = [obj(obj(was['resources'])[field]), obj(obj(is['resources'])[field])];
  const names = [...new Set([...Object.keys(now), ...Object.keys(old)])];
  return names
    .filter((name) => old[name] !== now[name])
    .map((name) => ({ rank: 2, text: `${said} ${name} ${step(String(old[name] ?? ''), String(now[name] ?? ''))}` }));
}

/** "env LOG_LEVEL changed": the value of a variable is not for a chat, whatever its name is. */
const env = (was: Raw, is: Raw): Change[] =>
  pairs(arr(was['env']), arr(is['env'])).flatMap(({ name, was: old, is: now }) => {
    if (sameValue(old, now)) return [];
    return [{ rank: 3, text: `env ${name} ${!old ? 'added' : !now ? 'removed' : 'changed'}` }];
  });

const envSourceOf = (source: Raw): string => {
  const [configMap, secret] = [str(obj(source['configMapRef'])['name']), str(obj(source['secretRef'])['name'])];
  return configMap ? `ConfigMap ${configMap}` : secret ? `Secret ${secret}` : '';
};

function envFrom(was: Raw, is: Raw): Change[] {
  const [old, now] = [was, is].map((container) => arr(container['envFrom']).map(envSourceOf).filter(Boolean));
  const gone = old!.filter((source) => !now!.includes(source));
  const came = now!.filter((source) => !old!.includes(source));
  if (gone.length === 1 && came.length === 1) return [{ rank: 4, text: `envFrom ${step(gone[0]!, came[0]!)}` }];
  return [
    ...came.map((source) => ({ rank: 4, text: `envFrom ${source} added` })),
    ...gone.map((source) => ({ rank: 4, text: `envFrom ${source} removed` })),
  ];
}

/** A command and its arguments are only named: a password is one of them as often as not. */
const freeText = (field: string, was: unknown, is: unknown): Change[] =>
  sameValue(was, is) ? [] : [{ rank: 3, text: `${field} changed` }];

const probes = {
  readinessProbe: 'readiness probe',
  livenessProbe: 'liveness probe',
  startupProbe: 'startup probe',
} as const;

const mostLeaves = 2;

/** "readiness probe path /healthz → /ready, periodSeconds 10 → 1" */
function probe(said: string, was: unknown, is: unknown): Change[] {
  if (sameValue(was, is)) return [];
  if (!was || !is) return [{ rank: 5, text: `${said} ${was ? 'removed' : 'added'}` }];
  const [old, now] = [leavesOf(obj(was)), leavesOf(obj(is))];
  const names = [...new Set([...now.keys(), ...old.keys()])].filter((name) => !sameValue(old.get(name), now.get(name)));
  const steps = names.map((name) => {
    const what = scalar(['httpGet', name], old.get(name), now.get(name));
    return what && `${name} ${what}`;
  });
  const canBeShown = steps.length <= mostLeaves && steps.every((one) => one !== undefined);
  return [{ rank: 5, text: `${said} ${canBeShown ? steps.join(', ') : 'changed'}` }];
}

/** periodSeconds, and the path and port that it asks. */
function leavesOf(probe: Raw): Map<string, unknown> {
  const own = Object.entries(probe).filter(([, value]) => typeof value !== 'object');
  const inner = Object.values(probe).flatMap((value) => Object.entries(obj(value)));
  return new Map([...own, ...inner]);
}

const said: ReadonlySet<string> = new Set([
  'name',
  'image',
  'resources',
  'env',
  'envFrom',
  'command',
  'args',
  ...Object.keys(probes),
]);

function others(was: Raw, is: Raw): Change[] {
  const names = [...new Set([...Object.keys(is), ...Object.keys(was)])].filter((name) => !said.has(name));
  return names.filter((name) => !sameValue(was[name], is[name])).map((name) => ({ rank: 7, text: `${name} changed` }));
}

/** A restart that changed nothing else. */
export const byHand = 'restarted by hand';

const mostNamed = 6;

/**
 * Pure: the differences between two pod templates, in a few words each, the most important first: those of the
 * containers that fail, if there are any.
 */
export function templateChanges(before: PodTemplate, after: PodTemplate, failing: readonly string[] = []): string[] {
  const old = obj(before.spec);
  const now = obj(after.spec);
  const changes = [
    ...containers(old, now, 'containers', '', failing),
    ...containers(old, now, 'initContainers', 'init ', failing),
    ...volumes(old, now),
    ...podFields(old, now),
    ...marks(before, after),
  ].sort((a, b) => a.rank - b.rank);
  const words = changes.map(({ text }) => line(text, 160));
  const more = words.length - mostNamed;
  return more > 0 ? [...words.slice(0, mostNamed), `and ${more} more`] : words;
}

/** Before all changes of containers that do not fail. */
const failingFirst = 10;

function containers(old: Raw, now: Raw, field: string, prefix: string, failing: readonly string[]): Change[] {
  return pairs(arr(old[field]), arr(now[field])).flatMap(({ name, was, is }) => {
    const first = failing.includes(name) ? failingFirst : 0;
    if (!was || !is) return [{ rank: 1 - first, text: `${prefix}container ${name} ${is ? 'added' : 'removed'}` }];
    return containerChanges(`${prefix}${name}`, was, is).map(({ rank, text }) => ({ rank: rank - first, text }));
  });
}

/** The content of a volume. A ConfigMap whose name ends in a hash of its content shows a config edit from outside. */
function volumeSourceOf(volume: Raw): string {
  const [configMap, secret, claim] = [volume['configMap'], volume['secret'], volume['persistentVolumeClaim']].map(obj);
  if (str(configMap?.['name'])) return `ConfigMap ${str(configMap?.['name'])}`;
  if (str(secret?.['secretName'])) return `Secret ${str(secret?.['secretName'])}`;
  return str(claim?.['claimName']) ? `claim ${str(claim?.['claimName'])}` : '';
}

function volumes(old: Raw, now: Raw): Change[] {
  return pairs(arr(old['volumes']), arr(now['volumes'])).flatMap(({ name, was, is }) => {
    if (!was || !is) return [{ rank: 6, text: `volume ${name} ${was ? 'removed' : 'added'}` }];
    if (sameValue(was, is)) return [];
    const [from, to] = [volumeSourceOf(was), volumeSourceOf(is)];
    return [{ rank: 4, text: `volume ${name} ${from && to && from !== to ? step(from, to) : 'changed'}` }];
  });
}

/** Reported elsewhere, or a duplicate of another field. */
const elsewhere: ReadonlySet<string> = new Set(['containers', 'initContainers', 'volumes', 'serviceAccount']);

function podFields(old: Raw, now: Raw): Change[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !elsewhere.has(name));
  return names
    .filter((name) => !sameValue(old[name], now[name]))
    .map((name) => ({ rank: 7, text: `${name} ${scalar(['spec', name], old[name], now[name]) ?? 'changed'}` }));
}

function marks(before: PodTemplate, after: PodTemplate): Change[] {
  const differing = (kind: 'labels' | 'annotations'): string[] => {
    const [old, now] = [obj(before.metadata?.[kind]), obj(after.metadata?.[kind])];
    const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
    return names.filter((name) => name !== 'pod-template-hash' && old[name] !== now[name]);
  };
  const annotation = (name: string): string => (name === restartedAt ? byHand : `annotation ${name} changed`);
  return [
    ...differing('annotations').map((name) => ({ rank: name === restartedAt ? 5 : 8, text: annotation(name) })),
    ...differing('labels').map((name) => ({ rank: 8, text: `label ${name} changed` })),
  ];
}
