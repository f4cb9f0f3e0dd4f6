import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../../../src/kube/api.ts';

/** What a real cluster wrote about thirteen kinds of trouble at once. */
export const recorded = <T extends KubeObject>(file: 'node-events' | 'node-pods' | 'node-workloads' | 'events'): T[] =>
  (
    JSON.parse(readFileSync(new URL(`../../../fixtures/recorded/${file}.json`, import.meta.url), 'utf8')) as {
      items: T[];
    }
  ).items;

/** Generated names, uids, hosts, counts and images differ from run to run; everything else is compared word by word. */
export const pattern = (text: string): string =>
  text
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
    .replaceAll(/\b[a-z]+(-[a-z]+)*-([bcdf456789]{6,10})-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, '<pod>')
    .replaceAll(/\b[a-z]+(-[a-z]+)*-\d{8}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, '<pod>')
    .replaceAll(/\bnode-exporter-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, '<pod>')
    .replaceAll(/\b[a-z]+(-[a-z]+)*-[bcdf456789]{6,10}\b/g, '<set>')
    .replaceAll(/\bnightly-\d{8}\b/g, '<job>')
    .replaceAll(/\b(real|node)-\d\b/g, '<node>')
    .replaceAll(/"localhost\/[^"]*"/g, '"<image>"')
    .replaceAll(/(failed to resolve image: ).*/g, '$1<why>')
    .replaceAll(/(?<![a-z0-9])(shop|free|locked|default)\b/g, '<namespace>')
    .replaceAll('<namespace>/probe', '<namespace>/<pod>')
    .replaceAll(/back-off (\d+m)?\d+s/g, 'back-off <time>')
    .replaceAll(/from \d+ to \d+/g, 'from <n> to <n>')
    .replaceAll(/(requests\.memory)=\w+/g, '$1=<amount>');

/** Kept as they are: these words mean something. */
const literal: ReadonlySet<string> = new Set(['type', 'status', 'reason', 'phase', 'ready', 'started', 'exitCode', 'qosClass', 'component']); // prettier-ignore
/** Not of kubelet or the controllers, or null, which is the same as missing. */
const leftOut: ReadonlySet<string> = new Set(['volumeMounts', 'managedFields', 'lastProbeTime']);

/** The keys at every depth, the words that mean something, and what kind of value everything else is. */
export function shape(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return [...value].sort(byName).map((item) => shape(item));
  if (value && typeof value === 'object') {
    const entries = Object.entries(value).filter(([name, inner]) => inner !== null && !leftOut.has(name));
    return Object.fromEntries(entries.sort().map(([name, inner]) => [name, shape(inner, name)]));
  }
  if (literal.has(key)) return value;
  return key === 'message' ? pattern(String(value)) : typeof value;
}

const byName = (a: { type?: string; name?: string }, b: { type?: string; name?: string }): number =>
  (a?.type ?? a?.name ?? '') < (b?.type ?? b?.name ?? '') ? -1 : 1;
