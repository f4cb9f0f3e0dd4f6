import { sameValue } from '../../lib/hash.ts';
import type { Schema } from '../../manifests/structural.ts';
import { isTree, type Tree } from './model.ts';
import { type Problem, problem, unsupported, wrong } from './refusal.ts';

/** Without the fields that the schema does not know, and without nulls that it does not allow. */
export function pruned(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => pruned(item, schema.items!)) : value;
  const { properties } = schema;
  if (!isTree(value) || !properties) return value;
  const kept = Object.entries(value).filter(([key, inner]) => {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return known !== undefined && (inner !== null || known['nullable'] === true);
  });
  return Object.fromEntries(kept.map(([key, inner]) => [key, pruned(inner, properties[key]!)]));
}

/** With what was left out, where the schema says what it is then. */
export function defaulted(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => defaulted(item, schema.items!)) : value;
  const { properties } = schema;
  if (!isTree(value) || !properties) return value;
  const filled: Tree = { ...value };
  for (const [key, inner] of Object.entries(properties)) {
    if (filled[key] === undefined && inner['default'] !== undefined) filled[key] = structuredClone(inner['default']);
    if (filled[key] !== undefined) filled[key] = defaulted(filled[key], inner);
  }
  return filled;
}

/** What the schema refuses. */
export function checked(value: unknown, schema: Schema, path: string): Problem[] {
  if (schema.type && !isOfType(value, schema.type)) {
    const is = typeName(value);
    const why = `${path} in body must be of type ${schema.type}: "${is}"`;
    return [problem(path, 'TypeInvalid', `"${is}": ${why}`)];
  }
  if (isTree(value)) return checkTree(value, schema, path);
  if (Array.isArray(value)) return checkList(value, schema, path);
  return checkScalar(value, schema, path);
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'integer'
    ? Number.isInteger(value)
    : type === typeName(value) || (type === 'number' && typeName(value) === 'integer');

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function checkTree(value: Tree, { properties = {}, required = [] }: Schema, path: string): Problem[] {
  const below = (key: string): string => (path ? `${path}.${key}` : key);
  const missing = required.filter((key) => value[key] === undefined).map((key) => problem(below(key), 'Required'));
  const inside = Object.entries(properties)
    .filter(([key]) => value[key] !== undefined)
    .flatMap(([key, inner]) => checked(value[key], inner, below(key)));
  return [...missing, ...inside];
}

function checkList(value: unknown[], schema: Schema, path: string): Problem[] {
  const { items, maxItems } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] as string[] | undefined;
  const keyOf = (item: unknown): unknown => keys && isTree(item) && keys.map((key) => item[key]);
  const twice = keys
    ? value.findIndex((item, i) => value.findIndex((other) => sameValue(keyOf(other), keyOf(item))) < i)
    : -1;
  return [
    ...(typeof maxItems === 'number' && value.length > maxItems
      ? [problem(path, 'TooMany', `${value.length}: must have at most ${maxItems} items`)]
      : []),
    ...(twice === -1 ? [] : [problem(`${path}[${twice}]`, 'Duplicate', JSON.stringify(keyOf(value[twice])))]),
    ...(items ? value.flatMap((item, i) => checked(item, items, `${path}[${i}]`)) : []),
  ];
}

function checkScalar(value: unknown, schema: Schema, path: string): Problem[] {
  const limits = schema as {
    minimum?: number;
    maximum?: number;
    minLength?: number;
    maxLength?: number;
    enum?: unknown[];
  };
  const problems: Problem[] = [];
  const bad = (why: string): void => void problems.push(wrong(path, value, `${path} in body ${why}`));
  if (limits.enum && !limits.enum.includes(value)) problems.push(unsupported(path, value, limits.enum.map(String)));
  if (typeof value === 'number') {
    if (value < (limits.minimum ?? -Infinity)) bad(`should be greater than or equal to ${limits.minimum}`);
    if (value > (limits.maximum ?? Infinity)) bad(`should be less than or equal to ${limits.maximum}`);
  }
  if (typeof value !== 'string') return problems;
  const length = [...value].length;
  if (length > (limits.maxLength ?? Infinity))
    problems.push(problem(path, 'TooLong', `may not be more than ${limits.maxLength} bytes`));
  if (length < (limits.minLength ?? 0)) bad(`should be at least ${limits.minLength} chars long`);
  for (const pattern of patternsOf(schema)) if (!new RegExp(pattern).test(value)) bad(`should match '${pattern}'`);
  if (schema['format'] === 'date-time' && !isTime(value)) bad(`must be of type date-time: "${value}"`);
  return problems;
}

const patternsOf = ({ pattern, allOf = [] }: Schema): string[] =>
  [pattern, ...(allOf as Schema[]).map((one) => one['pattern'])].filter((one) => typeof one === 'string');

/** RFC 3339. */
const isTime = (value: string): boolean =>
  /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value) &&
  !Number.isNaN(Date.parse(value));
