import type { PodTemplate } from '../kube/views.ts';
import { line, plain } from '../lib/plain.ts';

type Leaves = Map<string, string>;

const linesShown = 20;
const valueLength = 120;
const none = '(none)';

/** Lists of named things (containers, env, volumes) are walked by name, so that moving one is no change. */
function collect(value: unknown, path: string, into: Leaves): Leaves {
  if (value === null || value === undefined) return into;
  if (typeof value !== 'object') return into.set(path, String(value));
  const named =
    Array.isArray(value) && value.every((item) => typeof (item as { name?: unknown } | null)?.name === 'string');
  for (const [key, inner] of Object.entries(value)) {
    const step = named ? (inner as { name: string }).name : key;
    const separator = path === '' || path.endsWith(' ') ? '' : '.';
    collect(named ? omitName(inner as object) : inner, `${path}${separator}${step}`, into);
  }
  return into;
}

const omitName = (item: object): object => Object.fromEntries(Object.entries(item).filter(([key]) => key !== 'name'));

function leavesOf({ metadata, spec = {} }: PodTemplate): Leaves {
  const leaves: Leaves = new Map();
  const { containers = [], initContainers = [], ...rest } = spec;
  for (const container of [...(initContainers as { name: string }[]), ...containers]) {
    leaves.set(`${container.name} `, 'container');
    collect(omitName(container), `${container.name} `, leaves);
  }
  collect(rest, 'pod ', leaves);
  collect(metadata?.labels, 'pod label ', leaves);
  collect(metadata?.annotations, 'pod annotation ', leaves);
  return leaves;
}

const secretive = /pass|secret|token|credential|key|auth/i;

/** A literal in `env` is often a password, an argument or the header of a probe sometimes, and this text goes to a chat. */
function isHidden(path: string, of: readonly Leaves[]): boolean {
  if (/^\S+ env\..*\.value$/.test(path) || /\bhttpHeaders\..*\.value$/.test(path)) return true;
  const [, list, index] = /^(\S+ (?:args|command)\.)(\d+)$/.exec(path) ?? [];
  if (list === undefined) return false;
  // "--password" and what it is are two arguments.
  return of.some((leaves) => [0, 1].some((back) => secretive.test(leaves.get(`${list}${Number(index) - back}`) ?? '')));
}

const shown = (value: string | undefined): string => (value === undefined ? none : line(value, valueLength) || '""');

function sentence(path: string, before: Leaves, after: Leaves): string {
  const name = line(path, 160);
  const [from, to] = [before.get(path), after.get(path)];
  if (!isHidden(path, [before, after])) return `${name}  ${shown(from)} → ${shown(to)}`;
  const what = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed';
  return `${name.replace(/\.value$/, '')}  ${what} (value not shown)`;
}

const isImage = (path: string): boolean => path.endsWith(' image');

/** For people: one line a change, images first, and never more than fits a phone. */
export function templateDiff(current: PodTemplate, next: PodTemplate): string {
  const before = leavesOf(current);
  const after = leavesOf(next);
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  paths.sort((a, b) => Number(isImage(b)) - Number(isImage(a)) || (a < b ? -1 : 1));
  const lines = paths.map((path) => sentence(path, before, after));
  const more = lines.length > linesShown ? [`and ${lines.length - linesShown} more changes`] : [];
  return plain([...lines.slice(0, linesShown), ...more].join('\n'), 8192);
}
