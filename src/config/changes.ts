import { cut } from '../lib/cut.ts';
import { sameValue } from '../lib/hash.ts';
import { scrub } from '../lib/log.ts';
import { humanConfig } from './human.ts';
import { pathText, type Path } from './problem.ts';
import type { Config } from './schema.ts';

/** One field that is not what it was, as the file would write it. */
export interface FieldChange {
  field: string;
  from: string;
  to: string;
}

const longestValue = 200;
/** Nobody reads on after these. */
const mostChanges = 50;
/** Whoever knows it can ping in our name. */
const secretFields: readonly string[] = ['heartbeat.url'];

/** Pure. What changed, field by field, defaults included. */
export function changesBetween(before: Config, now: Config): FieldChange[] {
  return changesIn(humanConfig(before), humanConfig(now), []).slice(0, mostChanges);
}

function changesIn(before: unknown, now: unknown, path: Path): FieldChange[] {
  if (sameValue(before, now)) return [];
  const keys = isBranch(before) && isBranch(now) && Array.isArray(before) === Array.isArray(now);
  if (!keys) return [changeOf(path, before, now)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return names.flatMap((name) =>
    changesIn(before[name], now[name], [...path, Array.isArray(before) ? Number(name) : name]),
  );
}

const isBranch = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function changeOf(path: Path, before: unknown, now: unknown): FieldChange {
  const field = pathText(path);
  const words = (value: unknown): string => {
    if (value === undefined) return 'not set';
    if (secretFields.includes(field)) return value === '' ? '""' : '(not shown)';
    return cut(scrub(JSON.stringify(value)), longestValue);
  };
  return { field, from: words(before), to: words(now) };
}
