import type { z } from 'zod';
import { scrub } from '../lib/log.ts';
import { didYouMean } from '../lib/text.ts';

export type Path = readonly PropertyKey[];

/** One mistake in the file, for the person who made it. */
export interface Problem {
  /** `approval.approvers[1].telegram`; empty for the file as a whole. */
  path: string;
  line: number;
  message: string;
  hint: string;
}

/** A mistake before it is known where in the file it is. */
export interface Finding {
  path: Path;
  message: string;
  hint: string;
}

export function problemAt(line: number, { path, message, hint }: Finding): Problem {
  return { path: scrub(pathText(path)), line, message: scrub(message), hint: scrub(hint) };
}

export function describeProblem(file: string, { path, line, message, hint }: Problem): string {
  return `${file}:${line} ${path ? `${path}: ` : ''}${message} (${hint})`;
}

export function pathText(path: Path): string {
  return path
    .map((step) => stepText(step))
    .join('')
    .replace(/^\./, '');
}

function stepText(step: PropertyKey): string {
  if (typeof step === 'number') return `[${step}]`;
  const key = String(step).slice(0, 80);
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Zod's issue as findings, worded to follow the path. */
export function findingsIn(issue: z.core.$ZodIssue, schema: AnySchema): Finding[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'is not a known key',
      hint: known.length > 0 ? didYouMean(key, known) : 'it takes no keys',
    }));
  }
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined) return [{ path, message: 'is missing', hint: missingHint(path) }];
    const list = issue.expected === 'array';
    return [{ path, message: list ? 'must be a list' : 'must be a group of keys', hint: list ? listHint : groupHint }];
  }
  const hint: unknown = issue.code === 'custom' ? issue.params?.hint : undefined;
  return [{ path, message: issue.message, hint: typeof hint === 'string' ? hint : exampleHint }];
}

export const exampleHint = 'see config.example.yaml';
/** Only lists of namespaces get here, because every other missing value brings its own hint. */
const missingHint = (path: Path): string => `such as ${String(path.at(-1))}: ["*"]`;
const listHint = '[a, b], or one "- a" per line';
const groupHint = 'indented "key: value" lines below it';

/** The keys that the schema knows at a path of the file. */
export function keysAt(schema: AnySchema, path: Path): string[] {
  const def = schema.def as SchemaDef;
  const inner = def.innerType ?? (def.in?.def.type === 'transform' ? def.out : def.in);
  if (inner) return keysAt(inner, path);
  const [step, ...rest] = path;
  if (step === undefined) return Object.keys(def.shape ?? {});
  const next = def.shape?.[String(step)] ?? def.element ?? def.valueType;
  return next ? keysAt(next, rest) : [];
}

interface AnySchema {
  def: { type: string };
}

/** The parts of zod's schemas that lead to the next schema. */
interface SchemaDef {
  type: string;
  shape?: Record<string, AnySchema>;
  element?: AnySchema;
  valueType?: AnySchema;
  innerType?: AnySchema;
  in?: AnySchema;
  out?: AnySchema;
}
